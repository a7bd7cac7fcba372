/* SPDX-License-Identifier: Apache-2.0 */
/* What a sink that goes to a relay tells of itself: in the accounts, and at the end. */
#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>

#include "relay/send/send_sink_internal.h"

static const char *const state_name[] = {
	[SEND_OFFLINE] = "not connected", [SEND_VERSION] = "connecting",
	[SEND_CONFIGURE] = "connecting", [SEND_STORED] = "connecting", [SEND_CREATE] = "connecting",
	[SEND_CHUNK] = "connecting", [SEND_READY] = "connected", [SEND_ENDING] = "ending", [SEND_CLOSING] = "ending",
	[SEND_DONE] = "ended",
};

void send_sink_tell(const struct sink *sink, struct json_object *root)
{
	const struct relay_sink *to = (const struct relay_sink *)sink;
	struct json_object *object = json_object_new_object();
	struct sender_stats stats = {
		.state = SEND_DONE,
		.lost_packets = to->rest.lost_packets,
		.lost_events = to->rest.lost_events,
		.unstored = to->rest.unstored,
	};

	if (to->sender)
		sender_stats(to->sender, &stats);
	json_object_object_add(object, "state", json_object_new_string(state_name[stats.state]));
	json_object_object_add(object, "session", json_object_new_string(to->name));
	json_object_object_add(object, "host", json_object_new_string(to->traces.hostname));
	json_object_object_add(object, "sessions", json_object_new_uint64(stats.sessions));
	json_object_object_add(object, "waiting", json_object_new_uint64(stats.waiting));
	if (to->options.at.datagrams) {
		json_object_object_add(object, "lost_packets", json_object_new_uint64(stats.lost_packets));
		json_object_object_add(object, "lost_events", json_object_new_uint64(stats.lost_events));
	}
	json_object_object_add(object, "unstored_packets",
			       json_object_new_uint64(stats.unstored.packets));
	json_object_object_add(object, "unstored_events",
			       json_object_new_uint64(stats.unstored.events));
	json_object_object_add(object, "unstored_init_events",
			       json_object_new_uint64(stats.unstored.facts));
	json_object_object_add(object, "spool", json_object_new_uint64(to->options.spool_size));
	json_object_object_add(object, "why", json_object_new_string(stats.why));
	if (!to->sender) {
		json_object_object_add(object, "unsent_packets", json_object_new_uint64(to->rest.packets));
		json_object_object_add(object, "unsent_events", json_object_new_uint64(to->rest.events));
	}
	json_object_object_add(root, "relay", object);
}

static void say_lost(const struct relay_sink *to, const struct sender_rest *rest)
{
	char text[1024];

	if (!rest->lost_packets || !to->options.say)
		return;
	(void)snprintf(text, sizeof text, "%" PRIu64 " packets with %" PRIu64 " events were lost on the way to %.200s",
		       rest->lost_packets, rest->lost_events, to->url);
	to->options.say(to->options.context, text);
}

static void say_unstored(const struct relay_sink *to, const struct spool_unstored *unstored)
{
	char text[1024], facts[128] = "";

	if ((!unstored->packets && !unstored->facts) || !to->options.say)
		return;
	if (unstored->facts)
		(void)snprintf(facts, sizeof facts,
			       " and %" PRIu64 " init events (names of nodes, topics, threads)",
			       unstored->facts);
	(void)snprintf(text, sizeof text,
		       "%.200s could not store %" PRIu64 " packets with %" PRIu64
		       " events%s; its messages say why, such as a full disk",
		       to->url, unstored->packets, unstored->events, facts);
	to->options.say(to->options.context, text);
}

void send_sink_say(const struct relay_sink *to, const struct sender_rest *rest)
{
	say_lost(to, rest);
	say_unstored(to, &rest->unstored);
}
