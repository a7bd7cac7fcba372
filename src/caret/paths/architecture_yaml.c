/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Architecture files. One table for each kind of object has the keys of the file in CARET's order,
 * and the members of the struct that they are; reading and writing walk through the same tables.
 */
#include "caret/paths/architecture.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"

/* A larger file is not an architecture file. */
#define FILE_MAX (64u << 20)

/* clang-format off */
/* ---- the keys ---- */

enum key_type {
	TEXT,          /* const char * */
	NUMBER,        /* int64_t, in the file 0 or more */
	ORDER,         /* unsigned; 0 is not written */
	CALLBACK_TYPE, /* bool: whether the callback is a timer's */
	NAMES,         /* const char **, with a count */
	OBJECTS,       /* a pointer to structs, with a count */
};

struct map;

struct key {
	const char *name;
	enum key_type type;
	size_t at, count;			/* offsets of the member, and of its count */
	const struct map *object;		/* of OBJECTS */
	bool (*has)(const void *object);	/* whether the key is written; NULL: always */
	const char *required;			/* the error when the file does not have it; NULL: none */
	bool optional;				/* an empty list is not written */
	bool one_undefined;			/* an empty list is written with one UNDEFINED */
};

struct map {
	const struct key *key;			/* the last one has no name */
	size_t size;				/* of the struct */
};

#define MAP(of, ...) { (const struct key[]){ __VA_ARGS__, { .name = NULL } }, sizeof(struct of) }
#define KEY(key, kind, of, member) .name = key, .type = kind, .at = offsetof(struct of, member)
#define LIST(key, of, member, counted, item) \
	KEY(key, OBJECTS, of, member), .count = offsetof(struct of, counted), .object = item
#define NAME_LIST(key, of, member, counted) \
	KEY(key, NAMES, of, member), .count = offsetof(struct of, counted)

static const struct map hop_map = MAP(arch_hop,
	{ KEY("node_name", TEXT, arch_hop, node) },
	{ KEY("publish_topic_name", TEXT, arch_hop, publish_topic) },
	{ KEY("subscribe_topic_name", TEXT, arch_hop, subscribe_topic) },
	{ KEY("publisher_construction_order", ORDER, arch_hop, publisher_order) },
	{ KEY("subscription_construction_order", ORDER, arch_hop, subscription_order) });

#define NEEDS_PATH "a path needs a path_name and a node_chain"

static const struct map path_map = MAP(arch_path,
	{ KEY("path_name", TEXT, arch_path, name), .required = NEEDS_PATH },
	{ LIST("node_chain", arch_path, hop, hops, &hop_map), .required = NEEDS_PATH });

static const struct map executor_map = MAP(arch_executor,
	{ KEY("executor_type", TEXT, arch_executor, type) },
	{ KEY("executor_name", TEXT, arch_executor, name) },
	{ NAME_LIST("callback_group_names", arch_executor, group, groups) });

static const struct map group_map = MAP(arch_group,
	{ KEY("callback_group_type", TEXT, arch_group, type) },
	{ KEY("callback_group_name", TEXT, arch_group, name) },
	{ NAME_LIST("callback_names", arch_group, callback, callbacks) });

static bool is_timer(const void *object)
{
	return ((const struct arch_callback *)object)->is_timer;
}

static bool is_subscription(const void *object)
{
	return !is_timer(object);
}

static const struct map callback_map = MAP(arch_callback,
	{ KEY("callback_name", TEXT, arch_callback, name) },
	{ KEY("callback_type", CALLBACK_TYPE, arch_callback, is_timer) },
	{ KEY("period_ns", NUMBER, arch_callback, period_ns), .has = is_timer },
	{ KEY("topic_name", TEXT, arch_callback, topic), .has = is_subscription },
	{ KEY("symbol", TEXT, arch_callback, symbol) },
	{ KEY("construction_order", ORDER, arch_callback, order) });

