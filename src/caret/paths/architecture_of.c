/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An architecture computed from a model, with CARET's names and order; see architecture.h. What
 * CARET leaves out is left out: services, /rosout, /parameter_events, the nodes of its own tracer,
 * groups with only services.
 */
#include "caret/paths/architecture.h"

#include <stdlib.h>
#include <string.h>

#include "base/order.h"

struct making {
	struct architecture *architecture;
	const struct model *model;
	bool failed;
};

static void *room(struct making *m, size_t count, size_t size)
{
	void *memory = pool_new(&m->architecture->pool, count * size + 1);

	if (!memory)
		m->failed = true;
	return memory;
}

/* "BASE_007": @index with as many digits as @count has; @count 0: without leading zeros. */
static const char *indexed(struct making *m, const char *node, const char *base, unsigned index,
			   unsigned count)
{
	size_t size = strlen(node) + strlen(base) + 32;
	char *name = room(m, size, 1), digits[16];

	snprintf(digits, sizeof(digits), "%u", count);
	if (name)
		snprintf(name, size, "%s%s_%0*u", node, base, (int)strlen(digits), index);
	return name ? name : "";
}

static bool is_ignored(const struct model_topic *topic)
{
	return strcmp(topic->name, "/rosout") == 0 || strcmp(topic->name, "/parameter_events") == 0;
}

static bool is_of_tracer(const struct model_node *node)
{
	return strstr(node->full_name, "caret_trace_") != NULL;
}

/* ---- lists in the order of creation ---- */

/* What sorting needs of any object of the model; each begins with its index. */
struct item {
	const void *object;
	int64_t born_ns;
	const char *name;
};

static int by_birth(const void *a, const void *b)
{
	const struct item *x = a, *y = b;

	return ORDER(x->born_ns, y->born_ns) ?: ORDER(x->object, y->object);
}

static int by_name(const void *a, const void *b)
{
	const struct item *x = a, *y = b;
	int order = strcmp(x->name, y->name);

	return order ? order : by_birth(a, b);
}

/* ---- callbacks ---- */

static bool is_same_kind(const struct arch_callback *a, const struct arch_callback *b)
{
	if (a->is_timer != b->is_timer || strcmp(a->symbol, b->symbol) != 0)
		return false;
	return a->is_timer ? a->period_ns == b->period_ns : strcmp(a->topic, b->topic) == 0;
}

/* Does CARET list @callback for @node? Its twin for messages of the same process is the same
 * callback. */
static bool is_listed(const struct model_callback *callback, const struct model_node *node,
		      bool timers)
{
	if (callback->is_intra || model_callback_node(callback) != node)
		return false;
	if (timers)
		return callback->timer != NULL;
	return callback->subscription && !is_ignored(callback->subscription->topic);
}

static void add_callbacks(struct making *m, struct arch_node *to, const struct model_node *node)
{
	unsigned all = model_count(m->model, MODEL_CALLBACK), count = 0;
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned pass = 0; items && pass < 2; pass++) {
		unsigned first = count;

		for (unsigned i = 0; i < all; i++) {
			const struct model_callback *callback = model_callback(m->model, i);

			if (is_listed(callback, node, pass == 0))
				items[count++] = (struct item){ callback, callback->born_ns, "" };
		}
		qsort(items + first, count - first, sizeof(*items), by_birth);
	}
	to->callback = room(m, count, sizeof(*to->callback));
	for (unsigned i = 0; to->callback && i < count; i++) {
		const struct model_callback *callback = items[i].object;
		struct arch_callback *made = &to->callback[i];

		made->callback = callback;
		made->name = indexed(m, to->name, "/callback", i, count);
		made->is_timer = callback->timer != NULL;
		made->period_ns = callback->timer ? callback->timer->period_ns : 0;
		made->topic = callback->subscription ? callback->subscription->topic->name : "";
		made->symbol = callback->raw_symbol;
		for (unsigned k = 0; k < i; k++)
			made->order += is_same_kind(&to->callback[k], made);
		to->callbacks++;
	}
}

static const char *name_of(const struct arch_node *node, const struct model_callback *callback)
{
	for (unsigned i = 0; i < node->callbacks; i++)
		if (node->callback[i].callback == callback)
			return node->callback[i].name;
	return "";
}

