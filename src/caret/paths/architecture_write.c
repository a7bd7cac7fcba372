/* SPDX-License-Identifier: Apache-2.0 */
/* Writing architecture files, with CARET's order of keys. */
#include "caret/paths/architecture.h"

#include <inttypes.h>
#include <string.h>
#include <yaml.h>

struct writing {
	yaml_emitter_t emitter;
	bool failed;
};

static void emit(struct writing *w, yaml_event_t *event, int made)
{
	if (!made || w->failed || !yaml_emitter_emit(&w->emitter, event))
		w->failed = true;
}

static void value(struct writing *w, const char *text)
{
	yaml_event_t event;

	emit(w, &event, yaml_scalar_event_initialize(&event, NULL, NULL, (const yaml_char_t *)text,
						     (int)strlen(text), 1, 1, YAML_PLAIN_SCALAR_STYLE));
}

static void text(struct writing *w, const char *key, const char *what)
{
	value(w, key);
	value(w, *what ? what : "UNDEFINED");
}

static void number(struct writing *w, const char *key, int64_t what)
{
	char digits[32];

	snprintf(digits, sizeof(digits), "%" PRId64, what);
	value(w, key);
	value(w, digits);
}

static void order(struct writing *w, const char *key, unsigned what)
{
	if (what)
		number(w, key, what);
}

static void map(struct writing *w)
{
	yaml_event_t event;

	emit(w, &event, yaml_mapping_start_event_initialize(&event, NULL, NULL, 1,
							    YAML_BLOCK_MAPPING_STYLE));
}

static void map_end(struct writing *w)
{
	yaml_event_t event;

	emit(w, &event, yaml_mapping_end_event_initialize(&event));
}

static void list(struct writing *w, const char *key, unsigned count)
{
	yaml_event_t event;

	value(w, key);
	emit(w, &event, yaml_sequence_start_event_initialize(
				&event, NULL, NULL, 1,
				count ? YAML_BLOCK_SEQUENCE_STYLE : YAML_FLOW_SEQUENCE_STYLE));
}

static void list_end(struct writing *w)
{
	yaml_event_t event;

	emit(w, &event, yaml_sequence_end_event_initialize(&event));
}

static void names(struct writing *w, const char *key, const char *const *name, unsigned count)
{
	list(w, key, count);
	for (unsigned i = 0; i < count; i++)
		value(w, name[i]);
	list_end(w);
}

/* ---- the file ---- */

static void write_path(struct writing *w, const struct arch_path *path)
{
	map(w);
	text(w, "path_name", path->name);
	list(w, "node_chain", path->hops);
	for (unsigned i = 0; i < path->hops; i++) {
		const struct arch_hop *hop = &path->hop[i];

		map(w);
		text(w, "node_name", hop->node);
		text(w, "publish_topic_name", hop->publish_topic);
		text(w, "subscribe_topic_name", hop->subscribe_topic);
		order(w, "publisher_construction_order", hop->publisher_order);
		order(w, "subscription_construction_order", hop->subscription_order);
		map_end(w);
	}
	list_end(w);
	map_end(w);
}

static void write_executor(struct writing *w, const struct arch_executor *executor)
{
	map(w);
	text(w, "executor_type", executor->type);
	text(w, "executor_name", executor->name);
	names(w, "callback_group_names", executor->group, executor->groups);
	map_end(w);
}

static void write_callbacks(struct writing *w, const struct arch_node *node)
{
	list(w, "callbacks", node->callbacks);
	for (unsigned i = 0; i < node->callbacks; i++) {
		const struct arch_callback *callback = &node->callback[i];

		map(w);
		text(w, "callback_name", callback->name);
		text(w, "callback_type",
		     callback->is_timer ? "timer_callback" : "subscription_callback");
		if (callback->is_timer)
			number(w, "period_ns", callback->period_ns);
		else
			text(w, "topic_name", callback->topic);
		text(w, "symbol", callback->symbol);
		order(w, "construction_order", callback->order);
		map_end(w);
	}
	list_end(w);
}

