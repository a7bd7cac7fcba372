/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Viewers: babeltrace2's lttng-live, or `kymo live`, at the viewer port. Any number may be attached to a
 * session, each with places of its own, also when the session has ended. All begin at its beginning, whatever
 * they ask for: packets that were there before are a part of the answer.
 */
#ifndef KYMO_RELAY_VIEWER_H
#define KYMO_RELAY_VIEWER_H

#include <sys/types.h>

#include "relay/model/relay_model.h"

struct viewer;

/* What is to be read from a file before the request can be answered. */
struct viewer_read {
	struct store_file *file;
	bool is_entry;			/* of the index: number @offset */
	uint64_t offset;
	uint32_t size;
	uint8_t *bytes;
	ssize_t got;			/* -1: it failed */
	struct ctf_index_entry entry;
};

/** viewer_new() - a connection. Return: NULL: no memory. Context: allocates. */
struct viewer *viewer_new(struct relay *relay);

/**
 * viewer_bytes() - what came over it; answers are added to @reply
 * @read: set to what has to be done by viewer_do_read(), in any thread, and then given to viewer_has_read();
 *        until then nothing more is to be given. NULL: nothing.
 *
 * It stops when the answers have a mebibyte: requests behind that wait (viewer_waits()) until it is called again, with no
 * bytes or more of them, so that who asks without taking answers has few in memory.
 *
 * Return: 0, or -1: send @reply, then close it, for @err says what is wrong.
 */
int viewer_bytes(struct viewer *viewer, const uint8_t *bytes, size_t size, struct wire_out *reply,
		 struct viewer_read **read, struct kymo_err *err);

/** viewer_do_read() - Context: any thread; blocks. */
void viewer_do_read(struct viewer_read *read);

/** viewer_waits() - whether there are requests for viewer_bytes() without new bytes. */
bool viewer_waits(const struct viewer *viewer);

/** viewer_has_read() - answers the request that waited for viewer_do_read(). */
void viewer_has_read(struct viewer *viewer, struct wire_out *reply);

/** viewer_free() - it was closed, and nothing is being read for it. NULL: nothing. */
void viewer_free(struct viewer *viewer);

#endif
