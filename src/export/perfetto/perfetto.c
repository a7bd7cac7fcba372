/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a ROS 2 trace to Perfetto: the pass over the trace, and the facts at the beginning and
 * the end of the file. */
#include "export/perfetto/perfetto_internal.h"

#include "analysis/behaviour/behaviour.h"

#define PROGRESS_EVENTS (1u << 16)
#define CLOCK_FIT_NS 1000000000		/* a reading that differs by more is of another clock */

/*
 * Perfetto knows one clock for all: CLOCK_MONOTONIC of the host that booted first, so that no time
 * of another host is negative in it.
 */
int64_t perfetto_offset(const struct kymo_ctf_reader *reader)
{
	int64_t offset_ns = INT64_MAX;

	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++)
		if (kymo_ctf_trace(reader, i)->clock_offset_ns < offset_ns)
			offset_ns = kymo_ctf_trace(reader, i)->clock_offset_ns;
	return offset_ns == INT64_MAX ? 0 : offset_ns;
}

/* With a simulation's clock, times begin at its first time, and go on where it jumps back. */
static int64_t offset_of(const struct kymo_ctf_reader *reader,
			 const struct perfetto_options *options)
{
	const struct simclock_facts *facts =
		options->simulation ? simclock_facts(options->simulation) : NULL;

	if (facts)
		return simclock_elapsed(options->simulation, facts->first_ns) - facts->first_sim_ns;
	return options->offset_ns ? *options->offset_ns : perfetto_offset(reader);
}

static void write_head(struct exporter *exporter)
{
	const struct perfetto_options *options = exporter->options;
	char tracer[64], clock[128];

	snprintf(tracer, sizeof(tracer), "kymo %s", options->version);
	pft_fact_text(exporter->pft, "exported_by", tracer);
	if (options->trace_name)
		pft_fact_text(exporter->pft, "trace", options->trace_name);
	if (options->simulation)
		pft_fact_text(exporter->pft, "clock_of_simulation",
			      simclock_text(options->simulation, clock, sizeof(clock)));
	else
		pft_fact_u64(exporter->pft, "epoch_offset_ns", (uint64_t)exporter->offset_ns);
	for (unsigned i = 0; i < kymo_ctf_trace_count(exporter->reader); i++) {
		const struct kymo_ctf_trace_info *info = kymo_ctf_trace(exporter->reader, i);

		if (*info->hostname) {
			pft_fact_text(exporter->pft, "hostname", info->hostname);
			break;
		}
	}
}

/* Readings of another host, or of another boot, say nothing about this trace. */
static bool clocks_fit(const struct exporter *exporter)
{
	const struct pft_clocks *clock = exporter->options->clock;
	int64_t off_ns;

	if (!exporter->options->clocks)
		return false;
	off_ns = export_time(exporter, clock->realtime_ns) - clock->monotonic_ns;
	return off_ns > -CLOCK_FIT_NS && off_ns < CLOCK_FIT_NS;
}

static void first_event(struct exporter *exporter, const struct kymo_ctf_event *event)
{
	struct pft_clocks clocks = { .monotonic_ns = export_time(exporter, event->ns),
				     .realtime_ns = event->ns };

	exporter->first_ns = event->ns > exporter->options->begin_ns ? event->ns :
								       exporter->options->begin_ns;
	exporter->next_clock_ns = INT64_MAX;
	if (exporter->options->simulation)
		return;		/* no clock of the system */
	if (clocks_fit(exporter))
		exporter->next_clock_ns = 0;
	else
		pft_clocks(exporter->pft, &clocks);
}

/* Writes the recorder's clock readings up to @ns, each in its place. */
static void write_clocks(struct exporter *exporter, int64_t ns)
{
	const struct perfetto_options *options = exporter->options;

	while (exporter->clocks_written < options->clocks &&
	       (!exporter->clocks_written ||
		options->clock[exporter->clocks_written].monotonic_ns <= ns))
		pft_clocks(exporter->pft, &options->clock[exporter->clocks_written++]);
	exporter->next_clock_ns = exporter->clocks_written < options->clocks ?
		options->clock[exporter->clocks_written].monotonic_ns : INT64_MAX;
}

