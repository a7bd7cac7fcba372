/* SPDX-License-Identifier: Apache-2.0 */
/*
 * To which subscription, service, timer and node a callback belongs. Init events link objects; from
 * a callback the links lead to its node, and a trigger matches if its name matches one of the names
 * on that path:
 *
 *     callback ── symbol
 *        │ owner
 *        ├──▶ subscription object ──▶ subscription ── topic ──▶ node ── name
 *        ├──▶ service ── name ──▶ node
 *        └──▶ timer ──▶ node
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "recorder/trigger/trigger_internal.h"
#include "recorder/records/record_walk.h"
#include "base/array.h"
#include "base/text.h"

enum fact_kind {
	FACT_NONE,
	FACT_CALLBACK,
	FACT_OBJECT,
	FACT_SUBSCRIPTION,
	FACT_SERVICE,
	FACT_TIMER,
	FACT_NODE
};

#define FIELDS_READ	5	/* fields of the widest event below */
#define TEXT_MAX	1024
#define HOPS_MAX	4

/* Which field of an init event has which meaning; -1: none. */
static const struct trigger_rule {
	unsigned id;
	enum fact_kind kind;
	int8_t key;
	enum fact_kind owner_kind;
	int8_t owner, text, space;	/* space: the namespace before the text */
} rules[] = {
	{ KYMO_POINT_rcl_node_init, FACT_NODE, 0, FACT_NONE, -1, 2, 3 },
	{ KYMO_POINT_rcl_subscription_init, FACT_SUBSCRIPTION, 0, FACT_NODE, 1, 3, -1 },
	{ KYMO_POINT_rclcpp_subscription_init, FACT_OBJECT, 1, FACT_SUBSCRIPTION, 0, -1, -1 },
	{ KYMO_POINT_rclcpp_subscription_callback_added, FACT_CALLBACK, 1, FACT_OBJECT, 0, -1, -1 },
	{ KYMO_POINT_rcl_service_init, FACT_SERVICE, 0, FACT_NODE, 1, 3, -1 },
	{ KYMO_POINT_rclcpp_service_callback_added, FACT_CALLBACK, 1, FACT_SERVICE, 0, -1, -1 },
	{ KYMO_POINT_rclcpp_timer_callback_added, FACT_CALLBACK, 1, FACT_TIMER, 0, -1, -1 },
	{ KYMO_POINT_rclcpp_timer_link_node, FACT_TIMER, 0, FACT_NODE, 1, -1, -1 },
	{ KYMO_POINT_rcl_timer_init, FACT_TIMER, 0, FACT_NONE, -1, -1, -1 },
	{ KYMO_POINT_rclcpp_callback_register, FACT_CALLBACK, 0, FACT_NONE, -1, 1, -1 },
};

static const struct trigger_rule *rule_of(unsigned id)
{
	for (unsigned i = 0; i < COUNT_OF(rules); i++)
		if (rules[i].id == id)
			return &rules[i];
	return NULL;
}

/* The addresses of the first fields of a payload. Return: false: the payload is damaged. */
static bool find_fields(const struct kymo_point *point, const uint8_t *payload, size_t size,
			const uint8_t *field[FIELDS_READ])
{
	size_t used = 0;

	for (unsigned i = 0; i < point->field_count && i < FIELDS_READ; i++) {
		long length = walk_field(point->field[i].kind, payload + used, size - used);

		if (length < 0)
			return false;
		field[i] = payload + used;
		used += (size_t)length;
	}
	return true;
}

static uint64_t u64_at(const uint8_t *at)
{
	uint64_t value;

	memcpy(&value, at, sizeof value);
	return value;
}

static struct trigger_fact *fact_at(struct trigger_process *process, enum fact_kind kind,
				    uint64_t key)
{
	struct trigger_fact *fact = map_get(&process->facts, key, kind);

	if (fact || process->facts.count >= FACTS_MAX)
		return fact;
	fact = calloc(1, sizeof *fact);
	if (fact && map_put(&process->facts, key, kind, fact) < 0) {
		free(fact);
		fact = NULL;
	}
	return fact;
}

static char *read_text(const struct trigger_rule *rule, const uint8_t *const field[FIELDS_READ])
{
	const char *text =
		(const char *)field[rule->text]; /* ends with a NUL: walk_field() saw it */
	const char *space = rule->space < 0 ? "" : (const char *)field[rule->space];
	char *result;

	if (rule->space < 0)
		return strndup(text, TEXT_MAX);
	if (asprintf(&result, "%s%.*s%s%.*s", space[0] == '/' ? "" : "/", TEXT_MAX, space,
		     space[0] && space[strlen(space) - 1] != '/' ? "/" : "", TEXT_MAX, text) < 0)
		return NULL;
	return result;
}

