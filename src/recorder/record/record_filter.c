/* SPDX-License-Identifier: Apache-2.0 */
/* Requests about the filter of a recording. See record_requests.h. */
#include "recorder/record/record_requests.h"

#include <stdlib.h>
#include <string.h>

#include "base/json_get.h"
#include "recorder/control/control.h"
#include "recorder/drain/drained_process.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session.h"

/* bytes of rules, and as many of programs; escaped they are longer */
#define REPLY_ROOM (CONTROL_LINE_MAX / 4)

static void add_rules(struct json_object *reply, const struct filter_rules *rules)
{
	struct json_object *array = json_object_new_array();
	size_t used = 0;
	unsigned i;

	for (i = 0; i < rules->count; i++) {
		char text[FILTER_TEXT_MAX];

		used += strlen(filter_rule_text(&rules->rule[i], text)) + 3;
		if (used > REPLY_ROOM)
			break;
		json_object_array_add(array, json_object_new_string(text));
	}
	json_object_object_add(reply, "rules", array);
	if (i < rules->count)
		json_object_object_add(reply, "rules_more", json_object_new_int64(rules->count - i));
}

/* Programs with rules of their own, and programs that are not recorded. */
static void add_programs(struct json_object *reply, const struct session *session)
{
	struct json_object *array = json_object_new_array();
	const struct drained_process *process;
	size_t used = 0;

	for (unsigned i = 0; (process = session_process(session, i)); i++) {
		char *own = process->finished ? NULL : filter_own_rules(process->filter);
		struct json_object *object;

		if (process->finished || (!own && filter_wants_process(process->filter)))
			continue;
		used += (own ? strlen(own) : 0) + 128;
		if (used > REPLY_ROOM) {
			free(own);
			break;
		}
		object = json_object_new_object();
		json_object_object_add(object, "pid", json_object_new_int64(process->region.pid));
		json_object_object_add(object, "name", json_object_new_string(process->region.procname));
		json_object_object_add(object, "wanted", json_object_new_boolean(filter_wants_process(process->filter)));
		json_object_object_add(object, "rules", json_object_new_string(own ? own : ""));
		json_object_array_add(array, object);
		free(own);
	}
	json_object_object_add(reply, "programs", array);
}

/* The lists of CARET that hold for all processes. */
static void add_caret(struct json_object *reply, const struct filter *filter)
{
	for (unsigned i = 0; i < CARET_LISTS; i++) {
		const char *value = filter_caret_of(filter, (enum filter_caret_list)i);

		if (value)
			json_object_object_add(
				reply, filter_caret_variable((enum filter_caret_list)i),
				json_object_new_string_len(
					value, (int)strnlen(value, REPLY_ROOM / CARET_LISTS)));
	}
}

static void reply_state(struct session *session, struct control_call *call)
{
	struct json_object *reply = json_object_new_object();
	struct session_stats stats;

	session_stats(session, &stats);
	add_rules(reply, filter_rules_of(session_filter(session)));
	add_caret(reply, session_filter(session));
	add_programs(reply, session);
	json_object_object_add(reply, "recorded", json_object_new_uint64(stats.recorded));
	json_object_object_add(reply, "filtered", json_object_new_uint64(stats.filtered));
	json_object_object_add(reply, "left_out", json_object_new_int64(session_left_out(session)));
	control_reply(call, reply);
}

static int read_rules(struct json_object *request, struct filter_rules *rules, struct kymo_err *err)
{
	struct json_object *array = json_get(request, "rules");
	int rc = 0;

	if (array && !json_object_is_type(array, json_type_array))
		return err_set(err, KYMO_EXIT_USAGE, "\"rules\" must be a list of texts like \"topic !/rosout\"");
	for (size_t i = 0; array && rc == 0 && i < json_object_array_length(array); i++)
		rc = filter_rules_line(rules, json_object_get_string(json_object_array_get_idx(array, i)) ?: "", err);
	return rc;
}

static int set_caret(struct session *session, struct json_object *request, struct kymo_err *err)
{
	const char *value[CARET_LISTS];

	for (unsigned i = 0; i < CARET_LISTS; i++)
		value[i] = json_get_text(request, filter_caret_variable((enum filter_caret_list)i));
	return session_set_caret(session, value, err);
}

void record_filter(void *recorder, struct control_call *call, struct json_object *request)
{
	struct session *session = ((struct recorder *)recorder)->session;
	struct filter_rules rules = { 0 };
	const char *name = json_get_text(request, "do");
	struct kymo_err err;
	int rc = 0;

	name = name ? name : "";
	if (strcmp(name, "caret") == 0) {
		if (set_caret(session, request, &err) < 0)
			control_refuse(call, &err);
		else
			reply_state(session, call);
		return;
	}
	if (strcmp(name, "add") == 0 && !filter_rules_copy(&rules, filter_rules_of(session_filter(session))))
		rc = err_no_memory(&err);
	if (rc == 0 && (strcmp(name, "add") == 0 || strcmp(name, "set") == 0))
		rc = read_rules(request, &rules, &err);
	else if (rc == 0 && strcmp(name, "show") != 0 && strcmp(name, "clear") != 0)
		rc = err_set(&err, KYMO_EXIT_USAGE, "unknown action '%.32s'; a filter knows show, set, add, clear", name);
	if (rc == 0 && strcmp(name, "show") != 0)
		rc = session_set_rules(session, &rules, &err);
	filter_rules_free(&rules);
	if (rc < 0)
		control_refuse(call, &err);
	else
		reply_state(session, call);
}
