/* SPDX-License-Identifier: Apache-2.0 */
/* Reading architecture files. */
#include "caret/paths/architecture.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

/* A larger file is not an architecture file. */
#define FILE_MAX (64u << 20)

struct reading {
	struct architecture *architecture;
	yaml_document_t document;
	const char *path;
	struct kymo_err *err;
	bool failed;
};

static void wrong(struct reading *r, const yaml_node_t *node, const char *what)
{
	if (!r->failed)
		err_set(r->err, KYMO_EXIT_INPUT, "%s:%zu: %s; create the file with kymo export --format "
			"caret-architecture, or see docs/caret.md", r->path,
			node ? node->start_mark.line + 1 : 1, what);
	r->failed = true;
}

static void *room(struct reading *r, size_t count, size_t size)
{
	void *memory = count < SIZE_MAX / size ? pool_new(&r->architecture->pool, count * size + 1) :
						 NULL;

	if (!memory) {
		err_no_memory(r->err);
		r->failed = true;
	}
	return memory;
}

/* ---- YAML ---- */

static yaml_node_t *member(struct reading *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		const yaml_node_t *name = yaml_document_get_node(&r->document, pair->key);

		if (name && name->type == YAML_SCALAR_NODE &&
		    strcmp((const char *)name->data.scalar.value, key) == 0)
			return yaml_document_get_node(&r->document, pair->value);
	}
	return NULL;
}

static const char *scalar(struct reading *r, const yaml_node_t *node)
{
	const char *text;

	if (!node)
		return "";
	if (node->type != YAML_SCALAR_NODE) {
		wrong(r, node, "expected text");
		return "";
	}
	text = (const char *)node->data.scalar.value;
	if (strcmp(text, "UNDEFINED") == 0 || strcmp(text, "null") == 0)
		return "";
	text = pool_text(&r->architecture->pool, text, strlen(text));
	if (!text) {
		err_no_memory(r->err);
		r->failed = true;
	}
	return text ? text : "";
}

static const char *text_of(struct reading *r, const yaml_node_t *map, const char *key)
{
	return scalar(r, member(r, map, key));
}

static int64_t number_of(struct reading *r, const yaml_node_t *map, const char *key)
{
	const yaml_node_t *node = member(r, map, key);
	const char *text = scalar(r, node);
	long long value;
	char *end;

	if (!*text)
		return 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (*end || errno || value < 0 || value > INT64_MAX / 4) {
		wrong(r, node, "expected a number of 0 or more");
		return 0;
	}
	return value;
}

static unsigned order_of(struct reading *r, const yaml_node_t *map, const char *key)
{
	int64_t order = number_of(r, map, key);

	return order < UINT16_MAX ? (unsigned)order : UINT16_MAX;
}

/* The items of the list @key of @map; 0: there is none. */
static unsigned list_of(struct reading *r, const yaml_node_t *map, const char *key,
			yaml_node_item_t **items, yaml_node_type_t type)
{
	const yaml_node_t *list = member(r, map, key);
	unsigned count;

	*items = NULL;
	if (!list || (list->type == YAML_SCALAR_NODE && !*scalar(r, list)))
		return 0;
	if (list->type != YAML_SEQUENCE_NODE) {
		wrong(r, list, "expected a list");
		return 0;
	}
	*items = list->data.sequence.items.start;
	count = (unsigned)(list->data.sequence.items.top - list->data.sequence.items.start);
	for (unsigned i = 0; i < count; i++) {
		const yaml_node_t *item = yaml_document_get_node(&r->document, (*items)[i]);

		if (item && item->type == type)
			continue;
		wrong(r, list, type == YAML_MAPPING_NODE ? "expected a list of keys and values" :
							   "expected a list of texts");
		return 0;
	}
	return count;
}

static const yaml_node_t *at(struct reading *r, const yaml_node_item_t *items, unsigned i)
{
	return yaml_document_get_node(&r->document, items[i]);
}

static const char **names_of(struct reading *r, const yaml_node_t *map, const char *key,
			     unsigned *count)
{
	yaml_node_item_t *items;
	const char **names;

	*count = list_of(r, map, key, &items, YAML_SCALAR_NODE);
	names = room(r, *count, sizeof(*names));
	for (unsigned i = 0; names && i < *count; i++)
		names[i] = scalar(r, at(r, items, i));
	/* A single UNDEFINED is not a name. */
	if (names && *count == 1 && !*names[0])
		*count = 0;
	return names;
}

/* Fills an array of structs from the list @key of @map: @fields has a statement for each field, with m and x. */
#define FILL(r, map, key, array, count, fields)						\
	do {										\
		yaml_node_item_t *items_;						\
		unsigned count_ = list_of(r, map, key, &items_, YAML_MAPPING_NODE);	\
											\
		array = room(r, count_, sizeof(*(array)));				\
		for (unsigned i_ = 0; (array) && i_ < count_; i_++) {			\
			const yaml_node_t *m = at(r, items_, i_);			\
			__typeof__(array) x = &(array)[i_];				\
											\
			fields								\
			count = i_ + 1;							\
		}									\
	} while (0)

/* ---- the contents of the file ---- */

