/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rows of a path: communications and nodes in turn.
 *
 *   [callback start -] publish - arrival - publish - arrival ... [- callback end]
 *    first callback    `-- communication --' `node' `--------'     last callback
 *
 * A communication joins a publication with the callback that received it. A node joins the
 * callbacks of its subscription with its publications, by the rule of its message context: the
 * callbacks of a chain, the same stamp in the messages' headers, the same id of TILDE's, or the
 * latest message. The path's rows are then joined with each of these tables in turn.
 */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "caret/paths/caret_internal.h"

static const char *keep(struct caret *caret, const char *format, const char *a, const char *b)
{
	char text[1024];
	const char *copy;

	snprintf(text, sizeof(text), format, a, b);
	copy = pool_text(&caret->pool, text, strlen(text));
	if (!copy)
		caret->failed = true;
	return copy ? copy : "";
}

/* The name of a hop's callback in the user's architecture, else in the one from the trace. */
static const char *callback_name(struct caret *caret, const struct arch_hop *hop)
{
	const struct architecture *from[2] = { caret->options.architecture, caret->seen };

	for (unsigned k = 0; k < 2; k++) {
		const struct arch_node *node =
			from[k] ? architecture_find_node(from[k], hop->node) : NULL;

		for (unsigned i = 0; node && i < node->subscribes; i++)
			if (strcmp(node->subscribe[i].topic, hop->subscribe_topic) == 0 &&
			    node->subscribe[i].order == hop->subscription_order &&
			    *node->subscribe[i].callback)
				return node->subscribe[i].callback;
	}
	return keep(caret, "%s %s", hop->node, hop->subscribe_topic);
}

/* Why @path cannot have rows, or NULL. */
static const char *problem_of(struct caret *caret, const struct arch_path *path)
{
	if (path->hops < 2)
		return "the path has fewer than two nodes";
	for (unsigned i = 0; i < path->hops; i++) {
		const struct arch_hop *hop = &path->hop[i];

		if (i + 1 < path->hops && !caret_has_end(caret, MODEL_PUBLISHER, hop))
			return keep(caret, "%s has no publisher of %s in the trace", hop->node,
				    hop->publish_topic);
		if (i && !caret_has_end(caret, MODEL_SUBSCRIPTION, hop))
			return keep(caret, "%s has no subscription of %s in the trace", hop->node,
				    hop->subscribe_topic);
		if (i && strcmp(path->hop[i - 1].publish_topic, hop->subscribe_topic) != 0)
			return keep(caret, "%s is published, but %s is subscribed next on the path",
				    path->hop[i - 1].publish_topic, hop->subscribe_topic);
	}
	return NULL;
}

static bool has_stamps(const struct caret *caret, const struct arch_hop *hop)
{
	struct records publications;
	bool any = caret_table(caret, CARET_STAMPED_PUBLICATIONS, hop, &publications) ||
		   publications.rows;

	records_free(&publications);
	return any;
}

/* The rule of the message context of @hop; with @problem if it cannot be followed. */
static struct context_rule rule_of(struct caret *caret, const struct arch_hop *hop,
				   const char **problem)
{
	const struct architecture *architecture = caret->options.architecture;
	struct context_rule rule = { architecture ? architecture_find_node(architecture, hop->node)
						  : NULL,
				     NULL, false, false };
	const struct arch_context *context =
		rule.node ? architecture_find_context(rule.node, hop) : NULL;

	if (!context || !*context->type || strcmp(context->type, "use_latest_message") == 0)
		return rule;
	if (strcmp(context->type, "callback_chain") == 0) {
		rule.chain = context->callbacks ? context : NULL;
		if (!rule.chain)
			*problem = keep(caret, "the callback_chain of %s to %s lists no callbacks",
					hop->node, hop->publish_topic);
	} else if (strcmp(context->type, "inherit_unique_stamp") == 0) {
		rule.by_stamp = true;
		if (!has_stamps(caret, hop))
			*problem = keep(caret, "%s has the message context inherit_unique_stamp, and the "
					"trace does not have the stamps of messages on %s: only some versions of "
					"CARET's rclcpp for Humble record them (message_timestamp); change it to "
					"use_latest_message or callback_chain", hop->node,
					hop->publish_topic);
	} else if (strcmp(context->type, "tilde") == 0) {
		rule.by_tilde = true;
		if (!caret_tilde_has(caret, hop))
			*problem = keep(caret,
					"%s has the message context tilde, and the trace does not "
					"have TILDE's ids of messages on %s: its events "
					"tilde_subscribe and tilde_publish; change it to "
					"use_latest_message or callback_chain",
					hop->node, hop->publish_topic);
	} else {
		*problem = keep(caret,
				"%s has the message context %s, which does not exist; change it to "
				"use_latest_message, callback_chain, inherit_unique_stamp or tilde",
				hop->node, context->type);
	}
	return rule;
}

