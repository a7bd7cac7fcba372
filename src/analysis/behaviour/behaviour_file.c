/* SPDX-License-Identifier: Apache-2.0 */
/* The file of behaviours; docs/answers/behaviour.md defines it. */
#include <stdlib.h>
#include <string.h>

#include <yaml.h>

#include "analysis/behaviour/behaviour_internal.h"
#include "base/array.h"
#include "base/file.h"
#include "base/text.h"

#define FILE_MAX (1 << 20)

struct reading {
	struct behaviours *to;
	yaml_document_t document;
	const char *path;
	struct kymo_err *err;
	bool failed;
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

static void wrong(struct reading *r, const yaml_node_t *node, const char *what, const char *text)
{
	if (!r->failed)
		err_set(r->err, KYMO_EXIT_INPUT, "%s:%zu: %s%s%.100s%s; see docs/answers/behaviour.md",
			r->path, node ? node->start_mark.line + 1 : 1, what, text ? " '" : "",
			text ? text : "", text ? "'" : "");
	r->failed = true;
}

static void *kept(struct reading *r, void *memory)
{
	if (!memory && !r->failed)
		(void)err_no_memory(r->err);
	r->failed |= !memory;
	return memory;
}

static const yaml_node_t *at(struct reading *r, int item)
{
	return yaml_document_get_node(&r->document, item);
}

static const char *raw_text(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

static const char *text_of(struct reading *r, const yaml_node_t *node)
{
	const char *text = raw_text(node);

	if (!*text) {
		wrong(r, node, "expected a text", NULL);
		return "";
	}
	text = kept(r, pool_text(&r->to->pool, text, strlen(text)));
	return text ? text : "";
}

static int64_t time_of(struct reading *r, const yaml_node_t *node)
{
	int64_t ns = 0;

	if (!text_read_time(raw_text(node), &ns) || ns <= 0)
		wrong(r, node, "expected a time above 0, such as 20ms, and not", raw_text(node));
	return ns;
}

static const yaml_node_t *member(struct reading *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++)
		if (strcmp(raw_text(at(r, pair->key)), key) == 0)
			return at(r, pair->value);
	return NULL;
}

static bool is_map(struct reading *r, const yaml_node_t *node, const char *what)
{
	if (node && node->type == YAML_MAPPING_NODE)
		return true;
	wrong(r, node, what, NULL);
	return false;
}

/* Names that the file may not have are mistyped ones: "budgets". */
static void only(struct reading *r, const yaml_node_t *map, const char *const *keys, const char *of)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const char *key = raw_text(at(r, pair->key));
		unsigned i;

		for (i = 0; keys[i] && strcmp(keys[i], key) != 0; i++)
			;
		if (!keys[i])
			wrong(r, at(r, pair->key), of, key);
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
		const char *key = raw_text(at(r, pair->key)),
			   *value = text_of(r, at(r, pair->value));
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
			wrong(r, at(r, pair->key),
			      "a condition has one of publish, receive, start, end, span-begin, "
			      "span-end, instant, lifecycle and event, and may have node and "
			      "process, but not",
			      key);
		}
	}
	if (found != 1)
		wrong(r, node,
		      "a condition has exactly one of publish, receive, start, end, span-begin, "
		      "span-end, "
		      "instant, lifecycle and event",
		      NULL);
	if (to->conditions == CONDITIONS_MAX)
		wrong(r, node, "too many conditions: a file has up to 64", NULL);
	if (!r->failed)
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
	     item < node->data.sequence.items.top && !r->failed; item++)
		read_condition(r, at(r, *item), rule, role);
}

/* ---- activities, regions, states ---- */

static struct behaviour_what *add_what(struct reading *r, struct behaviour_what what)
{
	struct behaviours *to = r->to;

	if (!kept(r, ARRAY_ROOM(to->what, to->whats, to->what_room) ? to->what : NULL))
		return NULL;
	what.index = to->whats;
	to->what[to->whats] = what;
	return &to->what[to->whats++];
}

static struct rule *add_rule(struct reading *r, const yaml_node_t *node, enum behaviour_kind kind)
{
	struct behaviours *to = r->to;
	const yaml_node_t *each = member(r, node, "each");
	struct rule *rule =
		kept(r, ARRAY_ROOM(to->rule, to->rules, to->rule_room) ? to->rule : NULL);
	unsigned i = kind == BEHAVIOUR_REGION ? EACH_THREAD : EACH_NONE;

