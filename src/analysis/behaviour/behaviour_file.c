/* SPDX-License-Identifier: Apache-2.0 */
/* The file of behaviours; docs/answers/behaviour.md defines it. */
#include <stdlib.h>
#include <string.h>

#include "analysis/behaviour/behaviour_internal.h"
#include "base/array.h"
#include "base/text.h"
#include "yaml/yaml_file.h"

#define FILE_MAX (1 << 20)

struct reading {
	struct behaviours *to;
	struct yaml_file yaml;
};

static const struct {
	const char *name;
	enum condition_kind kind;
} kinds[] = {
	{ "publish", ON_PUBLISH }, { "receive", ON_RECEIVE },       { "start", ON_START },
	{ "end", ON_END },         { "span-begin", ON_SPAN_BEGIN }, { "span-end", ON_SPAN_END },
	{ "instant", ON_INSTANT }, { "lifecycle", ON_LIFECYCLE },   { "event", ON_EVENT },
};

static const char *const each_names[] = { "none", "thread", "node", "process" };

/* ---- nodes of YAML ---- */

/* @text: what stands there, or what it is about */
static void wrong_text(struct reading *r, const yaml_node_t *node, const char *what,
		       const char *text)
{
	char message[512];

	(void)snprintf(message, sizeof(message), "%s '%.100s'", what, text);
	yaml_wrong(&r->yaml, node, message);
}

static const char *text_of(struct reading *r, const yaml_node_t *node)
{
	const char *text = yaml_scalar(node);

	if (!*text) {
		yaml_wrong(&r->yaml, node, "expected a text");
		return "";
	}
	text = yaml_kept(&r->yaml, pool_text(&r->to->pool, text, strlen(text)));
	return text ? text : "";
}

static int64_t time_of(struct reading *r, const yaml_node_t *node)
{
	int64_t ns = 0;

	if (!text_read_time(yaml_scalar(node), &ns) || ns <= 0)
		wrong_text(r, node, "expected a time above 0, such as 20ms, and not", yaml_scalar(node));
	return ns;
}

static const yaml_node_t *member(struct reading *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++)
		if (strcmp(yaml_scalar(yaml_at(&r->yaml, pair->key)), key) == 0)
			return yaml_at(&r->yaml, pair->value);
	return NULL;
}

static bool is_map(struct reading *r, const yaml_node_t *node, const char *what)
{
	if (node && node->type == YAML_MAPPING_NODE)
		return true;
	yaml_wrong(&r->yaml, node, what);
	return false;
}

/* Names that the file may not have are mistyped ones: "budgets". */
static void only(struct reading *r, const yaml_node_t *map, const char *const *keys, const char *of)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const char *key = yaml_scalar(yaml_at(&r->yaml, pair->key));
		unsigned i;

		for (i = 0; keys[i] && strcmp(keys[i], key) != 0; i++)
			;
		if (!keys[i])
			wrong_text(r, yaml_at(&r->yaml, pair->key), of, key);
	}
}

/* ---- conditions ---- */

static void read_condition(struct reading *r, const yaml_node_t *node, unsigned rule, unsigned role)
{
	struct behaviours *to = r->to;
	struct condition condition = { .rule = rule, .role = role };
	unsigned found = 0;

	if (!is_map(r, node, "expected a condition, such as {publish: /scan}"))
		return;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top; pair++) {
		const char *key = yaml_scalar(yaml_at(&r->yaml, pair->key)),
			   *value = text_of(r, yaml_at(&r->yaml, pair->value));
		unsigned i;

		for (i = 0; i < COUNT_OF(kinds) && strcmp(kinds[i].name, key) != 0; i++)
			;
		if (i < COUNT_OF(kinds)) {
			condition.kind = kinds[i].kind;
			condition.glob = value;
			found++;
		} else if (strcmp(key, "node") == 0) {
			condition.node = value;
		} else if (strcmp(key, "process") == 0) {
			condition.process = value;
		} else {
			wrong_text(r, yaml_at(&r->yaml, pair->key),
			      "a condition has one of publish, receive, start, end, span-begin, "
			      "span-end, instant, lifecycle and event, and may have node and "
			      "process, but not",
			      key);
		}
	}
	if (found != 1)
		yaml_wrong(&r->yaml, node,
			   "a condition has exactly one of publish, receive, start, end, span-begin, span-end, "
			   "instant, lifecycle and event");
	if (to->conditions == CONDITIONS_MAX)
		yaml_wrong(&r->yaml, node, "too many conditions: a file has up to 64");
	if (!r->yaml.failed)
		to->condition[to->conditions++] = condition;
}

