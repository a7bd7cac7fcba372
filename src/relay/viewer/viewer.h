/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Viewers: babeltrace2's lttng-live or `kymo live` at the viewer port. Any number of viewers can
 * attach to a session, each at its own position, also when the session has ended. Every viewer
 * begins at the session's beginning, whatever it asks for: older packets are a part of the answer.
 *
 * Context of all functions, unless they say more: the loop's thread; allocate; wait for no job of
 * the disk's thread.
 */
#ifndef KYMO_RELAY_VIEWER_H
#define KYMO_RELAY_VIEWER_H

#include <sys/types.h>

#include "relay/model/relay_model.h"

struct viewer;

/* A read from a file that a reply needs. */
struct viewer_read {
	struct store_file *file;
	bool is_entry;			/* an index entry, whose number is @offset */
	uint64_t offset;
	uint32_t size;
	uint8_t *bytes;
	ssize_t got;			/* bytes read; -1: failed */
	struct ctf_index_entry entry;
};

/** viewer_new() - a connection; version 2.@minor is announced. Return: NULL: out of memory.
 * Context: allocates. */
struct viewer *viewer_new(struct relay *relay, unsigned minor);

/**
 * viewer_bytes() - handle @bytes; answers are added to @reply
 * @read: a read that the caller does with viewer_do_read() in any thread, and then passes to
 * viewer_has_read(); it
 *        passes no bytes until then. NULL: none.
 *
 * It stops when @reply has 1 MiB. Further requests wait (viewer_waits()) until it is called again,
 * with or without bytes. So a viewer that asks and does not read its answers uses little memory.
 *
 * Return: 0; -1 with @err: send @reply, then close the connection.
 */
int viewer_bytes(struct viewer *viewer, const uint8_t *bytes, size_t size, struct wire_out *reply,
		 struct viewer_read **read, struct kymo_err *err);

/** viewer_do_read() - Context: any thread; blocks. */
void viewer_do_read(struct viewer_read *read);

/** viewer_waits() - whether requests wait for viewer_bytes() without new bytes. */
bool viewer_waits(const struct viewer *viewer);

/** viewer_has_read() - answer the request that waited for viewer_do_read(). */
void viewer_has_read(struct viewer *viewer, struct wire_out *reply);

/** viewer_wake() - answer a WAIT that waits for news, if there are some. Context: allocates for the
 * answer only. */
void viewer_wake(struct viewer *viewer, struct wire_out *reply);

/** viewer_free() - the connection is closed, and no read is under way. NULL: nothing. */
void viewer_free(struct viewer *viewer);

#endif