static void write_passings(struct writing *w, const struct arch_node *node)
{
	static const struct arch_passing undefined = { "", "" };
	unsigned count = node->passings ? node->passings : 1;

	list(w, "variable_passings", count);
	for (unsigned i = 0; i < count; i++) {
		const struct arch_passing *passing = node->passings ? &node->passing[i] : &undefined;

		map(w);
		text(w, "callback_name_write", passing->write);
		text(w, "callback_name_read", passing->read);
		map_end(w);
	}
	list_end(w);
}

static void write_ends(struct writing *w, const struct arch_node *node)
{
	static const char *const undefined[] = { "UNDEFINED" };

	if (node->publishes) {
		list(w, "publishes", node->publishes);
		for (unsigned i = 0; i < node->publishes; i++) {
			const struct arch_publish *publish = &node->publish[i];

			map(w);
			text(w, "topic_name", publish->topic);
			names(w, "callback_names", publish->callbacks ? publish->callback : undefined,
			      publish->callbacks ? publish->callbacks : 1);
			order(w, "construction_order", publish->order);
			map_end(w);
		}
		list_end(w);
	}
	if (!node->subscribes)
		return;
	list(w, "subscribes", node->subscribes);
	for (unsigned i = 0; i < node->subscribes; i++) {
		map(w);
		text(w, "topic_name", node->subscribe[i].topic);
		text(w, "callback_name", node->subscribe[i].callback);
		order(w, "construction_order", node->subscribe[i].order);
		map_end(w);
	}
	list_end(w);
}

static void write_contexts(struct writing *w, const struct arch_node *node)
{
	list(w, "message_contexts", node->contexts);
	for (unsigned i = 0; i < node->contexts; i++) {
		const struct arch_context *context = &node->context[i];

		map(w);
		text(w, "context_type", context->type);
		text(w, "subscription_topic_name", context->subscription_topic);
		text(w, "publisher_topic_name", context->publisher_topic);
		order(w, "subscription_construction_order", context->subscription_order);
		order(w, "publisher_construction_order", context->publisher_order);
		if (context->callbacks)
			names(w, "callbacks", context->callback, context->callbacks);
		map_end(w);
	}
	list_end(w);
}

static void write_node(struct writing *w, const struct arch_node *node)
{
	map(w);
	text(w, "node_name", node->name);
	list(w, "callback_groups", node->groups);
	for (unsigned i = 0; i < node->groups; i++) {
		map(w);
		text(w, "callback_group_type", node->group[i].type);
		text(w, "callback_group_name", node->group[i].name);
		names(w, "callback_names", node->group[i].callback, node->group[i].callbacks);
		map_end(w);
	}
	list_end(w);
	if (node->callbacks)
		write_callbacks(w, node);
	if (node->callbacks > 1)
		write_passings(w, node);
	write_ends(w, node);
	if (node->subscribes && node->publishes)
		write_contexts(w, node);
	map_end(w);
}

static void write_document(struct writing *w, const struct architecture *a)
{
	map(w);
	list(w, "named_paths", a->paths);
	for (unsigned i = 0; i < a->paths; i++)
		write_path(w, &a->path[i]);
	list_end(w);
	list(w, "executors", a->executors);
	for (unsigned i = 0; i < a->executors; i++)
		write_executor(w, &a->executor[i]);
	list_end(w);
	list(w, "nodes", a->nodes);
	for (unsigned i = 0; i < a->nodes; i++)
		write_node(w, &a->node[i]);
	list_end(w);
	map_end(w);
}

int architecture_write(const struct architecture *architecture, FILE *out, struct kymo_err *err)
{
	struct writing w = { .failed = false };
	yaml_event_t event;

	if (!yaml_emitter_initialize(&w.emitter))
		return err_no_memory(err);
	yaml_emitter_set_output_file(&w.emitter, out);
	yaml_emitter_set_unicode(&w.emitter, 1);
	emit(&w, &event, yaml_stream_start_event_initialize(&event, YAML_UTF8_ENCODING));
	emit(&w, &event, yaml_document_start_event_initialize(&event, NULL, NULL, NULL, 1));
	write_document(&w, architecture);
	emit(&w, &event, yaml_document_end_event_initialize(&event, 1));
	emit(&w, &event, yaml_stream_end_event_initialize(&event));
	yaml_emitter_delete(&w.emitter);
	if (w.failed || fflush(out))
		return err_set(err, KYMO_EXIT_FAILED, "cannot write the architecture file");
	return 0;
}