/* ---- groups ---- */

static int by_text(const void *a, const void *b)
{
	return strcmp(*(const char *const *)a, *(const char *const *)b);
}

/* Names of the node's callbacks in @group; NULL: none. */
static const char **members(struct making *m, const struct arch_node *node,
			    const struct model_callback_group *group, unsigned *count)
{
	const char **names = room(m, node->callbacks, sizeof(*names));

	*count = 0;
	for (unsigned i = 0; names && i < node->callbacks; i++)
		if (model_callback_group_of(node->callback[i].callback) == group)
			names[(*count)++] = node->callback[i].name;
	if (names)
		qsort(names, *count, sizeof(*names), by_text);
	return names;
}

/* The architecture's name for each group of the model; for executors. */
struct named {
	const char **group;		/* NULL: left out */
	const struct model_node **node;
};

static void add_groups(struct making *m, struct arch_node *to, const struct model_node *node,
		       struct named *named)
{
	unsigned all = model_count(m->model, MODEL_CALLBACK_GROUP), count = 0;
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned i = 0; items && i < all; i++) {
		const struct model_callback_group *group = model_callback_group(m->model, i);

		items[count++] = (struct item){ group, group->born_ns, "" };
	}
	if (items)
		qsort(items, count, sizeof(*items), by_birth);
	to->group = room(m, count, sizeof(*to->group));
	for (unsigned i = 0; items && to->group && i < count; i++) {
		const struct model_callback_group *group = items[i].object;
		struct arch_group made = { .type = group->type };

		made.callback = members(m, to, group, &made.callbacks);
		if (!made.callbacks)
			continue;
		made.name = indexed(m, to->name, "/callback_group", to->groups, 0);
		to->group[to->groups++] = made;
		named->group[group->index] = made.name;
		named->node[group->index] = node;
	}
}

/* ---- publishers, subscriptions, contexts ---- */

static void add_publishers(struct making *m, struct arch_node *to, const struct model_node *node)
{
	unsigned all = model_count(m->model, MODEL_PUBLISHER), count = 0;
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned i = 0; items && i < all; i++) {
		const struct model_publisher *p = model_publisher(m->model, i);

		if (p->node == node && !is_ignored(p->topic))
			items[count++] = (struct item){ p, p->born_ns, p->topic->name };
	}
	if (items)
		qsort(items, count, sizeof(*items), by_name);
	to->publish = room(m, count, sizeof(*to->publish));
	for (unsigned i = 0; to->publish && i < count; i++) {
		struct arch_publish *made = &to->publish[to->publishes++];

		made->topic = items[i].name;
		made->order =
			i && strcmp(items[i - 1].name, made->topic) == 0 ? made[-1].order + 1 : 0;
		/* The publisher belongs to the node's only callback. */
		if (to->callbacks != 1)
			continue;
		made->callback = room(m, 1, sizeof(*made->callback));
		if (!made->callback)
			return;
		made->callback[0] = to->callback[0].name;
		made->callbacks = 1;
	}
}

static void add_subscriptions(struct making *m, struct arch_node *to, const struct model_node *node)
{
	unsigned all = model_count(m->model, MODEL_SUBSCRIPTION), count = 0;
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned i = 0; items && i < all; i++) {
		const struct model_subscription *s = model_subscription(m->model, i);

		if (s->node == node && !is_ignored(s->topic))
			items[count++] = (struct item){ s, s->born_ns, s->topic->name };
	}
	if (items)
		qsort(items, count, sizeof(*items), by_name);
	to->subscribe = room(m, count, sizeof(*to->subscribe));
	for (unsigned i = 0; to->subscribe && i < count; i++) {
		struct arch_subscribe *made = &to->subscribe[to->subscribes++];

		made->topic = items[i].name;
		made->order =
			i && strcmp(items[i - 1].name, made->topic) == 0 ? made[-1].order + 1 : 0;
		made->callback = "";
		for (unsigned k = 0; k < to->callbacks; k++)
			if (to->callback[k].callback->subscription == items[i].object)
				made->callback = name_of(to, to->callback[k].callback);
	}
}

