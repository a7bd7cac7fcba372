/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message context `tilde`: which publications an arrival led to, by the ids that TILDE gives
 * messages.
 *
 *   callback_start - tilde_subscribe(id) ... tilde_publish(id) - rclcpp_publish
 *                    `---------------- equal id ----------------'
 *
 * TILDE's subscription reports the id of the message that it received, in its callback; its
 * publisher reports, just before it publishes, for each subscription the id of the message that it
 * used. Objects of TILDE have numbers of their own; three other events name their nodes and topics.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "caret/paths/caret_internal.h"

enum { PUBLISHER_INIT, SUBSCRIPTION_INIT, SUBSCRIBE_ADDED, SUBSCRIBE, PUBLISH, ROWS };
enum { OBJECT, NODE, TOPIC };                         /* of the first three */
enum { INPUT = 1, SUBSCRIBE_ID = 1, PUBLISH_ID = 2 }; /* of the other two, behind OBJECT */

static const struct kymo_ctf_bind rows[ROWS] = {
	[PUBLISHER_INIT] = { "ros2_caret:tilde_publisher_init",
			     { "publisher", "node_name", "topic_name" } },
	[SUBSCRIPTION_INIT] = { "ros2_caret:tilde_subscription_init",
				{ "subscription", "node_name", "topic_name" } },
	[SUBSCRIBE_ADDED] = { "ros2_caret:tilde_subscribe_added",
			      { "subscription_id", "node_name", "topic_name" } },
	[SUBSCRIBE] = { "ros2_caret:tilde_subscribe", { "subscription", "tilde_message_id" } },
	[PUBLISH] = { "ros2_caret:tilde_publish",
		      { "publisher", "subscription_id", "tilde_message_id" } },
};

/* An object of a process of TILDE's: what one of the first three events says. */
struct caret_tilde_name {
	int kind;
	uint32_t trace;
	int32_t pid;
	uint64_t object;
	const char *node, *topic;
};

/* One of the other two events. */
struct caret_tilde_row {
	int kind;
	unsigned name, input; /* indexes of names; input: of PUBLISH */
	int64_t ns, id, tid;
};

int caret_tilde_bind(struct caret *caret, struct kymo_err *err)
{
	return model_bind_also(caret->model, rows, ROWS, &caret->tilde.first, err);
}

/* ---- events ---- */

static const char *text_of(struct caret *caret, const struct kymo_ctf_value *value)
{
	const char *text =
		value->present ? pool_text(&caret->pool, value->bytes, strlen(value->bytes)) : "";

	caret->failed |= !text;
	return text;
}

static void add_name(struct caret *caret, int kind, const struct kymo_ctf_event *event)
{
	struct caret_tilde *tilde = &caret->tilde;
	struct caret_tilde_name name = {
		.kind = kind,
		.trace = event->trace,
		.pid = event->vpid,
		.object = event->value[OBJECT].u,
		.node = text_of(caret, &event->value[NODE]),
		.topic = text_of(caret, &event->value[TOPIC]),
	};

	if (caret->failed || !ARRAY_ROOM(tilde->name, tilde->names, tilde->name_room))
		caret->failed = true;
	else
		tilde->name[tilde->names++] = name;
}

/* The newest name of an object: its address may have been used before. Return: whether it has one.
 */
static bool find_name(const struct caret *caret, int kind, const struct kymo_ctf_event *event,
		      uint64_t object, unsigned *index)
{
	for (unsigned i = caret->tilde.names; i-- > 0;) {
		const struct caret_tilde_name *name = &caret->tilde.name[i];

		if (name->kind != kind || name->object != object || name->pid != event->vpid ||
		    name->trace != event->trace)
			continue;
		*index = i;
		return true;
	}
	return false;
}

static void add_row(struct caret *caret, int kind, const struct kymo_ctf_event *event)
{
	const bool publishes = kind == PUBLISH;
	struct caret_tilde *tilde = &caret->tilde;
	struct caret_tilde_row row = {
		.kind = kind,
		.ns = event->ns,
		.tid = event->vtid,
		.id = event->value[publishes ? PUBLISH_ID : SUBSCRIBE_ID].i
	};

	if (!find_name(caret, publishes ? PUBLISHER_INIT : SUBSCRIPTION_INIT, event,
		       event->value[OBJECT].u, &row.name) ||
	    (publishes &&
	     !find_name(caret, SUBSCRIBE_ADDED, event, event->value[INPUT].u, &row.input)))
		return;
	if (!ARRAY_ROOM(tilde->row, tilde->rows, tilde->row_room))
		caret->failed = true;
	else
		tilde->row[tilde->rows++] = row;
}

void caret_tilde_event(struct caret *caret, const struct kymo_ctf_event *event)
{
	const int kind = event->bound - (int)caret->tilde.first;

	if (event->bound < 0 || kind < 0 || kind >= ROWS)
		return;
	if (kind <= SUBSCRIBE_ADDED)
		add_name(caret, kind, event);
	else
		add_row(caret, kind, event);
}

void caret_tilde_free(struct caret *caret)
{
	free(caret->tilde.name);
	free(caret->tilde.row);
}

/* ---- rows of a hop ---- */

static bool is_of(const struct caret *caret, unsigned index, const char *node, const char *topic)
{
	const struct caret_tilde_name *name = &caret->tilde.name[index];
	const char *full = *node == '/' && *name->node != '/' ? node + 1 : node;

	return strcmp(name->node, full) == 0 && strcmp(name->topic, topic) == 0;
}

/* Whether @row is an arrival, or a publication, of @hop. */
static bool is_row(const struct caret *caret, const struct caret_tilde_row *row, int kind,
		   const struct arch_hop *hop)
{
	if (row->kind != kind)
		return false;
	if (kind == SUBSCRIBE)
		return is_of(caret, row->name, hop->node, hop->subscribe_topic);
	return is_of(caret, row->name, hop->node, hop->publish_topic) &&
	       is_of(caret, row->input, hop->node, hop->subscribe_topic);
}

bool caret_tilde_has(const struct caret *caret, const struct arch_hop *hop)
{
	for (unsigned i = 0; i < caret->tilde.rows; i++)
		if (is_row(caret, &caret->tilde.row[i], PUBLISH, hop))
			return true;
	return false;
}

/* [ns, id, tid] in the order of time. */
static int ids(const struct caret *caret, int kind, const struct arch_hop *hop, struct records *out)
{
	*out = (struct records){ .columns = 3 };
	for (unsigned i = 0; i < caret->tilde.rows; i++) {
		const struct caret_tilde_row *row = &caret->tilde.row[i];
		int64_t *to;

		if (!is_row(caret, row, kind, hop))
			continue;
		to = records_add(out);
		if (!to)
			return -ENOMEM;
		to[0] = row->ns;
		to[1] = row->id;
		to[2] = row->tid;
	}
	return 0;
}

/* [start, id]: the callback in which a message arrived. */
static int arrivals(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	struct records runs, taken = { .columns = 3 };
	int rc = caret_table(caret, CARET_RUNS, hop, &runs);

	*out = (struct records){ .columns = 6 };
	if (!rc)
		rc = ids(caret, SUBSCRIBE, hop, &taken);
	if (!rc)
		rc = records_follow(&runs, 0, 2, &taken, 0, 2, false, out);
	records_drop(out, 5);
	records_drop(out, 3);
	records_drop(out, 2);
	records_drop(out, 1);
	records_free(&runs);
	records_free(&taken);
	return rc;
}

/* [id, publish]: the publication that follows on the thread. */
static int publications(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	struct records sent, published = { .columns = 2 };
	int rc = ids(caret, PUBLISH, hop, &sent);

	*out = (struct records){ .columns = 5 };
	if (!rc)
		rc = caret_table(caret, CARET_PUBLICATIONS, hop, &published);
	if (!rc)
		rc = records_follow(&sent, 0, 2, &published, 0, 1, false, out);
	records_drop(out, 4);
	records_drop(out, 2);
	records_drop(out, 0);
	records_free(&sent);
	records_free(&published);
	return rc;
}

int caret_tilde_rows(const struct caret *caret, const struct arch_hop *hop, struct records *out)
{
	struct records arrived, led = { .columns = 2 };
	int rc = arrivals(caret, hop, &arrived);

	*out = (struct records){ .columns = 3 };
	if (!rc)
		rc = publications(caret, hop, &led);
	if (!rc)
		rc = records_join(&arrived, 1, &led, 0, out);
	records_drop(out, 1);
	records_sort(out, 0);
	records_free(&arrived);
	records_free(&led);
	return rc;
}
