/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains and findings are of the whole system, and known only when the trace has been read. So
 * arrivals of chains are noted in a temporary file first: which of the paths are chains, and not a
 * part of one, is known at the end.
 */
#include "export/mcap/mcap_channels.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"
#include "base/array.h"
#include "summary/findings.h"
#include "summary/summary_collect.h"

#define SEGMENTS CHAINS_SEGMENTS

static const struct {
	const char *key, *text;
} segments[SEGMENTS] = {
	[CHAINS_RUN] = { "run_ms", "in callbacks" },
	[CHAINS_CACHED] = { "kept_ms", "kept until a later publication" },
	[CHAINS_PUBLISH] = { "publish_ms", "in publish calls" },
	[CHAINS_TRANSPORT] = { "transport_ms", "on the way" },
	[CHAINS_WAIT] = { "wait_ms", "waiting for other callbacks of the thread" },
	[CHAINS_TAKE] = { "take_ms", "from the take to the callback" },
	[CHAINS_AWAITED] = { "awaited_ms", "coroutines awaited something" },
	[CHAINS_RESUMED] = { "resumed_ms", "in callbacks after an await" },
};

/* An arrival in the temporary file. */
struct note {
	uint32_t path;
	int64_t begin_ns, total_ns, segment_ns[SEGMENTS];
};

static void note_arrival(void *context, const struct chains_path *path,
			 const struct chains_arrival *arrival)
{
	struct note note = { .path = path->index,
			     .begin_ns = arrival->begin_ns,
			     .total_ns = arrival->total_ns };

	for (unsigned i = 0; i < path->stats->parts; i++)
		note.segment_ns[path->stats->part[i].segment] += arrival->part_ns[i];
	(void)fwrite_unlocked(&note, sizeof(note), 1, context);
}

static unsigned add_schema(struct writer *writer)
{
	struct json_text *text = &writer->text;

	writer_begin(writer);
	json_text_string(text, "type", "object");
	json_text_string(text, "description", "An arrival at the end of a chain");
	json_text_open(text, "properties", '{');
	json_text_open(text, "latency_ms", '{');
	json_text_string(text, "type", "number");
	json_text_string(text, "description", "from its begin to its end");
	json_text_close(text, '}');
	for (unsigned i = 0; i < SEGMENTS; i++) {
		json_text_open(text, segments[i].key, '{');
		json_text_string(text, "type", "number");
		json_text_string(text, "description", segments[i].text);
		json_text_close(text, '}');
	}
	json_text_close(text, '}');
	json_text_close(text, '}');
	json_text_raw(text, "", 1);
	return text->failed ? 0 : mcap_schema(writer->file, "kymo.Arrival", text->text);
}

/* "/lidar timer 25 ms -> /scan" becomes ".../to/...". */
static void plain_arrows(char *name)
{
	char *arrow;

	while ((arrow = strstr(name, " -> ")) || (arrow = strstr(name, " ~> ")))
		memcpy(arrow, "/to/", 4);
}

static void put_notes(struct writer *writer, const struct chains *chains, FILE *notes)
{
	unsigned *channel = calloc(chains_path_count(chains) + 1, sizeof(*channel));
	const unsigned schema = add_schema(writer);
	char name[SERIES_NAME_MAX];
	struct note note;

	if (!channel || !schema)
		writer->failed = true;
	rewind(notes);
	while (!writer->failed && fread_unlocked(&note, sizeof(note), 1, notes) == 1) {
		const struct chains_path *path = chains_path(chains, note.path);

		if (!chains_is_chain(chains, path))
			continue;
		if (!channel[note.path]) {
			plain_arrows(chains_label(path, name, sizeof(name)));
			channel[note.path] = writer_channel(writer, schema, "/kymo/chain", name);
		}
		writer_begin(writer);
		writer_ms(writer, "latency_ms", note.total_ns);
		for (unsigned i = 0; i < SEGMENTS; i++)
			writer_ms(writer, segments[i].key, note.segment_ns[i]);
		writer_end(writer, channel[note.path], note.begin_ns, note.begin_ns);
	}
	free(channel);
}