	if (!rule)
		return NULL;
	if (each)
		for (i = 0; i < COUNT_OF(each_names) && strcmp(each_names[i], raw_text(each)) != 0;
		     i++)
			;
	if (i == COUNT_OF(each_names))
		wrong(r, each, "'each' is thread, node or process, and not", raw_text(each));
	rule = &to->rule[to->rules++];
	*rule = (struct rule){ .kind = kind, .each = (enum each)i, .first = to->whats };
	return rule;
}

/* {begin: ..., end: ..., budget: 20ms, each: thread} */
static void read_activity(struct reading *r, const char *name, const yaml_node_t *node,
			  enum behaviour_kind kind)
{
	static const char *const keys[] = { "begin", "end", "budget", "each", NULL };
	struct behaviour_what what = { .kind = kind, .name = name };
	const yaml_node_t *budget;
	struct rule *rule;

	if (!is_map(r, node, "expected begin and end"))
		return;
	only(r, node, keys, "activities and regions have begin, end, budget and each, but not");
	if (!member(r, node, "begin") || !member(r, node, "end"))
		wrong(r, node, "begin or end is missing in", name);
	budget = member(r, node, "budget");
	what.budget_ns = budget ? time_of(r, budget) : 0;
	rule = r->failed ? NULL : add_rule(r, node, kind);
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
	struct rule *rule = &r->to->rule[r->to->rules - 1];

	if (node && node->type == YAML_MAPPING_NODE && member(r, node, "when")) {
		only(r, node, keys, "a state has when and budget, but not");
		when = member(r, node, "when");
		budget = member(r, node, "budget");
	}
	what.budget_ns = budget ? time_of(r, budget) : 0;
	if (!r->failed && add_what(r, what))
		read_conditions(r, when, r->to->rules - 1, rule->count++);
}

/* A group: its states by name; `each` beside them. */
static void read_states(struct reading *r, const char *name, const yaml_node_t *node)
{
	if (!is_map(r, node, "expected the states of the group") ||
	    !add_rule(r, node, BEHAVIOUR_STATE))
		return;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !r->failed; pair++)
		if (strcmp(raw_text(at(r, pair->key)), "each") != 0)
			read_state(r, name, text_of(r, at(r, pair->key)), at(r, pair->value));
	if (r->to->rule[r->to->rules - 1].count < 2)
		wrong(r, node, "a group has at least two states:", name);
}

static void read_file(struct reading *r, const yaml_node_t *root)
{
	static const char *const keys[] = { "activities", "regions", "states", NULL };

	if (!is_map(r, root, "expected activities, regions and states"))
		return;
	only(r, root, keys, "the file has activities, regions and states, but not");
	for (unsigned k = 0; keys[k] && !r->failed; k++) {
		const yaml_node_t *part = member(r, root, keys[k]);

		if (!part || !is_map(r, part, "expected names and what they mean"))
			continue;
		for (yaml_node_pair_t *pair = part->data.mapping.pairs.start;
		     pair < part->data.mapping.pairs.top && !r->failed; pair++) {
			const char *name = text_of(r, at(r, pair->key));

			if (k == 2)
				read_states(r, name, at(r, pair->value));
			else
				read_activity(r, name, at(r, pair->value),
					      k ? BEHAVIOUR_REGION : BEHAVIOUR_ACTIVITY);
		}
	}
	if (!r->failed && !r->to->whats)
		wrong(r, root, "the file names nothing", NULL);
}

static int load(struct reading *r, const char *text, size_t size)
{
	yaml_parser_t parser;
	int loaded;

	if (!yaml_parser_initialize(&parser))
		return err_no_memory(r->err);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	loaded = yaml_parser_load(&parser, &r->document);
	if (!loaded)
		err_set(r->err, KYMO_EXIT_INPUT, "%s:%zu: not YAML: %s", r->path,
			parser.problem_mark.line + 1, parser.problem ? parser.problem : "broken");
	yaml_parser_delete(&parser);
	return loaded ? 0 : -1;
}

int behaviours_read(struct behaviours **result, const char *path, struct kymo_err *err)
{
	struct reading r = { .path = path, .err = err };
	char *text;
	size_t size;
	int status;

	if (file_load(path, FILE_MAX, &text, &size, err))
		return -1;
	status = load(&r, text, size);
	free(text);
	if (status)
		return -1;
	r.to = kept(&r, calloc(1, sizeof(*r.to)));
	if (r.to)
		read_file(&r, yaml_document_get_root_node(&r.document));
	yaml_document_delete(&r.document);
	if (!r.failed) {
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