static const struct map passing_map = MAP(arch_passing,
	{ KEY("callback_name_write", TEXT, arch_passing, write) },
	{ KEY("callback_name_read", TEXT, arch_passing, read) });

static const struct map publish_map = MAP(arch_publish,
	{ KEY("topic_name", TEXT, arch_publish, topic) },
	{ NAME_LIST("callback_names", arch_publish, callback, callbacks), .one_undefined = true },
	{ KEY("construction_order", ORDER, arch_publish, order) });

static const struct map subscribe_map = MAP(arch_subscribe,
	{ KEY("topic_name", TEXT, arch_subscribe, topic) },
	{ KEY("callback_name", TEXT, arch_subscribe, callback) },
	{ KEY("construction_order", ORDER, arch_subscribe, order) });

static const struct map context_map = MAP(arch_context,
	{ KEY("context_type", TEXT, arch_context, type) },
	{ KEY("subscription_topic_name", TEXT, arch_context, subscription_topic) },
	{ KEY("publisher_topic_name", TEXT, arch_context, publisher_topic) },
	{ KEY("subscription_construction_order", ORDER, arch_context, subscription_order) },
	{ KEY("publisher_construction_order", ORDER, arch_context, publisher_order) },
	{ NAME_LIST("callbacks", arch_context, callback, callbacks), .optional = true });

static bool has_passings(const void *object)
{
	return ((const struct arch_node *)object)->callbacks > 1;
}

static bool has_contexts(const void *object)
{
	const struct arch_node *node = object;

	return node->subscribes && node->publishes;
}

static const struct map node_map = MAP(arch_node,
	{ KEY("node_name", TEXT, arch_node, name), .required = "a node needs a node_name" },
	{ LIST("callback_groups", arch_node, group, groups, &group_map) },
	{ LIST("callbacks", arch_node, callback, callbacks, &callback_map), .optional = true },
	{ LIST("variable_passings", arch_node, passing, passings, &passing_map), .has = has_passings,
	  .one_undefined = true },
	{ LIST("publishes", arch_node, publish, publishes, &publish_map), .optional = true },
	{ LIST("subscribes", arch_node, subscribe, subscribes, &subscribe_map), .optional = true },
	{ LIST("message_contexts", arch_node, context, contexts, &context_map), .has = has_contexts });

static const struct map file_map = MAP(architecture,
	{ LIST("named_paths", architecture, path, paths, &path_map) },
	{ LIST("executors", architecture, executor, executors, &executor_map) },
	{ LIST("nodes", architecture, node, nodes, &node_map) });

/* clang-format on */

static bool is_empty(const struct key *key, const char *object)
{
	if (key->type == TEXT)
		return !**(const char *const *)(const void *)(object + key->at);
	if (key->type == ORDER)
		return !*(const unsigned *)(const void *)(object + key->at);
	return !*(const unsigned *)(const void *)(object + key->count);
}

/* ---- reading ---- */

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
		err_set(r->err, KYMO_EXIT_INPUT,
			"%s:%zu: %s; create the file with kymo export --format "
			"caret-architecture, or see docs/caret.md",
			r->path, node ? node->start_mark.line + 1 : 1, what);
	r->failed = true;
}

static void *kept(struct reading *r, void *memory)
{
	if (!memory) {
		err_no_memory(r->err);
		r->failed = true;
	}
	return memory;
}

static void *room(struct reading *r, size_t count, size_t size)
{
	return kept(r, count < SIZE_MAX / size ? pool_new(&r->architecture->pool, count * size + 1)
					       : NULL);
}

static const yaml_node_t *member(struct reading *r, const yaml_node_t *map, const char *key)
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

	if (node && node->type != YAML_SCALAR_NODE)
		wrong(r, node, "expected text");
	if (!node || node->type != YAML_SCALAR_NODE)
		return "";
	text = (const char *)node->data.scalar.value;
	if (strcmp(text, "UNDEFINED") == 0 || strcmp(text, "null") == 0)
		return "";
	text = kept(r, pool_text(&r->architecture->pool, text, strlen(text)));
	return text ? text : "";
}