static int read_chains(struct writer *writer, struct kymo_ctf_reader *reader, FILE *notes,
		       const struct mcap_options *options, struct kymo_err *err)
{
	struct pass_options pass =
		options->progress ? *options->progress : (struct pass_options){ 0 };
	struct why_callbacks_options unused;
	struct chains_options chains_options;
	struct passes passes = { 0 };
	struct chains *chains = NULL;
	struct model *model;
	int status;

	summary_options(reader, options->begin_ns, options->end_ns, &chains_options, &unused);
	chains_options.worst = 0;
	chains_options.hops = false;
	chains_options.arrived = note_arrival;
	chains_options.context = notes;
	pass.has_window = true;
	pass.begin_ns = options->begin_ns;
	pass.end_ns = options->end_ns;
	status = model_create(&model, err);
	if (!status) {
		pass_add(&passes, &model_pass, model);
		status = chains_create(&chains, model, &chains_options, err);
	}
	if (!status) {
		pass_add(&passes, &chains_pass, chains);
		status = pass_run(&passes, reader, &pass, err);
	}
	if (!status && (fflush(notes) || ferror(notes)))
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write a temporary file: %s", strerror(errno));
	if (!status)
		put_notes(writer, chains, notes);
	passes_free(&passes);
	return status;
}

int mcap_chains(struct writer *writer, struct tables *tables, const struct mcap_options *options,
		struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	FILE *notes = tmpfile();
	int status;

	if (!notes)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a temporary file: %s", strerror(errno));
	status = tables_reader(tables, &reader, err);
	if (!status) {
		status = read_chains(writer, reader, notes, options, err);
		kymo_ctf_close(reader);
	}
	(void)fclose(notes);
	return status;
}

/* ---- findings ---- */

#define LOG_SCHEMA \
	"{\"title\":\"foxglove.Log\",\"type\":\"object\",\"properties\":{" \
	"\"timestamp\":{\"type\":\"object\",\"properties\":{\"sec\":{\"type\":\"integer\"}," \
	"\"nsec\":{\"type\":\"integer\"}}},\"level\":{\"type\":\"integer\"},\"message\":{\"type\":\"string\"}," \
	"\"name\":{\"type\":\"string\"},\"file\":{\"type\":\"string\"},\"line\":{\"type\":\"integer\"}}}"
#define LOG_WARNING 3

static void put_finding(struct writer *writer, unsigned channel, const struct summary *summary,
			const struct summary_finding *finding)
{
	const int64_t at_ns = finding->instance ? finding->instance->begin_ns
			      : finding->at_ns	? finding->at_ns
						: summary->begin_ns;
	const int64_t seconds = at_ns / 1000000000;
	struct json_text *text = &writer->text;
	char sentence[1024];

	writer_begin(writer);
	json_text_open(text, "timestamp", '{');
	json_text_i64(text, "sec", seconds);
	json_text_i64(text, "nsec", at_ns - seconds * 1000000000);
	json_text_close(text, '}');
	json_text_i64(text, "level", LOG_WARNING);
	json_text_string(text, "message", summary_finding_text(summary, finding, sentence, sizeof(sentence)));
	json_text_string(text, "name", finding->entity ? finding->entity->name : "");
	json_text_string(text, "file", summary_finding_kind_name(finding->kind));
	json_text_i64(text, "line", 0);
	writer_end(writer, channel, at_ns, at_ns);
}

int mcap_findings(struct writer *writer, struct tables *tables, const struct mcap_options *options,
		  struct kymo_err *err)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct kymo_ctf_reader *reader;
	struct summary *summary = summary_new();
	unsigned channel, count;
	int status;

	if (!summary)
		return err_no_memory(err);
	status = tables_reader(tables, &reader, err);
	if (!status) {
		status = summary_of_trace(summary, reader, options->begin_ns, options->end_ns,
					  options->progress, err);
		kymo_ctf_close(reader);
	}
	if (!status) {
		count = summary_findings(summary, finding, COUNT_OF(finding));
		channel = count ? writer_channel(writer, mcap_schema(writer->file, "foxglove.Log", LOG_SCHEMA), "/kymo",
						 "findings") : 0;
		for (unsigned i = 0; i < count; i++)
			put_finding(writer, channel, summary, &finding[i]);
	}
	summary_free(summary);
	return status;
}
