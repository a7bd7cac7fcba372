/* SPDX-License-Identifier: Apache-2.0 */
/* Reads architecture files. */
#include "caret/paths/architecture.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include "caret/paths/architecture_keys.h"
#include "yaml/yaml_file.h"

/* A larger file is not an architecture file. */
#define FILE_MAX (64u << 20)

struct reading {
	struct architecture *architecture;
	struct yaml_file yaml;
};

static void *room(struct reading *r, size_t count, size_t size)
{
	return yaml_kept(&r->yaml, count < SIZE_MAX / size
					   ? pool_new(&r->architecture->pool, count * size + 1)
					   : NULL);
}

static const yaml_node_t *member(struct reading *r, const yaml_node_t *map, const char *key)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top; pair++) {
		if (strcmp(yaml_scalar(yaml_at(&r->yaml, pair->key)), key) == 0)
			return yaml_at(&r->yaml, pair->value);
	}
	return NULL;
}

static const char *scalar(struct reading *r, const yaml_node_t *node)
{
	const char *text;

	if (node && node->type != YAML_SCALAR_NODE)
		yaml_wrong(&r->yaml, node, "expected text");
	if (!node || node->type != YAML_SCALAR_NODE)
		return "";
	text = (const char *)node->data.scalar.value;
	if (strcmp(text, "UNDEFINED") == 0 || strcmp(text, "null") == 0)
		return "";
	text = yaml_kept(&r->yaml, pool_text(&r->architecture->pool, text, strlen(text)));
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
	yaml_wrong(&r->yaml, node, "expected a number of 0 or more");
	return 0;
}

static bool callback_type(struct reading *r, const yaml_node_t *map, const yaml_node_t *node)
{
	const char *type = scalar(r, node);

	if (strcmp(type, "timer_callback") != 0 && strcmp(type, "subscription_callback") != 0)
		yaml_wrong(&r->yaml, map, "callback_type is neither timer_callback nor subscription_callback");
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
		yaml_wrong(&r->yaml, list, "expected a list");
		return 0;
	}
	*items = list->data.sequence.items.start;
	count = (unsigned)(list->data.sequence.items.top - list->data.sequence.items.start);
	for (unsigned i = 0; i < count; i++) {
		const yaml_node_t *item = yaml_at(&r->yaml, (*items)[i]);

		if (item && item->type == type)
			continue;
		yaml_wrong(&r->yaml, list,
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
		const yaml_node_t *node = yaml_at(&r->yaml, items[i]);

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
			yaml_wrong(&r->yaml, node, key->required);
	}
}

int architecture_read(struct architecture **result, const char *path, struct kymo_err *err)
{
	struct reading r = {
		.yaml = { .path = path,
			  .remedy = "create the file with kymo export --format caret-architecture, or see docs/caret.md",
			  .err = err },
	};
	const yaml_node_t *root;

	if (yaml_file_load(&r.yaml, FILE_MAX))
		return -1;
	root = yaml_document_get_root_node(&r.yaml.document);
	r.architecture = yaml_kept(&r.yaml, architecture_new());
	if (r.architecture && root && root->type == YAML_MAPPING_NODE && member(&r, root, "nodes"))
		read_map(&r, root, &architecture_file_map, r.architecture);
	else
		yaml_wrong(&r.yaml, root, "not an architecture file of CARET: no key 'nodes'");
	yaml_document_delete(&r.yaml.document);
	if (!r.yaml.failed) {
		*result = r.architecture;
		return 0;
	}
	architecture_free(r.architecture);
	return -1;
}
