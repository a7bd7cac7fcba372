/* SPDX-License-Identifier: Apache-2.0 */
/* The viewer port: one request after the other. See viewer.h. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "relay/viewer/viewer_internal.h"
#include "base/array.h"

#define REQUEST_MAX 64u			/* bytes after the header; the longest request has 20 */
#define REPLIES_MAX ((size_t)1 << 20)	/* with more, the next requests wait */

static int malformed(struct viewer_call *call)
{
	return err_set(call->err, KYMO_EXIT_INPUT, "a request is too short");
}

static int on_connect(struct viewer_call *call)
{
	struct wire_connect theirs, ours;

	if (!wire_get_connect(call->in, &theirs))
		return malformed(call);
	if (theirs.major != WIRE_MAJOR)
		return err_set(call->err, KYMO_EXIT_INPUT, "it speaks version %" PRIu32 ".%" PRIu32 " of the viewer protocol, not %u",
			       theirs.major, theirs.minor, WIRE_MAJOR);
	if (!call->viewer->connected)
		call->viewer->id = call->viewer->relay->next_viewer++;
	call->viewer->connected = true;
	call->viewer->minor = theirs.minor < call->viewer->ours ? theirs.minor : call->viewer->ours;
	ours = (struct wire_connect){ WIRE_TELLS | call->viewer->id, WIRE_MAJOR, call->viewer->ours,
				      0 };
	wire_put_connect(call->reply, &ours);
	return 0;
}

static int on_create(struct viewer_call *call)
{
	call->viewer->created = true;
	wire_add(call->reply, WIRE_CREATED, 4);
	return 0;
}

static void answer_wait(struct viewer *viewer, struct wire_out *reply, uint32_t status)
{
	viewer->held = false;
	if (viewer->session)
		viewer->seen = viewer->session->changes;
	wire_put_wait_reply(reply, &(struct wire_wait_reply){ status });
}

void viewer_wake(struct viewer *viewer, struct wire_out *reply)
{
	if (viewer->held && (!viewer->session || viewer->session->changes != viewer->seen))
		answer_wait(viewer, reply, WIRE_WAIT_NEWS);
}

static int on_wait(struct viewer_call *call)
{
	call->viewer->held = true;
	viewer_wake(call->viewer, call->reply);
	return 0;
}

static const struct command {
	const char *name;
	uint32_t size;			/* of the request; its header may say 0 */
	int (*handle)(struct viewer_call *call);
} commands[] = {
	[WIRE_VIEWER_CONNECT] = { "CONNECT", WIRE_SIZE_connect, on_connect },
	[WIRE_VIEWER_LIST] = { "LIST_SESSIONS", 0, viewer_on_list },
	[WIRE_VIEWER_ATTACH] = { "ATTACH_SESSION", WIRE_SIZE_attach, viewer_on_attach },
	[WIRE_VIEWER_NEXT_INDEX] = { "GET_NEXT_INDEX", 8, viewer_on_next_index },
	[WIRE_VIEWER_PACKET] = { "GET_PACKET", WIRE_SIZE_get_packet, viewer_on_packet },
	[WIRE_VIEWER_METADATA] = { "GET_METADATA", 8, viewer_on_metadata },
	[WIRE_VIEWER_NEW_STREAMS] = { "GET_NEW_STREAMS", 8, viewer_on_new_streams },
	[WIRE_VIEWER_CREATE] = { "CREATE_SESSION", 0, on_create },
	[WIRE_VIEWER_DETACH] = { "DETACH_SESSION", 8, viewer_on_detach },
};

static const struct command *command_of(uint32_t cmd)
{
	static const struct command wait = { "WAIT", 0, on_wait };

	if (cmd == WIRE_VIEWER_WAIT)
		return &wait;
	return cmd < COUNT_OF(commands) && commands[cmd].handle ? &commands[cmd] : NULL;
}

