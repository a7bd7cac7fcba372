/* SPDX-License-Identifier: Apache-2.0 */
/* Exports a ROS 2 trace to Perfetto: the run over the trace, and the facts around it. */
#include "export/perfetto_internal.h"

#include <stdlib.h>

#define PROGRESS_EVENTS (1u << 16)

/*
 * Perfetto knows one clock for all: CLOCK_MONOTONIC of the host that booted first, so that no time
 * of another host is negative in it.
 */
static int64_t clock_offset(const struct ctf_reader *reader)
{
	int64_t offset_ns = INT64_MAX;

	for (unsigned i = 0; i < ctf_trace_count(reader); i++)
		if (ctf_trace(reader, i)->clock_offset_ns < offset_ns)
			offset_ns = ctf_trace(reader, i)->clock_offset_ns;
	return offset_ns == INT64_MAX ? 0 : offset_ns;
}

static void write_head(struct exporter *exporter)
{
	const struct perfetto_options *options = exporter->options;
	char tracer[64];

	snprintf(tracer, sizeof(tracer), "kymo %s", options->version);
	pft_fact_text(exporter->pft, "exported_by", tracer);
	if (options->trace_name)
		pft_fact_text(exporter->pft, "trace", options->trace_name);
	for (unsigned i = 0; i < ctf_trace_count(exporter->reader); i++) {
		const struct ctf_trace_info *info = ctf_trace(exporter->reader, i);

		if (*info->hostname) {
			pft_fact_text(exporter->pft, "hostname", info->hostname);
			break;
		}
	}
}

static void write_tail(struct exporter *exporter)
{
	const struct perfetto_result *result = exporter->result;

	export_process_names(exporter);
	pft_fact_u64(exporter->pft, "events", result->events);
	pft_fact_u64(exporter->pft, "callbacks", result->callbacks);
	pft_fact_u64(exporter->pft, "unfinished_callbacks", result->unfinished);
	pft_fact_u64(exporter->pft, "lost_events", result->lost_events);
	pft_fact_u64(exporter->pft, "lost_packets", result->lost_packets);
}

static void first_event(struct exporter *exporter, const struct ctf_event *event)
{
	struct pft_clocks clocks = { .monotonic_ns = export_time(exporter, event->ns),
				     .realtime_ns = event->ns };

	pft_clocks(exporter->pft, &clocks);
	/* What a viewer and a crash of the exporter need: before any event. */
	pft_flush(exporter->pft);
}

static int run(struct exporter *exporter, struct err *err)
{
	const struct perfetto_options *options = exporter->options;
	struct perfetto_result *result = exporter->result;
	struct ctf_event event;
	int more;

	while ((more = ctf_next(exporter->reader, &event, err)) > 0) {
		if (!exporter->now_ns)
			first_event(exporter, &event);
		exporter->now_ns = event.ns;
		result->events += event.bound != CTF_LOSS;
		if (model_event(exporter->model, &event) || exporter->out_of_memory)
			return err_set(err, EXIT_FAILED, "There is no memory left for the export.");
		if (result->events % PROGRESS_EVENTS)
			continue;
		if (pft_failed(exporter->pft))
			return 0;	/* pft_close() tells */
		if (options->progress)
			options->progress(options->context, result->events);
	}
	if (more < 0)
		return -1;
	exporter->finishing = true;
	model_finish(exporter->model);
	export_publishes(exporter);
	if (exporter->out_of_memory)
		return err_set(err, EXIT_FAILED, "There is no memory left for the export.");
	return 0;
}

static void exporter_free(struct exporter *exporter)
{
	for (unsigned i = 0; i < BY_COUNT; i++)
		free(exporter->by[i].item);
	model_destroy(exporter->model);
}

int perfetto_export(struct ctf_reader *reader, const struct perfetto_options *options,
		    struct perfetto_result *result, struct err *err)
{
	struct exporter exporter = { .reader = reader, .options = options, .result = result,
				     .offset_ns = clock_offset(reader) };
	struct pft_totals totals;
	int status;

	*result = (struct perfetto_result){ 0 };
	if (model_create(&exporter.model, err))
		return -1;
	if (model_attach(exporter.model, reader, err) ||
	    pft_open(&exporter.pft, options->fd, options->level, err)) {
		exporter_free(&exporter);
		return -1;
	}
	exporter.flow_base = pft_identity(exporter.pft) << 40 | UINT64_C(1) << 63;
	export_words(&exporter);
	(void)model_listen(exporter.model, &export_listener, &exporter);	/* the first of four */
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
