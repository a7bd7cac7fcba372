/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sinks that a program implements itself: include/kymo/sink.h.
 *
 *     the session's thread                      kymo's thread, or one that pumps
 *     struct sink_ops ──▶ copies in a queue ──▶ begin, declare, packet, end
 */
#ifndef KYMO_RECORDER_OWN_SINK_H
#define KYMO_RECORDER_OWN_SINK_H

#include "base/err.h"

struct kymo_sink;
struct sink;

/**
 * own_sink_attach() - the sink that a session gets
 * Return: NULL with @err: it was attached before, or its thread can't be started. Context:
 * allocates.
 */
struct sink *own_sink_attach(struct kymo_sink *own, struct kymo_err *err);

/** own_sink_refused() - no session got the sink after all: it ends as if it had been removed. */
void own_sink_refused(struct kymo_sink *own);

/** own_sink_name() - as in its options. */
const char *own_sink_name(const struct kymo_sink *own);

#endif
