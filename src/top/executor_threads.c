/* SPDX-License-Identifier: Apache-2.0 */
/* See executor_threads.h. */
#include "top/executor_threads.h"

#include "base/array.h"

static const struct table_column columns[] = {
	{ "thread", "Thread" },     { "tid", "Tid" },     { "rate_hz", "Hz" },
	{ "usual_ns", "Usually" },  { "worst_ns", "Worst" }, { "waited_ns", "Waited" },
	{ "busy", "Busy" },         { "count", NULL },    { "process", NULL },
	{ "pid", NULL },            { "executor", NULL },
};

static void cell_ns(struct table *table, int64_t ns)
{
	if (ns >= 0)
		table_ns(table, ns);
	else
		table_none(table);
}

static void put(struct table *table, const struct board_row *worker,
		const struct board_values *values)
{
	table_text(table, worker->name);
	table_i64(table, worker->tid);
	table_f64(table, values->rate_hz);
	cell_ns(table, values->usual_ns);
	cell_ns(table, values->worst_ns);
	cell_ns(table, values->wait_ns);
	table_f64(table, values->busy);
	table_u64(table, values->count);
	table_text(table, worker->process);
	table_i64(table, worker->pid);
	table_text(table, board_executor_of(worker)->what);
}

unsigned executor_threads(struct table *table, const struct board *board,
			  const struct board_row *executor)
{
	unsigned shown = 0;

	table_section(table, "executor_threads", executor ? "Its threads" : "Threads of executors",
		      columns, COUNT_OF(columns));
	for (unsigned i = 0; i < board_count(board, BOARD_WORKERS); i++) {
		const struct board_row *worker = board_row(board, BOARD_WORKERS, i);
		struct board_values values;

		if (executor && board_executor_of(worker) != executor)
			continue;
		board_values(board, worker, &values);
		if (!values.count && values.wait_ns < 0)
			continue;
		put(table, worker, &values);
		shown++;
	}
	return shown;
}
