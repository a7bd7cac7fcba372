/* SPDX-License-Identifier: Apache-2.0 */
/* The events and fields that the model needs from a reader, and their handlers. */
#include "analysis/model/model_internal.h"
#include "base/array.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * CARET records the init events and the write under its own provider: with the original fields,
 * followed by the true time.
 */
static const char *const providers[] = { "ros2", "ros2_caret" };
#define PROVIDERS (COUNT_OF(providers))

/* In the order in which doubt() and finish() are called. */
const struct model_part *const model_parts[MODEL_PARTS] = {
	&model_objects,   &model_callbacks, &model_groups, &model_links, &model_services,
	&model_lifecycle, &model_flow,      &model_intra,  &model_runs,  &model_executors,
	&model_caret,     &model_content,   &model_path,   &model_lost,  &model_actions,
	&model_code,      &model_awaits,
};

static handler handler_of(unsigned point)
{
	for (size_t i = 0; i < MODEL_PARTS; i++)
		if (model_parts[i]->handlers[point])
			return model_parts[i]->handlers[point];
	return NULL;
}

/* Events that are bound only if a listener needs them. */
static const unsigned for_whom[KYMO_POINTS_TABLE] = {
	[KYMO_POINT_rcl_take] = WANT_TAKE_STEPS,
	[KYMO_POINT_rclcpp_take] = WANT_TAKE_STEPS,
	[KYMO_POINT_request_begin] = WANT_CALLS,
	[KYMO_POINT_rmw_send_request] = WANT_CALLS,
	[KYMO_POINT_rmw_take_request] = WANT_CALLS,
	[KYMO_POINT_rmw_send_response] = WANT_CALLS,
	[KYMO_POINT_rmw_take_response] = WANT_CALLS,
	[KYMO_POINT_rclcpp_executor_get_next_ready] = WANT_EXECUTORS | WANT_GOALS,
	[KYMO_POINT_rclcpp_executor_wait_for_work] = WANT_EXECUTORS | WANT_GOALS,
	[KYMO_POINT_rclcpp_executor_execute] = WANT_EXECUTORS | WANT_GOALS,
	[KYMO_POINT_sim_time] = WANT_SIM_TIME,
	[KYMO_POINT_action_request_sent] = WANT_GOALS,
	[KYMO_POINT_action_request_taken] = WANT_GOALS,
	[KYMO_POINT_action_response_sent] = WANT_GOALS,
	[KYMO_POINT_action_response_taken] = WANT_GOALS,
	[KYMO_POINT_action_goal_state] = WANT_GOALS,
	[KYMO_POINT_action_feedback_sent] = WANT_GOALS,
	[KYMO_POINT_action_feedback_taken] = WANT_GOALS,
	[KYMO_POINT_gil_wait] = WANT_GIL,
};

bool model_bind_is_late(const struct model *model, unsigned wants)
{
	if (!model->reader || model->bind_all)
		return false;
	for (unsigned point = 0; point < KYMO_POINTS_TABLE; point++)
		if (for_whom[point] & wants && !(for_whom[point] & model->wants))
			return true;
	return false;
}

static bool has(const struct model *model, const char *event)
{
	unsigned i;

	for (i = 0; i < model->bind_count; i++)
		if (strcmp(model->bind[i].event, event) == 0)
			return true;
	return false;
}

/* The fields are bound only if a listener needs them, see model_bind_update(). */
static void add(struct model *model, const char *provider, unsigned point)
{
	struct kymo_ctf_bind *row = &model->bind[model->bind_count];
	char event[128];

	snprintf(event, sizeof(event), "%s:%s", provider, kymo_points[point].name);
	/* Of the variants of one event, the first in the table has all fields. */
	if (!handler_of(point) || has(model, event))
		return;
	row->event = model_keep(model, event, strlen(event));
	model->bound[model->bind_count].point = point;
	model->bound[model->bind_count].is_init = kymo_points[point].phase == KYMO_PHASE_INIT;
	model->bound[model->bind_count].counts = point != KYMO_POINT_sim_time;
	model->bind_count++;
}

static bool is_of_caret(const struct kymo_ctf_bind *row)
{
	return strncmp(row->event, providers[1], strlen(providers[1])) == 0;
}

/* Only the messages need this event: see model_only_runs(). */
static bool is_of_messages(unsigned point)
{
	static const struct model_part *const parts[] = {
		&model_flow,    &model_intra, &model_path,
		&model_content, &model_caret, &model_services, &model_actions,
	};

	for (size_t i = 0; i < COUNT_OF(parts); i++)
		if (parts[i]->handlers[point])
			return kymo_points[point].phase != KYMO_PHASE_INIT;
	return false;
}

void model_bind_update(struct model *model)
{
	for (unsigned i = 0; i < model->bind_count; i++) {
		struct bound_row *bound = &model->bound[i];
		const struct kymo_point *point = &kymo_points[bound->point];
		struct kymo_ctf_bind *row = &model->bind[i];
		unsigned field;

		if ((model->only_runs && is_of_messages(bound->point)) ||
		    (model->only_inits && !bound->is_init)) {
			row->event = "";
			continue;
		}
		if (!model->bind_all && for_whom[bound->point] &&
		    !(for_whom[bound->point] & model->wants))
			continue;
		bound->handle = handler_of(bound->point);
		for (field = 0; field < point->field_count && field < KYMO_CTF_BIND_FIELDS; field++)
			row->field[field] = point->field[field].name;
		if (bound->is_init && is_of_caret(row) && field < KYMO_CTF_BIND_FIELDS) {
			row->field[field] = "init_timestamp";
			bound->true_time = (uint8_t)field;
		}
	}
}

int model_bind_build(struct model *model)
{
	size_t rows = KYMO_POINTS_TABLE * (PROVIDERS + 1) + MODEL_BIND_ALSO_MAX;
	unsigned point, provider;

	model->bind = calloc(rows, sizeof(*model->bind));
	model->bound = calloc(rows, sizeof(*model->bound));
	if (!model->bind || !model->bound)
		return -ENOMEM;
	for (point = 0; point < KYMO_POINTS_TABLE; point++) {
		add(model, kymo_points[point].provider, point);
		for (provider = 0; provider < PROVIDERS; provider++)
			add(model, providers[provider], point);
	}
	model_bind_update(model);
	return model->out_of_memory ? -ENOMEM : 0;
}

const struct kymo_ctf_bind *model_bind(const struct model *model, unsigned *count)
{
	*count = model->bind_count + model->bind_also;
	return model->bind;
}

int model_bind_also(struct model *model, const struct kymo_ctf_bind *rows, unsigned count,
		    unsigned *first, struct kymo_err *err)
{
	if (count > MODEL_BIND_ALSO_MAX - model->bind_also)
		return err_set(err, KYMO_EXIT_FAILED, "too many events are bound for analyses");
	*first = model->bind_count + model->bind_also;
	memcpy(&model->bind[*first], rows, count * sizeof(*rows));
	model->bind_also += count;
	return 0;
}