static int64_t number(struct reading *r, const yaml_node_t *node)
{
	const char *text = scalar(r, node);
	long long value;
	char *end;

	if (!*text)
		return 0;
	errno = 0;
	value = strtoll(text, &end, 10);
	if (!*end && !errno && value >= 0 && value <= INT64_MAX / 4)
		return value;
	wrong(r, node, "expected a number of 0 or more");
	return 0;
}

static bool callback_type(struct reading *r, const yaml_node_t *map, const yaml_node_t *node)
{
	const char *type = scalar(r, node);

	if (strcmp(type, "timer_callback") != 0 && strcmp(type, "subscription_callback") != 0)
		wrong(r, map, "callback_type is neither timer_callback nor subscription_callback");
	return strcmp(type, "timer_callback") == 0;
}

/* The items of @list, which all have @type; 0: there is none. */
static unsigned items_of(struct reading *r, const yaml_node_t *list, yaml_node_type_t type,
			 const yaml_node_item_t **items)
{
	unsigned count;

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
		wrong(r, list,
		      type == YAML_MAPPING_NODE ? "expected a list of keys and values"
						: "expected a list of texts");
		return 0;
	}
	return count;
}

static void read_map(struct reading *r, const yaml_node_t *node, const struct map *map,
		     void *object);

static void read_list(struct reading *r, const yaml_node_t *list, const struct key *key,
		      char *object)
{
	const bool names = key->type == NAMES;
	const size_t size = names ? sizeof(const char *) : key->object->size;
	const yaml_node_item_t *items = NULL;
	unsigned count = items_of(r, list, names ? YAML_SCALAR_NODE : YAML_MAPPING_NODE, &items);
	char *item = room(r, count, size);

	memcpy(object + key->at, &item, sizeof(item));
	for (unsigned i = 0; item && i < count; i++) {
		const yaml_node_t *node = yaml_document_get_node(&r->document, items[i]);

		if (names)
			((const char **)(void *)item)[i] = scalar(r, node);
		else
			read_map(r, node, key->object, item + i * size);
	}
	/* A single UNDEFINED is not a name. */
	if (!item || (names && count == 1 && !**(const char **)(void *)item))
		count = 0;
	*(unsigned *)(void *)(object + key->count) = count;
}

static void read_map(struct reading *r, const yaml_node_t *node, const struct map *map,
		     void *object)
{
	for (const struct key *key = map->key; key->name; key++) {
		const yaml_node_t *value = member(r, node, key->name);
		void *to = (char *)object + key->at;
		int64_t order;

		switch (key->type) {
		case TEXT:
			*(const char **)to = scalar(r, value);
			break;
		case NUMBER:
			*(int64_t *)to = number(r, value);
			break;
		case ORDER:
			order = number(r, value);
			*(unsigned *)to = order < UINT16_MAX ? (unsigned)order : UINT16_MAX;
			break;
		case CALLBACK_TYPE:
			*(bool *)to = callback_type(r, node, value);
			break;
		case NAMES:
		case OBJECTS:
			read_list(r, value, key, object);
			break;
		}
		if (key->required && is_empty(key, object))
			wrong(r, node, key->required);
	}
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
	struct reading r = {.path = path, .err = err};
	const yaml_node_t *root;
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
	root = yaml_document_get_root_node(&r.document);
	r.architecture = kept(&r, architecture_new());
	if (r.architecture && root && root->type == YAML_MAPPING_NODE && member(&r, root, "nodes"))
		read_map(&r, root, &file_map, r.architecture);
	else
		wrong(&r, root, "not an architecture file of CARET: no key 'nodes'");
	yaml_document_delete(&r.document);
	if (!r.failed) {
		*result = r.architecture;
		return 0;
	}
	architecture_free(r.architecture);
	return -1;
}

/* ---- writing ---- */

struct writing {
	yaml_emitter_t emitter;
	yaml_event_t event;
	bool failed;
};

