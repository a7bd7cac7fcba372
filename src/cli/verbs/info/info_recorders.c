/* SPDX-License-Identifier: Apache-2.0 */
/* See info_recorders.h. */
#include "cli/verbs/info/info_recorders.h"
#include "base/array.h"
#include "live/watch.h"

#include <stdlib.h>
#include <string.h>

/* Which operand @path is below: the longest that it begins with. */
static unsigned operand_of(const struct cli_traces *traces, const char *path)
{
	unsigned best = 0;
	size_t most = 0;

	for (unsigned i = 0; i < traces->count; i++) {
		size_t length = strlen(traces->path[i]);

		if (length >= most && strncmp(path, traces->path[i], length) == 0) {
			most = length;
			best = i;
		}
	}
	return best;
}

static void add_counts(struct accounts *all, const struct accounts *one)
{
	all->ended = all->ended && one->present && one->ended;
	all->present |= one->present;
	all->recorded += one->recorded;
	all->dropped += one->dropped;
	all->unwritten += one->unwritten;
	all->totals.filtered += one->totals.filtered;
	all->chunks.removed += one->chunks.removed;
	all->chunks.removed_events += one->chunks.removed_events;
	all->removed.times += one->removed.times;
	all->removed.events += one->removed.events;
	all->root.pause_count += one->root.pause_count;
	all->root.paused_ns += one->root.paused_ns;
}

int recorders_read(struct recorders *recorders, const struct cli_traces *traces,
		   const struct kymo_ctf_reader *reader, char problem[512], struct kymo_err *err)
{
	char more[512];
	bool is_written;

	*problem = '\0';
	*recorders = (struct recorders){ .traces = traces, .all = { .kernel.source = "", .snapshot.cause = "" } };
	recorders->of = calloc(traces->count, sizeof(*recorders->of));
	recorders->end = calloc(traces->count, sizeof(*recorders->end));
	recorders->of_trace =
		calloc(kymo_ctf_trace_count(reader) + 1, sizeof(*recorders->of_trace));
	if (!recorders->of || !recorders->end || !recorders->of_trace)
		return err_no_memory(err);
	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++)
		recorders->of_trace[i] = operand_of(traces, kymo_ctf_trace(reader, i)->path);
	recorders->all.ended = true;
	for (unsigned i = 0; i < traces->count; i++) {
		is_written = watch_alive(reader, traces->path[i]);
		accounts_read(&recorders->of[i], traces->path[i], more);
		recorders->end[i] = accounts_end(&recorders->of[i], is_written);
		if (recorders->end[i] > recorders->end_of_all)
			recorders->end_of_all = recorders->end[i];
		add_counts(&recorders->all, &recorders->of[i]);
		if (*more && !*problem)
			memcpy(problem, more, sizeof(more));
	}
	if (traces->count == 1)
		recorders->all = recorders->of[0];
	return 0;
}

void recorders_free(struct recorders *recorders)
{
	for (unsigned i = 0; recorders->of && i < recorders->traces->count; i++)
		accounts_free(&recorders->of[i]);
	free(recorders->of);
	free(recorders->end);
	free(recorders->of_trace);
	*recorders = (struct recorders){ 0 };
}

static const struct accounts *accounts_of(const struct recorders *recorders, unsigned trace)
{
	return &recorders->of[recorders->of_trace[trace]];
}

const struct account_process *recorders_process(const struct recorders *recorders, unsigned trace,
						int32_t vpid)
{
	const struct accounts *a = accounts_of(recorders, trace);

	for (unsigned i = 0; i < a->process_count; i++)
		if (a->process[i].is.pid == (uint64_t)vpid)
			return &a->process[i];
	return NULL;
}

const struct accounts_thread *recorders_thread(const struct recorders *recorders, unsigned trace,
					       int32_t vpid, int32_t vtid)
{
	const struct accounts *a = accounts_of(recorders, trace);

	/* A pid that was used again has several entries. */
	for (unsigned i = 0; i < a->process_count; i++)
		for (unsigned k = 0;
		     k < a->process[i].thread_count && a->process[i].is.pid == (uint64_t)vpid; k++)
			if (a->process[i].thread[k].tid == vtid)
				return &a->process[i].thread[k];
	return NULL;
}

bool recorders_ended(const struct recorders *recorders, unsigned trace)
{
	return accounts_of(recorders, trace)->ended;
}

void recorders_show(const struct recorders *recorders, struct table *table)
{
	static const struct table_column columns[] = {
		{ "path", "TRACE" }, { "recorder", "RECORDER" }, { "recorded", "RECORDED" }, { "dropped", "DROPPED" },
		{ "unwritten", "NOT WRITTEN" }, { "rules", "RULES" }, { "snapshot", "SNAPSHOT" },
		{ "slept_ns", "SLEPT" }, { "clock_set_ns", "WALL CLOCK SET BY" },
	};

	if (recorders->traces->count < 2)
		return;
	table_section(table, "recorders", "Recorders", columns, COUNT_OF(columns));
	for (unsigned i = 0; i < recorders->traces->count; i++) {
		const struct accounts *a = &recorders->of[i];

		table_text(table, recorders->traces->path[i]);
		table_text(table,
			   recorders->end[i] ? accounts_end_text(recorders->end[i]) : "not kymo's");
		if (a->present && a->ended) {
			table_u64(table, a->recorded);
			table_u64(table, a->dropped);
			table_u64(table, a->unwritten);
		} else {
			for (unsigned k = 0; k < 3; k++)
				table_none(table);
		}
		table_text(table, a->rules);
		table_text(table, *a->snapshot_text ? a->snapshot_text : NULL);
		table_ns(table, a->clock_changes.slept_ns);
		table_ns(table, a->clock_changes.set_ns);
	}
}