void trigger_fact(struct trigger_process *process, unsigned id, const uint8_t *payload, size_t size)
{
	const struct trigger_rule *rule = process->wants_facts ? rule_of(id) : NULL;
	const uint8_t *field[FIELDS_READ];
	struct trigger_fact *fact;

	if (!rule && process->watch && id == KYMO_POINT_rcl_publisher_init &&
	    find_fields(&kymo_points[id], payload, size, field))
		watch_fact(process, id, field);
	if (!rule || !find_fields(&kymo_points[id], payload, size, field))
		return;
	fact = fact_at(process, rule->kind, u64_at(field[rule->key]));
	if (!fact)
		return;
	process->version++;
	if (rule->owner >= 0) {
		fact->owner = u64_at(field[rule->owner]);
		fact->owner_kind = (uint8_t)rule->owner_kind;
	}
	if (rule->text >= 0) {
		free(fact->text);
		fact->text = read_text(rule, field);
	}
	if (id == KYMO_POINT_rcl_timer_init)
		fact->period_ns = u64_at(field[1]);
	if (process->watch && id == KYMO_POINT_rcl_subscription_init)
		watch_fact(process, id, field);
}

/* The name of a node also matches without its namespace. */
static bool fits(const struct trigger *trigger, enum fact_kind kind, const char *text)
{
	return trigger_name_fits(trigger, text) ||
	       (kind == FACT_NODE && trigger_name_fits(trigger, strrchr(text, '/') + 1));
}

static uint32_t fitting_triggers(const struct trigger_process *process,
				 const struct trigger_fact *callback)
{
	const uint32_t wanted = triggers_of(process->triggers, TRIGGER_CALLBACK);
	const struct trigger_fact *fact = callback;
	enum fact_kind kind = FACT_CALLBACK;
	uint32_t mask = 0;

	for (unsigned hop = 0; fact && hop < HOPS_MAX; hop++) {
		for (unsigned i = 0; fact->text && i < process->triggers->count; i++)
			if (wanted & 1u << i && fits(&process->triggers->item[i], kind, fact->text))
				mask |= 1u << i;
		kind = fact->owner_kind;
		fact = kind ? map_get(&process->facts, fact->owner, kind) : NULL;
	}
	return mask;
}

uint32_t facts_callback(struct trigger_process *process, uint64_t address)
{
	struct triggers *triggers = process->triggers;
	struct trigger_fact *fact = fact_at(process, FACT_CALLBACK, address);
	uint32_t any = 0;

	for (unsigned i = 0; i < triggers->count; i++)
		if (triggers->item[i].kind == TRIGGER_CALLBACK && triggers->item[i].any)
			any |= 1u << i;
	if (!fact)
		return any;
	if (!fact->judged || fact->version != process->version) {
		fact->mask = any | fitting_triggers(process, fact);
		fact->version = process->version;
		fact->judged = true;
		triggers->met |= fact->mask;
	}
	return fact->mask;
}

void facts_path(const struct trigger_process *process, uint64_t address, struct facts_path *path)
{
	const struct trigger_fact *fact = map_get(&process->facts, address, FACT_CALLBACK);
	enum fact_kind kind = FACT_CALLBACK;

	*path = (struct facts_path){ 0 };
	for (unsigned hop = 0; fact && hop < HOPS_MAX; hop++) {
		if (kind == FACT_CALLBACK)
			path->symbol = fact->text;
		else if (kind == FACT_SUBSCRIPTION)
			path->topic = fact->text;
		else if (kind == FACT_SERVICE)
			path->service = fact->text;
		else if (kind == FACT_NODE)
			path->node = fact->text;
		else if (kind == FACT_TIMER)
			path->period_ns = fact->period_ns;
		path->is_timer |= kind == FACT_TIMER;
		kind = fact->owner_kind;
		fact = kind ? map_get(&process->facts, fact->owner, kind) : NULL;
	}
}

/* The name that the analysis gives a callback without a symbol: "/planner /scan", "/driver timer 10
 * ms". After attach that is all there is. Return: false: nothing is known of it. */
static bool name_path(const struct trigger_process *process, uint64_t address,
		      char what[TRIGGER_WHAT_MAX])
{
	char period[TEXT_QUANTITY_MAX], timer[TEXT_QUANTITY_MAX + 8];
	struct facts_path path;
	const char *from;

	facts_path(process, address, &path);
	(void)snprintf(timer, sizeof timer, "timer%s%s", path.period_ns ? " " : "",
		       path.period_ns ? text_period(period, (int64_t)path.period_ns) : "");
	from = path.topic ? path.topic : path.service ? path.service : path.is_timer ? timer : NULL;
	if (!from)
		return false;
	(void)snprintf(what, TRIGGER_WHAT_MAX, "%s%s%s", path.node ? path.node : "",
		       path.node ? " " : "", from);
	return true;
}

void facts_symbol(const struct trigger_process *process, uint64_t address,
		  char what[TRIGGER_WHAT_MAX])
{
	const struct trigger_fact *fact = map_get(&process->facts, address, FACT_CALLBACK);

	if (fact && fact->text && fact->text[0])
		(void)snprintf(what, TRIGGER_WHAT_MAX, "%s", fact->text);
	else if (!name_path(process, address, what))
		(void)snprintf(what, TRIGGER_WHAT_MAX, "callback 0x%" PRIx64, address);
}

void trigger_forget(struct trigger_process *process)
{
	facts_free(process);
	process->version++;
}

void facts_free(struct trigger_process *process)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&process->facts, &at))) {
		free(((struct trigger_fact *)slot->value)->text);
		free(slot->value);
	}
	map_free(&process->facts);
}