static void read_path(struct reading *r, const yaml_node_t *map, struct arch_path *path)
{
	path->name = text_of(r, map, "path_name");
	FILL(r, map, "node_chain", path->hop, path->hops,
	     x->node = text_of(r, m, "node_name");
	     x->subscribe_topic = text_of(r, m, "subscribe_topic_name");
	     x->publish_topic = text_of(r, m, "publish_topic_name");
	     x->subscription_order = order_of(r, m, "subscription_construction_order");
	     x->publisher_order = order_of(r, m, "publisher_construction_order"););
	if (!*path->name || !path->hops)
		wrong(r, map, "a path needs a path_name and a node_chain");
}

static void read_callback(struct reading *r, const yaml_node_t *map, struct arch_callback *callback)
{
	const char *type = text_of(r, map, "callback_type");

	callback->name = text_of(r, map, "callback_name");
	callback->is_timer = strcmp(type, "timer_callback") == 0;
	callback->period_ns = number_of(r, map, "period_ns");
	callback->topic = text_of(r, map, "topic_name");
	callback->symbol = text_of(r, map, "symbol");
	callback->order = order_of(r, map, "construction_order");
	if (!callback->is_timer && strcmp(type, "subscription_callback") != 0)
		wrong(r, map, "callback_type is neither timer_callback nor subscription_callback");
}

static void read_node(struct reading *r, const yaml_node_t *map, struct arch_node *node)
{
	node->name = text_of(r, map, "node_name");
	if (!*node->name)
		wrong(r, map, "a node needs a node_name");
	FILL(r, map, "callback_groups", node->group, node->groups,
	     x->name = text_of(r, m, "callback_group_name");
	     x->type = text_of(r, m, "callback_group_type");
	     x->callback = names_of(r, m, "callback_names", &x->callbacks););
	FILL(r, map, "callbacks", node->callback, node->callbacks, read_callback(r, m, x););
	FILL(r, map, "variable_passings", node->passing, node->passings,
	     x->write = text_of(r, m, "callback_name_write");
	     x->read = text_of(r, m, "callback_name_read"););
	FILL(r, map, "publishes", node->publish, node->publishes,
	     x->topic = text_of(r, m, "topic_name");
	     x->order = order_of(r, m, "construction_order");
	     x->callback = names_of(r, m, "callback_names", &x->callbacks););
	FILL(r, map, "subscribes", node->subscribe, node->subscribes,
	     x->topic = text_of(r, m, "topic_name");
	     x->order = order_of(r, m, "construction_order");
	     x->callback = text_of(r, m, "callback_name"););
	FILL(r, map, "message_contexts", node->context, node->contexts,
	     x->type = text_of(r, m, "context_type");
	     x->subscription_topic = text_of(r, m, "subscription_topic_name");
	     x->publisher_topic = text_of(r, m, "publisher_topic_name");
	     x->subscription_order = order_of(r, m, "subscription_construction_order");
	     x->publisher_order = order_of(r, m, "publisher_construction_order");
	     x->callback = names_of(r, m, "callbacks", &x->callbacks););
}

static void read_document(struct reading *r)
{
	struct architecture *a = r->architecture;
	const yaml_node_t *root = yaml_document_get_root_node(&r->document);

	if (!root || root->type != YAML_MAPPING_NODE || !member(r, root, "nodes")) {
		wrong(r, root, "not an architecture file of CARET: no key 'nodes'");
		return;
	}
	FILL(r, root, "named_paths", a->path, a->paths, read_path(r, m, x););
	FILL(r, root, "executors", a->executor, a->executors,
	     x->name = text_of(r, m, "executor_name");
	     x->type = text_of(r, m, "executor_type");
	     x->group = names_of(r, m, "callback_group_names", &x->groups););
	FILL(r, root, "nodes", a->node, a->nodes, read_node(r, m, x););
}

static int load(struct reading *r, FILE *file)
{
	yaml_parser_t parser;
	int loaded;

	if (!yaml_parser_initialize(&parser))
		return err_no_memory(r->err);
	yaml_parser_set_input_file(&parser, file);
	loaded = yaml_parser_load(&parser, &r->document);
	if (!loaded)
		err_set(r->err, KYMO_EXIT_INPUT, "%s:%zu: not YAML: %s", r->path,
			parser.problem_mark.line + 1, parser.problem ? parser.problem : "broken");
	yaml_parser_delete(&parser);
	return loaded ? 0 : -1;
}

int architecture_read(struct architecture **result, const char *path, struct kymo_err *err)
{
	struct reading r = { .path = path, .err = err };
	FILE *file = fopen(path, "re");
	int status;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot open '%s': %s", path, strerror(errno));
	if (fseek(file, 0, SEEK_END) || ftell(file) > (long)FILE_MAX || fseek(file, 0, SEEK_SET)) {
		(void)fclose(file);
		return err_set(err, KYMO_EXIT_INPUT, "'%s' is not an architecture file", path);
	}
	status = load(&r, file);
	(void)fclose(file);
	if (status)
		return -1;
	r.architecture = architecture_new();
	if (r.architecture)
		read_document(&r);
	yaml_document_delete(&r.document);
	if (!r.architecture)
		return err_no_memory(err);
	if (r.failed) {
		architecture_free(r.architecture);
		return -1;
	}
	*result = r.architecture;
	return 0;
}