static void add_contexts(struct making *m, struct arch_node *to)
{
	to->context = room(m, (size_t)to->subscribes * to->publishes, sizeof(*to->context));
	for (unsigned i = 0; to->context && i < to->subscribes; i++)
		for (unsigned k = 0; k < to->publishes; k++) {
			struct arch_context *made = &to->context[to->contexts++];

			made->type = "";
			made->subscription_topic = to->subscribe[i].topic;
			made->subscription_order = to->subscribe[i].order;
			made->publisher_topic = to->publish[k].topic;
			made->publisher_order = to->publish[k].order;
			if (to->callbacks != 1 || !*to->subscribe[i].callback)
				continue;
			made->type = "callback_chain";
			made->callback = to->publish[k].callback;
			made->callbacks = to->publish[k].callbacks;
		}
}

/* ---- nodes and executors ---- */

static void add_nodes(struct making *m, struct named *named)
{
	struct architecture *a = m->architecture;
	unsigned all = model_count(m->model, MODEL_NODE), count = 0;
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned i = 0; items && i < all; i++) {
		const struct model_node *node = model_node(m->model, i);

		if (!is_of_tracer(node))
			items[count++] = (struct item){ node, node->born_ns, node->full_name };
	}
	if (items)
		qsort(items, count, sizeof(*items), by_name);
	a->node = room(m, count, sizeof(*a->node));
	for (unsigned i = 0; !m->failed && i < count; i++) {
		struct arch_node *made = &a->node[a->nodes];

		/* CARET knows only the first of several nodes with one name. */
		if (i && strcmp(items[i - 1].name, items[i].name) == 0)
			continue;
		made->name = items[i].name;
		a->nodes++;
		add_callbacks(m, made, items[i].object);
		add_groups(m, made, items[i].object, named);
		add_publishers(m, made, items[i].object);
		add_subscriptions(m, made, items[i].object);
		add_contexts(m, made);
	}
}

static int by_address(const void *a, const void *b)
{
	const struct model_executor *x = ((const struct item *)a)->object;
	const struct model_executor *y = ((const struct item *)b)->object;

	return ORDER(x->address, y->address) ?: by_birth(a, b);
}

static void add_executors(struct making *m, const struct named *named)
{
	struct architecture *a = m->architecture;
	unsigned all = model_count(m->model, MODEL_EXECUTOR), count = 0;
	unsigned groups = model_count(m->model, MODEL_CALLBACK_GROUP);
	struct item *items = room(m, all, sizeof(*items));

	for (unsigned i = 0; items && i < all; i++) {
		const struct model_executor *executor = model_executor(m->model, i);
		bool used = false;

		for (unsigned k = 0; k < groups; k++)
			used |= named->group[k] &&
				model_callback_group(m->model, k)->executor == executor;
		if (used)
			items[count++] = (struct item){ executor, executor->born_ns, "" };
	}
	if (items)
		qsort(items, count, sizeof(*items), by_address);
	a->executor = room(m, count, sizeof(*a->executor));
	for (unsigned i = 0; !m->failed && i < count; i++) {
		struct arch_executor *made = &a->executor[i];

		made->name = indexed(m, "", "executor", i, count);
		made->type = ((const struct model_executor *)items[i].object)->type;
		made->group = room(m, groups, sizeof(*made->group));
		for (unsigned k = 0; made->group && k < groups; k++)
			if (named->group[k] &&
			    model_callback_group(m->model, k)->executor == items[i].object)
				made->group[made->groups++] = named->group[k];
		if (made->group)
			qsort(made->group, made->groups, sizeof(*made->group), by_text);
		a->executors++;
	}
}

int architecture_of(struct architecture **result, const struct model *model, struct kymo_err *err)
{
	struct making m = { .architecture = architecture_new(), .model = model };
	unsigned groups = model_count(model, MODEL_CALLBACK_GROUP);
	struct named named;

	if (!m.architecture)
		return err_no_memory(err);
	named.group = room(&m, groups, sizeof(*named.group));
	named.node = room(&m, groups, sizeof(*named.node));
	if (named.group && named.node) {
		add_nodes(&m, &named);
		if (!m.failed)
			add_executors(&m, &named);
	}
	if (m.failed) {
		architecture_free(m.architecture);
		return err_no_memory(err);
	}
	*result = m.architecture;
	return 0;
}