static void write_tail(struct exporter *exporter)
{
	struct perfetto_result *result = exporter->result;

	/* A loss at a process's very end has no place in the trace, but the recorder counted it. */
	if (result->lost_events < exporter->options->told_lost)
		result->lost_events = exporter->options->told_lost;
	if (exporter->clocks_written)
		write_clocks(exporter, INT64_MAX);	/* the last one is of the recording's end */
	export_process_names(exporter);
	pft_fact_u64(exporter->pft, "events", result->events);
	pft_fact_u64(exporter->pft, "callbacks", result->callbacks);
	pft_fact_u64(exporter->pft, "unfinished_callbacks", result->unfinished);
	pft_fact_u64(exporter->pft, "spans", result->spans);
	pft_fact_u64(exporter->pft, "unfinished_spans", result->unfinished_spans);
	pft_fact_u64(exporter->pft, "lost_events", result->lost_events);
	pft_fact_u64(exporter->pft, "lost_packets", result->lost_packets);
}

static int next_part(struct exporter *exporter, struct kymo_err *err)
{
	const struct perfetto_options *options = exporter->options;
	int fd = options->part(options->context, ++exporter->parts + 1, err);

	if (fd < 0)
		return -1;
	pft_part(exporter->pft, fd, export_time(exporter, exporter->now_ns));
	write_head(exporter);
	pft_fact_u64(exporter->pft, "part", exporter->parts + 1);
	return 0;
}

/* Return: 0; -1 with @err. */
static int read_event(struct exporter *exporter, const struct kymo_ctf_event *event,
		      struct kymo_err *err)
{
	const struct perfetto_options *options = exporter->options;
	struct perfetto_result *result = exporter->result;

	if (!exporter->now_ns)
		first_event(exporter, event);
	exporter->now_ns = event->ns;
	if (export_time(exporter, event->ns) >= exporter->next_clock_ns)
		write_clocks(exporter, export_time(exporter, event->ns));
	result->events += event->bound != KYMO_CTF_LOSS;
	if (spans_event(exporter->spans, event) || model_event(exporter->model, event) ||
	    exporter->out_of_memory)
		return err_no_memory(err);
	if (exporter->behaviour)
		(void)behaviour_event(exporter->behaviour, event);
	if (options->split && pft_part_bytes(exporter->pft) >= options->split)
		return next_part(exporter, err);
	return 0;
}

/* ---- a trace that grows ---- */

static struct stream_state *stream_state(struct exporter *exporter, uint32_t stream)
{
	return BY_INDEX(exporter, BY_READ, stream, struct stream_state);
}

/* Whether @event was already read before the reader began again. */
static bool is_again(struct exporter *exporter, const struct kymo_ctf_event *event)
{
	struct stream_state *stream = stream_state(exporter, event->stream);

	if (!stream)
		return false;
	if (stream->again) {
		stream->again--;
		return true;
	}
	stream->taken++;
	return false;
}

/*
 * A growing trace may declare new classes of events, which are bound only when the reader begins
 * again. It then returns all events once more. Each stream keeps its order, so the number of events
 * read so far says which ones to skip.
 */
static int bind_new(struct exporter *exporter, struct kymo_err *err)
{
	if (kymo_ctf_class_count(exporter->reader) == exporter->classes)
		return 0;
	exporter->classes = kymo_ctf_class_count(exporter->reader);
	for (uint32_t i = 0; i < exporter->by[BY_READ].count; i++) {
		struct stream_state *stream = stream_state(exporter, i);

		stream->again = stream->taken;
	}
	return spans_attach(exporter->spans, exporter->reader, err);
}

static int ask_for_more(struct exporter *exporter, struct kymo_err *err)
{
	const struct perfetto_options *options = exporter->options;
	int more;

	pft_flush(exporter->pft);
	if (pft_failed(exporter->pft))
		return 0;	/* pft_close() reports it */
	more = options->more(options->context, exporter->reader, err);
	return more > 0 && bind_new(exporter, err) ? -1 : more;
}

