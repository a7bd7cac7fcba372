/* SPDX-License-Identifier: Apache-2.0 */
/* What is wanted of a process: the process as a whole, its event classes, its objects. */
#include "recorder/filter/filter.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/filter/filter_internal.h"
#include "recorder/records/left_out_set.h"

#define FIRST_RULES 2u		/* generation; 0: of nothing */

static const struct filter_rules no_rules;

/* ---- of a session ---- */

struct filter *filter_create(const struct filter_regex *regex)
{
	struct filter *filter = calloc(1, sizeof *filter);

	if (filter) {
		filter->regex = regex;
		filter->generation = FIRST_RULES - 1;
	}
	return filter;
}

void filter_free(struct filter *filter)
{
	if (!filter)
		return;
	filter_rules_free(&filter->rules);
	filter_caret_free(filter->caret);
	free(filter);
}

bool filter_set(struct filter *filter, const struct filter_rules *rules)
{
	struct filter_rules copy;

	if (!filter_rules_copy(&copy, rules))
		return false;
	filter_rules_free(&filter->rules);
	filter->rules = copy;
	filter->generation++;
	return true;
}

bool filter_set_caret(struct filter *filter, const char *const value[CARET_LISTS],
		      void (*say)(void *context, const char *text), void *context)
{
	if (!filter->regex)
		return false;
	filter_caret_free(filter->caret);
	filter->caret = filter_caret_create(filter->regex, value, say, context);
	filter->generation++;
	return true;
}

const char *filter_caret_of(const struct filter *filter, enum filter_caret_list list)
{
	return filter && filter->caret ? filter_caret_value(filter->caret, list) : NULL;
}

const struct filter_rules *filter_rules_of(const struct filter *filter)
{
	return filter ? &filter->rules : &no_rules;
}

unsigned filter_changes(const struct filter *filter)
{
	return filter && filter->generation > FIRST_RULES ? filter->generation - FIRST_RULES : 0;
}

/* ---- of a process ---- */

static uint64_t *set_of(const struct filter_process *mine)
{
	return region_page(mine->process.region, KYMO_LEFT_OUT_PAGE,
			   KYMO_PROMISE_PAGE - KYMO_LEFT_OUT_PAGE);
}

static bool has_rules(const struct filter_process *mine, enum filter_kind kind)
{
	return mine->filter->rules.has[kind] || mine->own.has[kind];
}

/* A rule for processes may name the main thread, the program's file, or the process number. */
static bool want_process(const struct filter_process *mine)
{
	const struct region *region = mine->process.region;
	const struct filter_rules *both[] = { &mine->filter->rules, &mine->own };
	char number[16];
	bool wanted =
		!mine->caret || (filter_caret_wants_process(mine->caret, basename(region->exe)) &&
				 filter_caret_wants_process(mine->caret, region->procname));

	(void)snprintf(number, sizeof number, "%d", mine->process.host_pid ? mine->process.host_pid : (int)region->pid);
	for (unsigned i = 0; i < 2 && wanted; i++)
		wanted = filter_rules_want_any(
			both[i], FILTER_PROCESS,
			(const char *const[]){region->procname, basename(region->exe), number}, 3);
	return wanted;
}

/* "ros2:callback_start", "callback_start" */
static bool want_event(const struct filter_process *mine, const struct kymo_point *point)
{
	char full[2 * KYMO_DECLARED_TEXT_MAX + 2];

	(void)snprintf(full, sizeof full, "%s:%s", point->provider, point->name);
	return filter_want(mine, FILTER_CATEGORY, point->provider, NULL) &&
	       filter_want(mine, FILTER_EVENT, full, point->name);
}

/* Whether the table's event @id is about an object. */
static bool has_object(unsigned id)
{
	for (unsigned i = 0; id < KYMO_POINTS_TABLE && i < kymo_points[id].field_count; i++)
		if (kymo_points[id].field[i].kind == KYMO_KIND_PTR)
			return true;
	return false;
}

void filter_decide_events(struct filter_process *mine)
{
	const struct classes *classes = mine->process.classes;

	mine->declared = classes->count;
	for (unsigned id = 0; id < KYMO_POINTS_MAX; id++) {
		const struct kymo_point *point = classes_get(classes, id);

		mine->enable[id] = !point || point->phase != KYMO_PHASE_RUN || !mine->wanted ||
						   !want_event(mine, point)
					   ? KYMO_ENABLE_NO
				   : mine->looks_up && has_object(id) ? KYMO_ENABLE_LOOK_UP
								      : KYMO_ENABLE_YES;
	}
	/* rclcpp_publish is put on hold until one of the other two events says which publisher it
	 * belongs to. */
	if (mine->enable[KYMO_POINT_rclcpp_publish] &&
	    (!mine->enable[KYMO_POINT_rcl_publish] ||
	     !mine->enable[KYMO_POINT_rclcpp_intra_publish]))
		mine->enable[KYMO_POINT_rclcpp_publish] = KYMO_ENABLE_YES;
}

static void decide(struct filter_process *mine)
{
	mine->wanted = want_process(mine);
	mine->objects = has_rules(mine, FILTER_NODE) || has_rules(mine, FILTER_TOPIC) ||
			(mine->caret && filter_caret_objects(mine->caret)) ||
			(mine->filter->caret && filter_caret_objects(mine->filter->caret));
	mine->looks_up |= mine->objects;
	mine->events = has_rules(mine, FILTER_EVENT) || has_rules(mine, FILTER_CATEGORY);
	mine->generation = mine->filter->generation;
	filter_decide_events(mine);
}