/* One condition, or a list of which any is enough. */
static void read_conditions(struct reading *r, const yaml_node_t *node, unsigned rule,
			    unsigned role)
{
	if (!node || node->type != YAML_SEQUENCE_NODE) {
		read_condition(r, node, rule, role);
		return;
	}
	for (yaml_node_item_t *item = node->data.sequence.items.start;
	     item < node->data.sequence.items.top && !r->yaml.failed; item++)
		read_condition(r, yaml_at(&r->yaml, *item), rule, role);
}

/* ---- activities, regions, states ---- */

static struct behaviour_what *add_what(struct reading *r, struct behaviour_what what)
{
	struct behaviours *to = r->to;

	if (!yaml_kept(&r->yaml, ARRAY_ROOM(to->what, to->whats, to->what_room) ? to->what : NULL))
		return NULL;
	what.index = to->whats;
	to->what[to->whats] = what;
	return &to->what[to->whats++];
}

static struct behaviour_rule *add_rule(struct reading *r, const yaml_node_t *node,
				       enum behaviour_kind kind)
{
	struct behaviours *to = r->to;
	const yaml_node_t *each = member(r, node, "each");
	struct behaviour_rule *rule = yaml_kept(
		&r->yaml, ARRAY_ROOM(to->rule, to->rules, to->rule_room) ? to->rule : NULL);
	unsigned i = kind == BEHAVIOUR_REGION ? EACH_THREAD : EACH_NONE;

	if (!rule)
		return NULL;
	if (each)
		for (i = 0;
		     i < COUNT_OF(each_names) && strcmp(each_names[i], yaml_scalar(each)) != 0; i++)
			;
	if (i == COUNT_OF(each_names))
		wrong_text(r, each, "'each' is thread, node or process, and not", yaml_scalar(each));
	rule = &to->rule[to->rules++];
	*rule = (struct behaviour_rule){ .kind = kind, .each = (enum each)i, .first = to->whats };
	return rule;
}

/* {begin: ..., end: ..., budget: 20ms, each: thread} */
static void read_activity(struct reading *r, const char *name, const yaml_node_t *node,
			  enum behaviour_kind kind)
{
	static const char *const keys[] = { "begin", "end", "budget", "each", NULL };
	struct behaviour_what what = { .kind = kind, .name = name };
	const yaml_node_t *budget;
	struct behaviour_rule *rule;

	if (!is_map(r, node, "expected begin and end"))
		return;
	only(r, node, keys, "activities and regions have begin, end, budget and each, but not");
	if (!member(r, node, "begin") || !member(r, node, "end"))
		wrong_text(r, node, "begin or end is missing in", name);
	budget = member(r, node, "budget");
	what.budget_ns = budget ? time_of(r, budget) : 0;
	rule = r->yaml.failed ? NULL : add_rule(r, node, kind);
	if (!rule || !add_what(r, what))
		return;
	rule->count = 1;
	read_conditions(r, member(r, node, "begin"), r->to->rules - 1, ROLE_BEGIN);
	read_conditions(r, member(r, node, "end"), r->to->rules - 1, ROLE_END);
}

