/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the model's reports into rows. */
#include "analysis/tables/tables_internal.h"

/* ---- callbacks ---- */

static void add_instance(struct tables_scan *scan, enum tables_id table,
			 const struct model_instance *instance)
{
	struct tables_row *row = tables_row_new(scan, table);

	if (!row)
		return;
	row->id = instance->id;
	row->instance.instance = *instance;
	if (instance->message)
		row->instance.message = *instance->message;
	row->instance.coroutine = instance->coroutine ? instance->coroutine->id : 0;
	row->instance.was_awaiting = instance->coroutine && instance->coroutine->awaits;
	if (row->instance.was_awaiting)
		row->instance.await = instance->coroutine->await[instance->coroutine->awaits - 1];
}

static void on_instance(void *context, const struct model_instance *instance)
{
	add_instance(context, TABLE_callback_instances, instance);
}

static void on_unfinished(void *context, const struct model_instance *instance)
{
	add_instance(context, TABLE_unfinished_instances, instance);
}

/* ---- messages ---- */

static void add_message(struct tables_scan *scan, enum tables_id table,
			const struct model_message *message, enum outcome outcome)
{
	struct tables_row *row = tables_row_new(scan, table);

	if (!row)
		return;
	row->message.message = *message;
	row->message.outcome = outcome;
}

static void on_published(void *context, const struct model_message *message)
{
	add_message(context, TABLE_publications, message, OUTCOME_TAKEN);
}

static void on_taken(void *context, const struct model_message *message)
{
	add_message(context, TABLE_messages, message, OUTCOME_TAKEN);
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	add_message(context, TABLE_messages, message, (enum outcome)why);
}

static void on_cause(void *context, const struct model_cause *cause)
{
	struct tables_row *row = tables_row_new(context, TABLE_causal_links);

	if (!row)
		return;
	row->cause.cause = *cause;
	row->cause.message = *cause->message;
}

/* ---- reports that are rows as they are ---- */

#define REPORT(row_, member, type, function, table)                                 \
	static void on_##function(void *context, const struct model_##type *report) \
	{                                                                           \
		struct tables_row *row = tables_row_new(context, TABLE_##table);    \
                                                                                    \
		if (row)                                                            \
			row->row_.member = *report;                                 \
	}
TABLES_REPORTS
#undef REPORT

#define WANTED(scan, table, handler) (tables_wants(scan, TABLE_##table) ? (handler) : NULL)

/* A run has the number of its service call only if the model follows the calls. */
static void follow_calls(void *context, const struct model_call *call)
{
	(void)context;
	(void)call;
}

/* Listens only to reports that a requested table needs, so other reports cost no time. */
int tables_listen(struct tables_scan *scan, struct kymo_err *err)
{
	scan->listener = (struct model_listener){
		.instance = WANTED(scan, callback_instances, on_instance),
		.unfinished = WANTED(scan, unfinished_instances, on_unfinished),
		.published = WANTED(scan, publications, on_published),
		.taken = WANTED(scan, messages, on_taken),
		.dropped = WANTED(scan, messages, on_dropped),
#define REPORT(row, member, type, function, table) .function = WANTED(scan, table, on_##function),
		TABLES_REPORTS
#undef REPORT
			.cause = WANTED(scan, causal_links, on_cause),
	};
	if (!scan->listener.call && (scan->listener.instance || scan->listener.unfinished))
		scan->listener.call = follow_calls;
	if (model_listen(scan->model, &scan->listener, scan, err))
		return -1;
	return spans_listen(scan->spans, &tables_spans_listener, scan, err);
}
