/* SPDX-License-Identifier: Apache-2.0 */
/* Reads architecture files. */
#include "caret/paths/architecture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <yaml.h>

#include "base/text.h"
#include "caret/paths/architecture_keys.h"

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

static void read_map(struct reading *r, const yaml_node_t *node, const struct arch_map *map,
		     void *object);

static void read_list(struct reading *r, const yaml_node_t *list, const struct arch_key *key,
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

static void read_map(struct reading *r, const yaml_node_t *node, const struct arch_map *map,
		     void *object)
{
	for (const struct arch_key *key = map->key; key->name; key++) {
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
		if (key->required && architecture_has_none(key, object))
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
	struct reading r = { .path = path, .err = err };
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
		read_map(&r, root, &architecture_file_map, r.architecture);
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
