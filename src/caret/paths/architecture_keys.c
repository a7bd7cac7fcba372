/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One table for each kind of object has the keys of an architecture file in CARET's order,
 * and the members of the struct that they are; reading and writing walk through the same tables.
 */
#include "caret/paths/architecture_keys.h"

#include "caret/paths/architecture.h"

/* clang-format off */
#define MAP(of, ...) \
	{ (const struct arch_key[]){ __VA_ARGS__, { .name = NULL } }, sizeof(struct of) }
#define KEY(key, kind, of, member) .name = key, .type = kind, .at = offsetof(struct of, member)
#define LIST(key, of, member, counted, item) \
	KEY(key, OBJECTS, of, member), .count = offsetof(struct of, counted), .object = item
#define NAME_LIST(key, of, member, counted) \
	KEY(key, NAMES, of, member), .count = offsetof(struct of, counted)

static const struct arch_map hop_map = MAP(arch_hop,
	{ KEY("node_name", TEXT, arch_hop, node) },
	{ KEY("publish_topic_name", TEXT, arch_hop, publish_topic) },
	{ KEY("subscribe_topic_name", TEXT, arch_hop, subscribe_topic) },
	{ KEY("publisher_construction_order", ORDER, arch_hop, publisher_order) },
	{ KEY("subscription_construction_order", ORDER, arch_hop, subscription_order) });

#define NEEDS_PATH "a path needs a path_name and a node_chain"

static const struct arch_map path_map = MAP(arch_path,
	{ KEY("path_name", TEXT, arch_path, name), .required = NEEDS_PATH },
	{ LIST("node_chain", arch_path, hop, hops, &hop_map), .required = NEEDS_PATH });

static const struct arch_map executor_map = MAP(arch_executor,
	{ KEY("executor_type", TEXT, arch_executor, type) },
	{ KEY("executor_name", TEXT, arch_executor, name) },
	{ NAME_LIST("callback_group_names", arch_executor, group, groups) });

static const struct arch_map group_map = MAP(arch_group,
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

static const struct arch_map callback_map = MAP(arch_callback,
	{ KEY("callback_name", TEXT, arch_callback, name) },
	{ KEY("callback_type", CALLBACK_TYPE, arch_callback, is_timer) },
	{ KEY("period_ns", NUMBER, arch_callback, period_ns), .has = is_timer },
	{ KEY("topic_name", TEXT, arch_callback, topic), .has = is_subscription },
	{ KEY("symbol", TEXT, arch_callback, symbol) },
	{ KEY("construction_order", ORDER, arch_callback, order) });

static const struct arch_map passing_map = MAP(arch_passing,
	{ KEY("callback_name_write", TEXT, arch_passing, write) },
	{ KEY("callback_name_read", TEXT, arch_passing, read) });

static const struct arch_map publish_map = MAP(arch_publish,
	{ KEY("topic_name", TEXT, arch_publish, topic) },
	{ NAME_LIST("callback_names", arch_publish, callback, callbacks), .one_undefined = true },
	{ KEY("construction_order", ORDER, arch_publish, order) });

static const struct arch_map subscribe_map = MAP(arch_subscribe,
	{ KEY("topic_name", TEXT, arch_subscribe, topic) },
	{ KEY("callback_name", TEXT, arch_subscribe, callback) },
	{ KEY("construction_order", ORDER, arch_subscribe, order) });

static const struct arch_map context_map = MAP(arch_context,
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

static const struct arch_map node_map = MAP(arch_node,
	{ KEY("node_name", TEXT, arch_node, name), .required = "a node needs a node_name" },
	{ LIST("callback_groups", arch_node, group, groups, &group_map) },
	{ LIST("callbacks", arch_node, callback, callbacks, &callback_map), .optional = true },
	{ LIST("variable_passings", arch_node, passing, passings, &passing_map), .has = has_passings,
	  .one_undefined = true },
	{ LIST("publishes", arch_node, publish, publishes, &publish_map), .optional = true },
	{ LIST("subscribes", arch_node, subscribe, subscribes, &subscribe_map), .optional = true },
	{ LIST("message_contexts", arch_node, context, contexts, &context_map), .has = has_contexts });

const struct arch_map architecture_file_map = MAP(architecture,
	{ LIST("named_paths", architecture, path, paths, &path_map) },
	{ LIST("executors", architecture, executor, executors, &executor_map) },
	{ LIST("nodes", architecture, node, nodes, &node_map) });

/* clang-format on */

bool architecture_has_none(const struct arch_key *key, const char *object)
{
	if (key->type == TEXT)
		return !**(const char *const *)(const void *)(object + key->at);
	if (key->type == ORDER)
		return !*(const unsigned *)(const void *)(object + key->at);
	return !*(const unsigned *)(const void *)(object + key->count);
}