struct filter_process *filter_join(struct filter *filter, const struct filter_subject *subject,
				   const struct sayer *sayer)
{
	struct filter_process *mine = calloc(1, sizeof *mine);

	if (!mine)
		return NULL;
	mine->enable = malloc(KYMO_POINTS_MAX);
	if (!mine->enable) {
		free(mine);
		return NULL;
	}
	mine->filter = filter;
	mine->process = *subject;
	filter_read_environment(mine, sayer);
	left_out_clear(set_of(mine));	/* another recorder's */
	decide(mine);
	return mine;
}

void filter_retire(struct filter_process *mine)
{
	map_free(&mine->object);
	map_free(&mine->name);
	pool_free(&mine->pool);
	mine->queue = mine->proposed = NULL;
	free(mine->enable);
	mine->enable = NULL;
}

void filter_forget(struct filter_process *mine)
{
	if (!mine)
		return;
	filter_retire(mine);
	filter_rules_free(&mine->own);
	filter_caret_free(mine->caret);
	free(mine);
}

char *filter_own_rules(const struct filter_process *mine)
{
	char *rules, *text = NULL;
	const char *value;
	size_t size = 0;
	FILE *out;

	if (!mine || (!mine->own.count && !mine->caret))
		return NULL;
	out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	rules = filter_rules_join(&mine->own);
	fputs(rules ? rules : "", out);
	free(rules);
	for (unsigned i = 0; mine->caret && i < CARET_LISTS; i++)
		if ((value = filter_caret_value(mine->caret, (enum filter_caret_list)i)))
			fprintf(out, "%s%s=%s", ftell(out) ? "; " : "", filter_caret_variable((enum filter_caret_list)i), value);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}

bool filter_wants_process(const struct filter_process *mine)
{
	return !mine || mine->wanted;
}

/*
 * Groups of events, in the order in which the traced process has to learn of them: for an event of
 * a later group it needs what those of earlier groups noted. See
 * src/inside/tracer/tracer_left_out.c.
 */
enum group { GROUP_MESSAGE, GROUP_OBJECT, GROUP_HELD };

static enum group group_of(unsigned id)
{
	if (id == KYMO_POINT_rclcpp_publish)
		return GROUP_HELD;
	return id < KYMO_POINTS_TABLE && kymo_points[id].field_count &&
			       kymo_points[id].field[0].kind == KYMO_KIND_PTR &&
			       strcmp(kymo_points[id].field[0].name, "message") == 0
		       ? GROUP_MESSAGE
		       : GROUP_OBJECT;
}

static void write_bytes(struct filter_process *mine, enum group group)
{
	uint8_t *byte = region_page(mine->process.region, KYMO_ENABLE_PAGE, 1);

	for (unsigned id = 0; id < KYMO_POINTS_MAX; id++) {
		const struct kymo_point *point = classes_get(mine->process.classes, id);

		if (point && point->phase == KYMO_PHASE_RUN && group_of(id) == group)
			__atomic_store_n(&byte[id], mine->enable[id], __ATOMIC_SEQ_CST);
	}
}

/*
 * The events that release rclcpp_publish must be looked up before rclcpp_publish is put on hold,
 * and it must no longer be put on hold before they are not looked up any more.
 */
void filter_enable(struct filter_process *mine)
{
	filter_decide_events(mine);
	if (mine->enable[KYMO_POINT_rclcpp_publish] != KYMO_ENABLE_LOOK_UP)
		write_bytes(mine, GROUP_HELD);
	write_bytes(mine, GROUP_MESSAGE);
	write_bytes(mine, GROUP_OBJECT);
	write_bytes(mine, GROUP_HELD);
}

/* ---- objects ---- */

bool filter_needs_facts(const struct filter_process *mine)
{
	return mine && mine->objects && mine->wanted;
}

bool filter_propose(struct filter_process *mine)
{
	struct filter_object *object, *next;
	uint64_t *set = set_of(mine);

	mine->proposed = NULL;
	for (object = mine->queue, mine->queue = NULL; object; object = next) {
		next = object->next_queued;
		object->queued = false;
		if (object->wanted) {
			left_out_withdraw(set, object->address);
		} else if (left_out_propose(set, object->address)) {
			object->proposed = object->made;
			object->queued = true;	/* in the other list */
			object->next_queued = mine->proposed;
			mine->proposed = object;
		}
	}
	return mine->proposed;
}

void filter_confirm(struct filter_process *mine, bool complete)
{
	struct filter_object *object, *next;
	uint64_t *set = set_of(mine);

	for (object = mine->proposed, mine->proposed = NULL; object; object = next) {
		next = object->next_queued;
		object->queued = false;
		if (object->wanted) {
			left_out_withdraw(set, object->address);
		} else if (complete && object->made == object->proposed) {
			left_out_confirm(set, object->address);
		} else {		/* the next round tries again */
			left_out_withdraw(set, object->address);
			filter_requeue(mine, object);
		}
	}
}

bool filter_update_rules(struct filter_process *mine)
{
	if (mine->generation == mine->filter->generation)
		return false;
	decide(mine);
	return true;
}

void filter_decide_objects(struct filter_process *mine)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&mine->object, &at)))
		filter_decide(mine, slot->value);
}

unsigned filter_left_out(const struct filter_process *mine)
{
	const struct map_slot *slot;
	unsigned count = 0;
	size_t at = 0;

	while (mine && (slot = map_next(&mine->object, &at)))
		count += !((const struct filter_object *)slot->value)->wanted;
	return count;
}
