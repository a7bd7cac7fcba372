/* SPDX-License-Identifier: Apache-2.0 */
/*
 * New metadata of a trace that grows is compiled beside the old one and replaces it; texts of the
 * old one stay valid until the reader closes.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "ctf/read/reader_print.h"

static struct event_class *known_class(struct kymo_ctf_reader *reader, unsigned count,
				       unsigned trace, const struct kymo_ctf_event_class *like)
{
	for (unsigned i = 0; i < count; i++) {
		struct event_class *class = reader->class[i];

		if (class->pub.trace == trace && class->pub.stream_class == like->stream_class &&
		    class->pub.id == like->id)
			return class;
	}
	return NULL;
}

/* Whether all classes of @trace among the first @count are among those behind them. */
static bool holds_all(struct kymo_ctf_reader *reader, unsigned count, unsigned trace)
{
	unsigned found = 0, wanted = 0;

	for (unsigned i = 0; i < count; i++)
		wanted += reader->class[i]->pub.trace == trace;
	for (unsigned i = count; i < reader->class_count; i++) {
		const struct kymo_ctf_event_class *like = &reader->class[i]->pub;
		const struct event_class *known = known_class(reader, count, trace, like);

		found += known && !strcmp(known->pub.name, like->name);
	}
	return found == wanted;
}

/* Classes that are known get their new descriptions under their old index. */
static void number_again(struct kymo_ctf_reader *reader, unsigned count, unsigned trace)
{
	unsigned end = reader->class_count, kept = count;

	for (unsigned i = count; i < end; i++) {
		struct event_class *class = reader->class[i];
		struct event_class *known = known_class(reader, count, trace, &class->pub);

		class->pub.index = known ? known->pub.index : kept;
		if (known)
			plan_free(&known->plan);
		else
			kept++;
		reader->class[class->pub.index] = class;
	}
	reader->class_count = kept;
}

static bool has_streams_of(const struct kymo_ctf_reader *reader, unsigned trace,
			   const struct stream_class *class)
{
	for (unsigned i = 0; i < reader->stream_count; i++)
		if (reader->stream[i]->info.trace == trace && reader->stream[i]->class == class)
			return true;
	return false;
}

/* Whether @next, which was read later, describes what is known of @trace, and perhaps more. */
static bool goes_on(struct kymo_ctf_reader *reader, struct ctf_trace *trace, struct ctf_trace *next,
		    unsigned count)
{
	for (uint32_t i = 0; i < trace->class_count; i++)
		if (!trace_class(next, trace->class[i].id) &&
		    has_streams_of(reader, trace->index, &trace->class[i]))
			return false;
	return holds_all(reader, count, trace->index) &&
	       !memcmp(next->metadata->uuid, trace->metadata->uuid, sizeof trace->metadata->uuid);
}

static int make_slots(struct kymo_ctf_reader *reader, const struct ctf_trace *next,
		      struct kymo_err *err)
{
	size_t slots = SLOTS_SHARED + next->layout.slots_most;

	for (unsigned i = 0; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];
		uint64_t *bigger = s->info.trace == next->index
					   ? realloc(s->slot, slots * sizeof *bigger)
					   : s->slot;

		if (!bigger)
			return err_no_memory(err);
		s->slot = s->at.slot = bigger;
	}
	return 0;
}

static void replace_metadata(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
			     const struct ctf_trace *next, unsigned count)
{
	struct ctf_metadata *before = trace->metadata;

	reader->plans_stale = true;
	number_again(reader, count, trace->index);
	trace->metadata = next->metadata;
	trace->metadata->before = before;	/* texts of it were given away */
	trace->layout = next->layout;
	trace->packet_header = next->packet_header;
	trace->class = next->class;
	trace->class_count = next->class_count;
	for (uint32_t i = 0; i < trace->class_count; i++)
		trace->class[i].trace = trace;
	trace_describe(reader, trace);
	printer_forget(reader->printer);
	for (unsigned i = 0; i < reader->stream_count; i++) {
		struct ctf_stream *s = reader->stream[i];

		if (s->info.trace != trace->index)
			continue;
		s->class = s->class ? trace_class(trace, s->class->id) : NULL;
		s->event = NULL;
	}
}

int reader_grow_metadata(struct kymo_ctf_reader *reader, struct ctf_trace *trace,
			 struct kymo_err *err)
{
	struct ctf_trace next = { .index = trace->index, .path = trace->path,
		.metadata_path = trace->metadata_path };
	unsigned count = reader->class_count;
	uint64_t readable;
	struct stat st;
	int failed;

	if (stat(trace->metadata_path, &st))
		return 0;
	readable = file_readable(trace->metadata_path, 0, (uint64_t)st.st_size);
	if (!readable || readable == trace->metadata->bytes)
		return 0;
	if (tsdl_load_until(next.metadata_path, readable, &next.metadata, err))
		return -1;
	failed = trace_compile(reader, &next, err);
	if (!failed && !goes_on(reader, trace, &next, count))
		failed = err_set(err, KYMO_EXIT_INPUT, "%s: replaced by the metadata of another trace; open the "
				 "trace again", trace->metadata_path);
	if (!failed && !make_slots(reader, &next, err)) {
		replace_metadata(reader, trace, &next, count);
		return 1;
	}
	reader->class_count = count;
	tsdl_free(next.metadata);
	return -1;
}