struct building {
	struct caret *caret;
	struct caret_path *path;
	unsigned named, room;		/* segments with a name */
};

/* Names the segment from the next column on; its times are of the node of hop @at. */
static void name(struct building *b, const char *what, unsigned at)
{
	struct caret_path *path = b->path;
	unsigned columns = b->room;

	if (!ARRAY_FIT(path->column, b->named + 2, columns) ||
	    !ARRAY_FIT(path->process, b->named + 2, b->room)) {
		b->caret->failed = true;
		return;
	}
	path->process[b->named] = caret_process(b->caret, &path->path->hop[at]);
	path->process[b->named + 1] = NULL;
	path->column[b->named++] = what;
}

static void name_chain(struct building *b, const struct arch_context *context, unsigned at)
{
	for (unsigned i = 0; i < context->callbacks; i++) {
		name(b, context->callback[i], at);
		if (i + 1 < context->callbacks)
			name(b, keep(b->caret, "%s%s", context->callback[i], "_end"), at);
	}
}

/* Joins the path's rows with @right, which is freed. */
static int append(struct caret_path *path, struct records *right)
{
	struct records out;
	int rc = records_join(&path->records, path->records.columns - 1, right, 0, &out);

	records_free(&path->records);
	records_free(right);
	path->records = out;
	return rc;
}

/* After a chain: a callback may publish several times, and each publication is followed. */
static int append_after_chain(struct caret_path *path, struct records *right)
{
	unsigned last = path->records.columns - 1;
	int rc = records_follow_in(&path->records, last, right, true);

	for (size_t i = 0; i < path->records.rows; i++) {
		int64_t *row = records_row(&path->records, i);

		if (row[last + 1])
			row[last] = row[last + 1];
	}
	records_drop(&path->records, last + 1);
	records_free(right);
	return rc;
}

static int append_node(struct building *b, unsigned at)
{
	const struct arch_hop *hop = &b->path->path->hop[at];
	const struct context_rule rule = rule_of(b->caret, hop, &b->path->problem);
	const struct arch_context *chained = rule.chain;
	struct records rows;
	int rc;

	if (b->path->problem)
		return 0;
	if (chained)
		name_chain(b, chained, at);
	else
		name(b, callback_name(b->caret, hop), at);
	rc = caret_node_rows(b->caret, hop, &rule, &rows);
	if (!rc)
		rc = append(b->path, &rows);
	name(b, hop->publish_topic, at);
	if (!rc)
		rc = caret_communication(b->caret, hop, hop + 1, &rows);
	if (rc)
		return rc;
	return chained ? append_after_chain(b->path, &rows) : append(b->path, &rows);
}

static int append_end(struct building *b)
{
	const struct arch_hop *hop = &b->path->path->hop[b->path->path->hops - 1];
	struct records runs;
	int rc = caret_table(b->caret, CARET_RUNS, hop, &runs);

	records_drop(&runs, 2);
	name(b, callback_name(b->caret, hop), b->path->path->hops - 1);
	return rc ? rc : append(b->path, &runs);
}

int caret_path_build(struct caret *caret, struct caret_path *path)
{
	struct building b = { .caret = caret, .path = path };
	const struct arch_hop *hop = path->path->hop;
	struct records rows;
	int rc;

	path->problem = problem_of(caret, path->path);
	if (path->problem)
		return 0;
	rc = caret_communication(caret, &hop[0], &hop[1], &path->records);
	if (!rc && caret->options.first_callback) {
		rows = path->records;
		rc = caret_first_rows(caret, &hop[0], &path->records);
		if (!rc)
			rc = append(path, &rows);
		name(&b, keep(caret, "%s/%s", hop->node, "callback_x"), 0);
	}
	name(&b, hop->publish_topic, 0);
	for (unsigned i = 1; !rc && !path->problem && i + 1 < path->path->hops; i++)
		rc = append_node(&b, i);
	if (!rc && !path->problem && caret->options.last_callback)
		rc = append_end(&b);
	if (!caret->failed)
		path->process[b.named] = caret_process(caret, &hop[path->path->hops - 1]);
	records_sort(&path->records, 0);
	for (size_t i = 0; i < path->records.rows; i++)
		path->complete += records_row(&path->records, i)[path->records.columns - 1] != 0;
	return rc;
}

int64_t caret_path_error(const struct caret_path *path, unsigned from, unsigned to, int64_t ns)
{
	const struct model_process *a = path->process[from], *b = path->process[to];

	return a == b ? 0 : model_clock_error(a, b, ns);
}
