/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Producers: what lttng-consumerd, or a recorder, sends to the control port and to the data port.
 * Bytes in, replies out; who reads and writes the sockets is not known here.
 */
#ifndef KYMO_RELAY_INGEST_H
#define KYMO_RELAY_INGEST_H

#include "relay/model/relay_model.h"

struct ingest;
struct intake;

/**
 * ingest_new() - a control connection
 * @minor: version 2.@minor is what we say that we speak: WIRE_MINOR, or as little as WIRE_MINOR_LEAST
 *
 * Return: NULL: no memory. Context: allocates.
 */
struct ingest *ingest_new(struct relay *relay, unsigned minor);

/**
 * ingest_bytes() - what came over it; answers are added to @reply
 *
 * Return: 0, or -1: send @reply, then close it, for @err says what is wrong.
 * Context: allocates; does not wait for the disk.
 */
int ingest_bytes(struct ingest *ingest, const uint8_t *bytes, size_t size, struct wire_out *reply, struct kymo_err *err);

/** ingest_free() - it was closed: its session has ended. NULL: nothing. */
void ingest_free(struct ingest *ingest);

/** intake_new() - a data connection. It belongs to the session of the first stream that it names. */
struct intake *intake_new(struct relay *relay);

/** intake_bytes() - Return: 0, or -1: close it, for @err says what is wrong. Nothing is ever answered. */
int intake_bytes(struct intake *intake, const uint8_t *bytes, size_t size, struct kymo_err *err);

void intake_free(struct intake *intake);

#endif
