/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producers: what lttng-consumerd or a kymo recorder sends to the control port and the data port.
 * Bytes in, replies out; the server reads and writes the sockets.
 *
 * What a request asks the disk is looked up in another thread, and the requests after it wait:
 *
 *   ingest_bytes() ─ ingest_looks()? ─▶ another thread: ingest_look() ─▶ ingest_bytes(NULL, 0)
 *
 * Context of all functions, unless they say more: the loop's thread; allocate; do not wait for the
 * disk.
 */
#ifndef KYMO_RELAY_INGEST_H
#define KYMO_RELAY_INGEST_H

#include "relay/model/relay_packets.h"

struct ingest;
struct intake;

/**
 * ingest_new() - a control connection
 * @minor: version 2.@minor is announced: from WIRE_MINOR_LEAST to WIRE_MINOR
 *
 * Return: NULL: out of memory.
 */
struct ingest *ingest_new(struct relay *relay, unsigned minor);

/**
 * ingest_bytes() - handle @bytes; answers are added to @reply
 *
 * Return: 0; -1 with @err: send @reply, then close the connection.
 */
int ingest_bytes(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *reply,
		 struct kymo_err *err);

/** ingest_looks() - does a request wait for ingest_look()? */
bool ingest_looks(const struct ingest *ingest);

/** ingest_look() - look it up; then call ingest_bytes(), with no bytes or with those that came
 * meanwhile. Context: any thread; blocks; no other function is called meanwhile. */
void ingest_look(struct ingest *ingest);

/** ingest_free() - the connection is closed, and its session has ended. NULL: nothing. */
void ingest_free(struct ingest *ingest);

/** intake_new() - a data connection. It belongs to the session of the first stream that a packet
 * names. */
struct intake *intake_new(struct relay *relay);

/** intake_bytes() - handle @bytes; there are no replies. Return: 0; -1 with @err: close the
 * connection. */
int intake_bytes(struct intake *intake, const uint8_t *bytes, size_t size, struct kymo_err *err);

void intake_free(struct intake *intake);

#endif