/* Emits w->event. @made: whether there was memory for it. */
static void emit(struct writing *w, int made)
{
	if (!made || w->failed || !yaml_emitter_emit(&w->emitter, &w->event))
		w->failed = true;
}

/* "" and NULL are CARET's UNDEFINED. */
static void write_text(struct writing *w, const char *text)
{
	const char *value = text && *text ? text : "UNDEFINED";
	char *valid = text_is_utf8(value) ? NULL : text_utf8(value);

	value = valid ? valid : value;
	emit(w, yaml_scalar_event_initialize(&w->event, NULL, NULL, (const yaml_char_t *)value,
					     (int)strlen(value), 1, 1, YAML_PLAIN_SCALAR_STYLE));
	free(valid);
}

static void write_number(struct writing *w, int64_t value)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, value);
	write_text(w, digits);
}

static void write_map(struct writing *w, const struct map *map, const void *object);

static void write_list(struct writing *w, const struct key *key, const char *object)
{
	static const union {
		struct arch_passing passing;
		const char *name;
	} undefined;
	unsigned count = *(const unsigned *)(const void *)(object + key->count);
	const char *item;

	memcpy(&item, object + key->at, sizeof(item));
	if (!count && key->one_undefined) {
		item = (const char *)&undefined;
		count = 1;
	}
	emit(w, yaml_sequence_start_event_initialize(&w->event, NULL, NULL, 1,
						     count ? YAML_BLOCK_SEQUENCE_STYLE
							   : YAML_FLOW_SEQUENCE_STYLE));
	for (unsigned i = 0; i < count; i++)
		if (key->type == NAMES)
			write_text(w, ((const char *const *)(const void *)item)[i]);
		else
			write_map(w, key->object, item + i * key->object->size);
	emit(w, yaml_sequence_end_event_initialize(&w->event));
}

static void write_value(struct writing *w, const struct key *key, const void *object)
{
	const void *value = (const char *)object + key->at;

	write_text(w, key->name);
	switch (key->type) {
	case TEXT:
		write_text(w, *(const char *const *)value);
		break;
	case NUMBER:
		write_number(w, *(const int64_t *)value);
		break;
	case ORDER:
		write_number(w, *(const unsigned *)value);
		break;
	case CALLBACK_TYPE:
		write_text(w, *(const bool *)value ? "timer_callback" : "subscription_callback");
		break;
	case NAMES:
	case OBJECTS:
		write_list(w, key, object);
		break;
	}
}

static void write_map(struct writing *w, const struct map *map, const void *object)
{
	emit(w, yaml_mapping_start_event_initialize(&w->event, NULL, NULL, 1,
						    YAML_BLOCK_MAPPING_STYLE));
	for (const struct key *key = map->key; key->name; key++)
		if ((!key->has || key->has(object)) &&
		    !((key->optional || key->type == ORDER) && is_empty(key, object)))
			write_value(w, key, object);
	emit(w, yaml_mapping_end_event_initialize(&w->event));
}

int architecture_write(const struct architecture *architecture, FILE *out, struct kymo_err *err)
{
	struct writing w = {.failed = false};

	if (!yaml_emitter_initialize(&w.emitter))
		return err_no_memory(err);
	yaml_emitter_set_output_file(&w.emitter, out);
	yaml_emitter_set_unicode(&w.emitter,
				 0); /* others are escaped: marks of direction are no text */
	emit(&w, yaml_stream_start_event_initialize(&w.event, YAML_UTF8_ENCODING));
	emit(&w, yaml_document_start_event_initialize(&w.event, NULL, NULL, NULL, 1));
	write_map(&w, &file_map, architecture);
	emit(&w, yaml_document_end_event_initialize(&w.event, 1));
	emit(&w, yaml_stream_end_event_initialize(&w.event));
	yaml_emitter_delete(&w.emitter);
	if (w.failed || fflush(out))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the architecture file");
	return 0;
}
