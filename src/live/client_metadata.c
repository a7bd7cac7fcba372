/* SPDX-License-Identifier: Apache-2.0 */
/* Replies with metadata. */
#include <string.h>

#include "live/client_internal.h"

/* What was received on an earlier connection is not new, but it must be the same. */
static enum reply_result add_metadata(struct client_reply *reply, struct live_trace *trace,
				      const uint8_t *bytes, size_t size)
{
	struct client *client = reply->client;
	const size_t known = trace->metadata.used - trace->again,
		     same = known < size ? known : size;

	if (same && memcmp(trace->metadata.bytes + trace->again, bytes, same))
		return REPLY_FAILS(reply, KYMO_EXIT_FAILED,
				   "session %s is not the same as before the connection was lost; "
				   "start kymo live again",
				   client->options->session);
	if (size - same > CLIENT_METADATA_MAX - trace->metadata.used)
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT, "the size of the metadata is invalid");
	wire_add_bytes(&trace->metadata, bytes + same, size - same);
	if (trace->metadata.failed) {
		(void)err_no_memory(reply->err);
		return REPLY_FAILED;
	}
	trace->again += size;
	trace->gone = false;
	if (size > same && client->sink->metadata(client->sink->context, trace, bytes + same,
						  size - same, reply->err) < 0)
		return REPLY_FAILED;
	return REPLY_DONE;
}

static enum reply_result metadata_came(struct client_reply *reply, struct live_trace *trace,
				       const struct wire_metadata_reply *head)
{
	struct client *client = reply->client;
	const bool whole = trace->metadata.used && trace->again == trace->metadata.used;

	if (head->status == WIRE_METADATA_OK && head->size) {
		client_ask_metadata(client, trace, reply->out); /* until there is no more */
	} else if (head->status != WIRE_METADATA_OK && whole) {
		trace->stale = false;
		client_metadata_came(client, trace, reply->out);
	} else if (head->status != WIRE_METADATA_OK && head->status != WIRE_METADATA_NO_NEW &&
		   ++trace->tries > CLIENT_TRIES) {
		client_metadata_gone(client, trace, reply->out);
	} else {
		trace->due_ns = client_poll_at(client);
	}
	return REPLY_DONE;
}

enum reply_result client_on_metadata(struct client_reply *reply)
{
	struct live_trace *trace = reply->request->of;
	struct wire_metadata_reply head;
	const uint8_t *bytes;
	enum reply_result taken = REPLY_DONE;

	if (!wire_get_metadata_reply(reply->in, &head))
		return REPLY_INCOMPLETE;
	if (head.status != WIRE_METADATA_OK)
		head.size = 0;
	if (head.size > CLIENT_METADATA_MAX)
		return REPLY_FAILS(reply, KYMO_EXIT_INPUT, "the size of the metadata is invalid");
	bytes = wire_bytes(reply->in, head.size);
	if (!bytes)
		return REPLY_INCOMPLETE;
	trace->asked = false;
	if (head.size)
		taken = add_metadata(reply, trace, bytes, head.size);
	return taken == REPLY_DONE ? metadata_came(reply, trace, &head) : taken;
}
