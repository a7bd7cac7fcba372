/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which events of a trace are of the nodes, topics and processes that somebody asked for.
 *
 * An event is of the objects whose handles it has. One that has none, or is not of ROS 2, is of the
 * node whose callback its thread runs; a take without handle is of the subscription that the thread
 * took from last. Init events come before what they belong to is known (a timer before its
 * node), and so does the name of a process: the whole trace is read once to learn them.
 *
 *   concern_create(&concern, reader, &selection, false, NULL, NULL, &err);
 *   while ((more = kymo_ctf_next(reader, &event, &err)) > 0)
 *       if (concern_event(concern, &event) > 0) ...
 *
 * Context of all functions: not thread-safe; allocate as objects appear, not per event.
 */
#ifndef KYMO_ANALYSIS_CONCERN_H
#define KYMO_ANALYSIS_CONCERN_H

#include "base/err.h"
#include "base/selection.h"
#include "ctf/read/reader.h"

struct concern;

/**
 * concern_create() - learn what there is, and bind @reader
 * @selection: must stay valid
 * @growing: the trace has no end yet: nothing is learned ahead, an event is judged by what is known
 * @progress: called now and then with how far that is, clock_ns on the trace clock; may be NULL
 *
 * The reader stands at its beginning afterwards. It must have no window: what was before a moment
 * tells what its events are of.
 * Return: 0, or -1 with @err filled.
 */
int concern_create(struct concern **concern, struct kymo_ctf_reader *reader,
		   const struct selection *selection, bool growing,
		   void (*progress)(void *context, uint64_t events, uint64_t clock_ns), void *context,
		   struct kymo_err *err);
void concern_destroy(struct concern *concern);

/** concern_event() - every event of the reader, in order. Return: 1: asked for; 0: not; -ENOMEM. Losses are. */
int concern_event(struct concern *concern, const struct kymo_ctf_event *event);

#endif