/* NAME: CONDITIONS, or NAME: {when: CONDITIONS, budget: 2s} */
static void read_state(struct reading *r, const char *group, const char *name,
		       const yaml_node_t *node)
{
	static const char *const keys[] = { "when", "budget", NULL };
	struct behaviour_what what = { .kind = BEHAVIOUR_STATE, .name = group, .state = name };
	const yaml_node_t *when = node, *budget = NULL;
	struct behaviour_rule *rule = &r->to->rule[r->to->rules - 1];

	if (node && node->type == YAML_MAPPING_NODE && member(r, node, "when")) {
		only(r, node, keys, "a state has when and budget, but not");
		when = member(r, node, "when");
		budget = member(r, node, "budget");
	}
	what.budget_ns = budget ? time_of(r, budget) : 0;
	if (!r->yaml.failed && add_what(r, what))
		read_conditions(r, when, r->to->rules - 1, rule->count++);
}

/* A group: its states by name; `each` beside them. */
static void read_states(struct reading *r, const char *name, const yaml_node_t *node)
{
	if (!is_map(r, node, "expected the states of the group") ||
	    !add_rule(r, node, BEHAVIOUR_STATE))
		return;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !r->yaml.failed; pair++)
		if (strcmp(yaml_scalar(yaml_at(&r->yaml, pair->key)), "each") != 0)
			read_state(r, name, text_of(r, yaml_at(&r->yaml, pair->key)),
				   yaml_at(&r->yaml, pair->value));
	if (r->to->rule[r->to->rules - 1].count < 2)
		wrong_text(r, node, "a group has at least two states:", name);
}

static void read_file(struct reading *r, const yaml_node_t *root)
{
	static const char *const keys[] = { "activities", "regions", "states", NULL };

	if (!is_map(r, root, "expected activities, regions and states"))
		return;
	only(r, root, keys, "the file has activities, regions and states, but not");
	for (unsigned k = 0; keys[k] && !r->yaml.failed; k++) {
		const yaml_node_t *part = member(r, root, keys[k]);

		if (!part || !is_map(r, part, "expected names and what they mean"))
			continue;
		for (yaml_node_pair_t *pair = part->data.mapping.pairs.start;
		     pair < part->data.mapping.pairs.top && !r->yaml.failed; pair++) {
			const char *name = text_of(r, yaml_at(&r->yaml, pair->key));

			if (k == 2)
				read_states(r, name, yaml_at(&r->yaml, pair->value));
			else
				read_activity(r, name, yaml_at(&r->yaml, pair->value),
					      k ? BEHAVIOUR_REGION : BEHAVIOUR_ACTIVITY);
		}
	}
	if (!r->yaml.failed && !r->to->whats)
		yaml_wrong(&r->yaml, root, "the file names nothing");
}

int behaviours_read(struct behaviours **result, const char *path, struct kymo_err *err)
{
	struct reading r = { .yaml = { .path = path, .remedy = "see docs/answers/behaviour.md", .err = err } };

	if (yaml_file_load(&r.yaml, FILE_MAX))
		return -1;
	r.to = yaml_kept(&r.yaml, calloc(1, sizeof(*r.to)));
	if (r.to)
		read_file(&r, yaml_document_get_root_node(&r.yaml.document));
	yaml_document_delete(&r.yaml.document);
	if (!r.yaml.failed) {
		*result = r.to;
		return 0;
	}
	behaviours_free(r.to);
	return -1;
}

void behaviours_free(struct behaviours *behaviours)
{
	if (!behaviours)
		return;
	pool_free(&behaviours->pool);
	free(behaviours->what);
	free(behaviours->rule);
	free(behaviours);
}

const struct behaviour_what *behaviours_what(const struct behaviours *behaviours, unsigned index)
{
	return index < behaviours->whats ? &behaviours->what[index] : NULL;
}

const char *behaviour_kind_name(enum behaviour_kind kind)
{
	static const char *const names[] = { "activity", "region", "state" };

	return names[kind];
}
