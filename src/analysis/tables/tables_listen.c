/* SPDX-License-Identifier: Apache-2.0 */
/* Turns the model's reports into rows. */
#include "analysis/tables/tables_internal.h"

/* ---- callbacks ---- */

static void add_instance(struct tables_scan *scan, enum tables_id table,
			 const struct model_instance *instance)
{
	struct tables_row *row = tables_row_new(scan, table, NULL);

	if (!row)
		return;
	row->id = instance->id;
	row->instance.instance = *instance;
	if (instance->message)
		row->instance.message = *instance->message;
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
	struct tables_row *row = tables_row_new(scan, table, NULL);

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

static void on_publish_step(void *context, const struct model_publish_step *step)
{
	struct tables_row *row = tables_row_new(context, TABLE_publish_instances, NULL);

	if (row)
		row->publish.step = *step;
}

static void on_take_step(void *context, const struct model_take_step *step)
{
	struct tables_row *row = tables_row_new(context, TABLE_take_instances, NULL);

	if (row)
		row->take.step = *step;
}

static void on_cause(void *context, const struct model_cause *cause)
{
	struct tables_row *row = tables_row_new(context, TABLE_causal_links, NULL);

	if (!row)
		return;
	row->cause.cause = *cause;
	row->cause.message = *cause->message;
}

/* ---- services, lifecycle, executors, simulation ---- */

static void on_call(void *context, const struct model_call *call)
{
	struct tables_row *row = tables_row_new(context, TABLE_service_calls, NULL);

	if (row)
		row->call.call = *call;
}

static void on_transition(void *context, const struct model_transition *transition)
{
	struct tables_row *row = tables_row_new(context, TABLE_lifecycle_transitions, NULL);

	if (row)
		row->transition.transition = *transition;
}

static void on_state(void *context, const struct model_state *state)
{
	struct tables_row *row = tables_row_new(context, TABLE_lifecycle_states, NULL);

	if (row)
		row->state.state = *state;
}

static void on_executor(void *context, const struct model_executor_interval *interval)
{
	struct tables_row *row = tables_row_new(context, TABLE_executor_states, NULL);

	if (row)
		row->executor.interval = *interval;
}

static void on_sim_time(void *context, const struct model_sim_time *time)
{
	struct tables_row *row = tables_row_new(context, TABLE_sim_times, NULL);

	if (row)
		row->sim.time = *time;
}

/* ---- loss ---- */

static void on_loss(void *context, const struct model_loss *loss)
{
	struct tables_row *row = tables_row_new(context, TABLE_lost_events, NULL);

	if (row)
		row->loss.loss = *loss;
}

#define WANTED(scan, table, handler) (tables_wants(scan, TABLE_##table) ? (handler) : NULL)

/* Listens only to reports that a requested table needs, so other reports cost no time. */
int tables_listen(struct tables_scan *scan, struct kymo_err *err)
{
	scan->listener = (struct model_listener){
		.instance = WANTED(scan, callback_instances, on_instance),
		.unfinished = WANTED(scan, unfinished_instances, on_unfinished),
		.published = WANTED(scan, publications, on_published),
		.taken = WANTED(scan, messages, on_taken),
		.dropped = WANTED(scan, messages, on_dropped),
		.transition = WANTED(scan, lifecycle_transitions, on_transition),
		.loss = WANTED(scan, lost_events, on_loss),
		.publish_step = WANTED(scan, publish_instances, on_publish_step),
		.take_step = WANTED(scan, take_instances, on_take_step),
		.call = WANTED(scan, service_calls, on_call),
		.state = WANTED(scan, lifecycle_states, on_state),
		.executor = WANTED(scan, executor_states, on_executor),
		.cause = WANTED(scan, causal_links, on_cause),
		.sim_time = WANTED(scan, sim_times, on_sim_time),
	};
	if (model_listen(scan->model, &scan->listener, scan) ||
	    spans_listen(scan->spans, &tables_spans_listener, scan))
		return err_set(err, KYMO_EXIT_FAILED, "too many analyses listen to the model");
	return 0;
}
