/* SPDX-License-Identifier: Apache-2.0 */
/* The file of budgets; docs/answers/check.md defines it. */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/budget.h"
#include "yaml/yaml_file.h"

#define FILE_MAX (1 << 20)

static const char *const sections[SUMMARY_KINDS + 1] = {
	[SUMMARY_CHAIN] = "chains",   [SUMMARY_CALLBACK] = "callbacks",
	[SUMMARY_TOPIC] = "topics",   [SUMMARY_TIMER] = "timers",
	[SUMMARY_LOOP] = "loops",     [SUMMARY_SERVICE] = "services",
	[SUMMARY_SPAN] = "spans",     [SUMMARY_PROCESS] = "processes",
	[SUMMARY_ACTION] = "actions", [BUDGET_WHOLE] = "loss",
};

const char *budget_section(enum summary_kind kind)
{
	return sections[kind];
}

struct reading {
	struct budgets *to;
	struct yaml_file yaml;
};

/* ---- nodes of YAML ---- */

static const char *text_of(struct reading *r, const yaml_node_t *node, const char *what)
{
	const char *text = yaml_scalar(node);

	if (!*text) {
		yaml_wrong(&r->yaml, node, what);
		return "";
	}
	text = yaml_kept(&r->yaml, pool_text(&r->to->pool, text, strlen(text)));
	return text ? text : "";
}

/* Calls @item for @node, or, of a list, for each of its items. */
static void each(struct reading *r, const yaml_node_t *node,
		 void (*item)(struct reading *r, const yaml_node_t *node, void *context),
		 void *context)
{
	if (!node || node->type != YAML_SEQUENCE_NODE) {
		item(r, node, context);
		return;
	}
	for (yaml_node_item_t *i = node->data.sequence.items.start;
	     i < node->data.sequence.items.top && !r->yaml.failed; i++)
		item(r, yaml_at(&r->yaml, *i), context);
}

/* ---- budgets ---- */

/* The entities that the budgets which follow are about. */
struct about {
	enum summary_kind kind;
	const char *name;
};

static void read_budget(struct reading *r, const yaml_node_t *node, void *context)
{
	const struct about *about = context;
	struct budgets *to = r->to;
	struct budget budget = { .name = about->name, .line = yaml_line(node) };
	struct kymo_err why;

	budget.text = text_of(r, node, "expected a budget, such as '- latency p99 <= 20 ms'");
	if (r->yaml.failed)
		return;
	if (budget_parse(&budget, about->kind, budget.text, &why)) {
		yaml_wrong(&r->yaml, node, why.text);
		return;
	}
	if (yaml_kept(&r->yaml,
		      ARRAY_ROOM(to->budget, to->count, to->capacity) ? to->budget : NULL))
		to->budget[to->count++] = budget;
}

static void read_entities(struct reading *r, const yaml_node_t *node, enum summary_kind kind)
{
	struct about about = { kind, "" };

	if (kind == BUDGET_WHOLE) {
		each(r, node, read_budget, &about);
		return;
	}
	if (!node || node->type != YAML_MAPPING_NODE) {
		yaml_wrong(&r->yaml, node, "expected names, each with a list of budgets");
		return;
	}
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start;
	     pair < node->data.mapping.pairs.top && !r->yaml.failed; pair++) {
		about.name = text_of(r, yaml_at(&r->yaml, pair->key), "expected a name");
		each(r, yaml_at(&r->yaml, pair->value), read_budget, &about);
	}
}

/* ---- the other keys ---- */

static void read_base(struct reading *r, const yaml_node_t *node, void *context)
{
	struct budgets *to = r->to;
	const char *base = text_of(r, node, "expected a summary, a trace or a directory of them"),
		   *slash = strrchr(to->path, '/');
	const size_t directory = *base == '/' || !slash ? 0 : (size_t)(slash - to->path) + 1;
	char *path;

	(void)context;
	if (r->yaml.failed)
		return;
	/* Beside the file of budgets, wherever that is read from. */
	path = yaml_kept(&r->yaml, pool_new(&to->pool, directory + strlen(base) + 1));
	if (!path ||
	    !yaml_kept(&r->yaml, ARRAY_ROOM(to->base, to->bases, to->bases_size) ? to->base : NULL))
		return;
	memcpy(path, to->path, directory);
	memcpy(path + directory, base, strlen(base));
	to->base[to->bases++] = path;
}

static void read_realtime(struct reading *r, const yaml_node_t *node, void *context)
{
	const char *name = yaml_scalar(node);

	(void)context;
	if (!*name || *name == '!' || strlen(name) > 400)
		yaml_wrong(&r->yaml, node, "expected a callback, a node, or a span as category:name");
	if (!r->yaml.failed &&
	    budgets_add_told(r->to, BUDGET_REALTIME, name,
			     "no allocation, lock, page fault or system call", yaml_line(node)))
		(void)yaml_kept(&r->yaml, NULL);
}