static int run(struct exporter *exporter, struct kymo_err *err)
{
	const struct perfetto_options *options = exporter->options;
	const struct perfetto_result *result = exporter->result;
	struct kymo_ctf_event event;
	int more;

	do {
		while ((more = kymo_ctf_next(exporter->reader, &event, err)) > 0) {
			if (options->more && is_again(exporter, &event))
				continue;
			if (read_event(exporter, &event, err))
				return -1;
			if (result->events % PROGRESS_EVENTS)
				continue;
			if (pft_failed(exporter->pft))
				return 0;	/* pft_close() reports it */
			if (options->progress)
				options->progress(options->context, result->events, event.clock_ns);
		}
		if (!more && options->more)
			more = ask_for_more(exporter, err);
	} while (more > 0);
	if (more < 0)
		return -1;
	exporter->finishing = true;
	if (exporter->behaviour)
		behaviour_finish(exporter->behaviour);
	spans_finish(exporter->spans);
	model_finish(exporter->model);
	export_publishes(exporter);
	export_counters_finish(exporter);
	if (exporter->out_of_memory)
		return err_no_memory(err);
	return export_kernel(exporter, err);
}

static void exporter_free(struct exporter *exporter)
{
	export_counters_free(exporter);
	export_goals_free(exporter);
	for (unsigned i = 0; i < BY_COUNT; i++)
		array_free(&exporter->by[i]);
	map_free(&exporter->counters);
	behaviour_destroy(exporter->behaviour);
	spans_destroy(exporter->spans);
	model_destroy(exporter->model);
}

static int attach_behaviour(struct exporter *exporter, struct kymo_err *err)
{
	const struct perfetto_options *options = exporter->options;

	if (!options->behaviours)
		return 0;
	if (behaviour_create(&exporter->behaviour, options->behaviours, exporter->model,
			     exporter->spans, export_behaviour, exporter, err))
		return -1;
	behaviour_window(exporter->behaviour, options->begin_ns, options->end_ns);
	return 0;
}

int perfetto_export(struct kymo_ctf_reader *reader, const struct perfetto_options *options,
		    struct perfetto_result *result, struct kymo_err *err)
{
	struct exporter exporter = { .reader = reader, .options = options, .result = result,
				     .offset_ns = offset_of(reader, options) };
	struct model_listener listener = export_listener;
	struct pft_totals totals;
	int status;

	*result = (struct perfetto_result){ 0 };
	if (model_create(&exporter.model, err))
		return -1;
	if (spans_create(&exporter.spans, exporter.model, err)) {
		exporter_free(&exporter);
		return -1;
	}
	if (!options->executors)
		listener.executor = NULL;
	if (model_listen(exporter.model, &listener, &exporter, err) ||
	    spans_listen(exporter.spans, &export_span_listener, &exporter, err) ||
	    attach_behaviour(&exporter, err) || spans_attach(exporter.spans, reader, err) ||
	    (options->chrome ? pft_open_chrome(&exporter.pft, options->fd, err)
			     : pft_open(&exporter.pft, options->fd, options->level, err))) {
		exporter_free(&exporter);
		return -1;
	}
	/* A file that is followed is written a little at a time; parts end by what was written. */
	if (!options->more && !options->split)
		pft_threads(exporter.pft);
	exporter.classes = kymo_ctf_class_count(reader);
	exporter.flow_base = pft_identity(exporter.pft) << 40 | UINT64_C(1) << 63;
	export_words(&exporter);
	write_head(&exporter);
	status = run(&exporter, err);
	if (!status)
		write_tail(&exporter);
	pft_flush(exporter.pft);
	pft_totals(exporter.pft, &totals);
	result->bytes = totals.bytes;
	if (pft_close(exporter.pft, status ? NULL : err))
		status = -1;
	exporter_free(&exporter);
	return status;
}