/* Answers the first request. Return: as a handler; *took: its size, 0: it is incomplete. */
static int answer_first(struct viewer *viewer, size_t from, struct wire_out *reply, size_t *took,
			struct kymo_err *err)
{
	struct wire_in in = { .at = viewer->in.bytes + from,
			      .end = viewer->in.bytes + viewer->in.used };
	struct viewer_call call = { viewer, &in, reply, err };
	struct wire_viewer_request request;
	const struct command *command;
	int rc;

	*took = 0;
	if (wire_left(&in) < WIRE_SIZE_viewer_request)
		return 0;
	(void)wire_get_viewer_request(&in, &request);
	command = command_of(request.cmd);
	if (!command) {
		wire_add(reply, WIRE_ERR_UNKNOWN, 4);
		return err_set(err, KYMO_EXIT_INPUT, "unknown request %" PRIu32 " in the viewer protocol", request.cmd);
	}
	if (!viewer->connected && request.cmd != WIRE_VIEWER_CONNECT)
		return err_set(err, KYMO_EXIT_INPUT, "%s before CONNECT", command->name);
	if (request.data_size > REQUEST_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "%s has %" PRIu64 " bytes", command->name,
			       request.data_size);
	if (wire_left(&in) < command->size)
		return 0;
	if (viewer->held)	/* answers keep the order of the requests */
		answer_wait(viewer, reply, WIRE_WAIT_NONE);
	in.end = in.at + command->size;
	rc = command->handle(&call);
	*took = WIRE_SIZE_viewer_request + command->size;
	return rc < 0 ? err_wrap(err, "%s", command->name) : rc;
}

static int all(struct viewer *viewer, struct wire_out *reply, struct viewer_read **read,
	       struct kymo_err *err)
{
	size_t used = 0, took;
	int rc;

	*read = NULL;
	do {
		rc = answer_first(viewer, used, reply, &took, err);
		used += took;
	} while (rc == 0 && took && reply->used < REPLIES_MAX);
	viewer->waits = rc >= 0 && took;
	if (used && used < viewer->in.used)
		memmove(viewer->in.bytes, viewer->in.bytes + used, viewer->in.used - used);
	viewer->in.used -= used;
	if (rc == CALL_READS) {
		viewer->reading = true;
		*read = &viewer->read;
		rc = 0;
	}
	if (reply->failed)
		return err_no_memory(err);
	return rc;
}

int viewer_bytes(struct viewer *viewer, const uint8_t *bytes, size_t size, struct wire_out *reply,
		 struct viewer_read **read, struct kymo_err *err)
{
	*read = NULL;
	wire_add_bytes(&viewer->in, bytes, size);
	if (viewer->in.failed)
		return err_no_memory(err);
	return all(viewer, reply, read, err);
}

void viewer_do_read(struct viewer_read *read)
{
	if (read->is_entry)
		read->got = store_read_entry(read->file, read->offset, &read->entry);
	else
		read->got = store_read(read->file, read->offset, read->bytes, read->size);
}

bool viewer_waits(const struct viewer *viewer)
{
	return viewer->waits && !viewer->reading;
}

void viewer_has_read(struct viewer *viewer, struct wire_out *reply)
{
	viewer_answer_read(viewer, reply);
	viewer->reading = false;
	store_unref(viewer->read.file);
	free(viewer->read.bytes);
	viewer->read = (struct viewer_read){ 0 };
}

struct viewer *viewer_new(struct relay *relay, unsigned minor)
{
	struct viewer *viewer = calloc(1, sizeof(*viewer));

	if (viewer) {
		viewer->relay = relay;
		viewer->ours = viewer->minor = minor;
	}
	return viewer;
}

void viewer_free(struct viewer *viewer)
{
	if (!viewer)
		return;
	viewer_detach(viewer);
	store_unref(viewer->read.file);
	free(viewer->read.bytes);
	wire_out_free(&viewer->in);
	free(viewer);
}