static void read_runs(struct reading *r, const yaml_node_t *node)
{
	char rest;

	if (sscanf(yaml_scalar(node), "%4u of %4u%c", &r->to->keep, &r->to->of, &rest) != 2 ||
	    !r->to->keep || r->to->keep > r->to->of)
		yaml_wrong(&r->yaml, node, "'runs' is, for example, '2 of 3'");
}

static void read_confidence(struct reading *r, const yaml_node_t *node)
{
	char *end;
	double percent = strtod(yaml_scalar(node), &end);

	if ((strcmp(end, "%") != 0 && strcmp(end, " %") != 0) || !(percent >= 50) ||
	    percent > 99.99)
		yaml_wrong(&r->yaml, node, "'confidence' is, for example, '95 %', and at least 50 %");
	r->to->confidence = percent / 100;
}

static void unknown(struct reading *r, const yaml_node_t *node, const char *key)
{
	static const char *const others[] = { "runs", "confidence", "base", "real-time" };
	struct text_nearest nearest = { 0 };
	char text[256];

	for (unsigned i = 0; i < COUNT_OF(sections); i++)
		if (sections[i])
			text_nearest_try(&nearest, key, sections[i]);
	for (unsigned i = 0; i < COUNT_OF(others); i++)
		text_nearest_try(&nearest, key, others[i]);
	if (nearest.name)
		(void)snprintf(text, sizeof(text), "'%.60s' is not known; did you mean '%s'?", key,
			       nearest.name);
	else
		(void)snprintf(text, sizeof(text),
			       "'%.60s' is not known; write chains, callbacks, topics, timers, "
			       "loops, services, actions, spans, processes, loss, real-time, runs, "
			       "confidence or base",
			       key);
	yaml_wrong(&r->yaml, node, text);
}

static void read_key(struct reading *r, const yaml_node_t *key, const yaml_node_t *value)
{
	const char *name = yaml_scalar(key);

	for (unsigned kind = 0; kind < COUNT_OF(sections); kind++)
		if (sections[kind] && !strcmp(sections[kind], name)) {
			read_entities(r, value, (enum summary_kind)kind);
			return;
		}
	if (!strcmp(name, "runs"))
		read_runs(r, value);
	else if (!strcmp(name, "confidence"))
		read_confidence(r, value);
	else if (!strcmp(name, "real-time"))
		each(r, value, read_realtime, NULL);
	else if (!strcmp(name, "base"))
		each(r, value, read_base, NULL);
	else
		unknown(r, key, name);
}

static void read_file(struct reading *r, const yaml_node_t *root)
{
	if (!root || root->type != YAML_MAPPING_NODE) {
		yaml_wrong(&r->yaml, root,
		      "expected sections such as 'topics:'; kymo check --init writes a file");
		return;
	}
	for (yaml_node_pair_t *pair = root->data.mapping.pairs.start;
	     pair < root->data.mapping.pairs.top && !r->yaml.failed; pair++)
		read_key(r, yaml_at(&r->yaml, pair->key), yaml_at(&r->yaml, pair->value));
	if (r->yaml.failed)
		return;
	if (!r->to->count)
		yaml_wrong(&r->yaml, root, "the file has no budget");
}

int budgets_need_base(const struct budgets *budgets, bool is_given, struct kymo_err *err)
{
	for (unsigned i = 0; i < budgets->count; i++) {
		if (budgets->budget[i].op != BUDGET_WITHIN)
			continue;
		if (is_given || budgets->bases)
			return 1;
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s:%u: 'within' needs a base line: add 'base: FILE', or name one "
			       "with --base",
			       budgets->path, budgets->budget[i].line);
	}
	return 0;
}

void budgets_empty(struct budgets *budgets, const char *path)
{
	*budgets = (struct budgets){ .path = path, .keep = 1, .of = 1, .confidence = 0.95 };
}

int budgets_read(struct budgets *budgets, const char *path, struct kymo_err *err)
{
	struct reading r = { .to = budgets, .yaml = { .path = path, .remedy = "see docs/answers/check.md", .err = err } };

	budgets_empty(budgets, path);
	if (yaml_file_load(&r.yaml, FILE_MAX))
		return -1;
	read_file(&r, yaml_document_get_root_node(&r.yaml.document));
	yaml_document_delete(&r.yaml.document);
	return r.yaml.failed ? -1 : 0;
}

void budgets_free(struct budgets *budgets)
{
	pool_free(&budgets->pool);
	free(budgets->budget);
	free(budgets->base);
}
