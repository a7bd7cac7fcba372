/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Selects the events of a trace that belong to the requested nodes, topics and processes.
 *
 * An event belongs to the objects whose handles it contains. An event without handles, or an event
 * that is not of ROS 2, belongs to the node whose callback runs on its thread. A take without a
 * handle belongs to the subscription from which its thread took last. Init events come before their
 * owner is known (a timer before its node), and events may come before the name of their process.
 * So the whole trace is read once beforehand to learn the objects.
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
 * concern_create() - learn the objects of the trace, and bind @reader
 * @selection: must stay valid
 * @growing: the trace is still being recorded: skip the first pass, and judge each event by the
 *   objects known at that time
 * @progress: called from time to time with the position, clock_ns on the trace clock; may be NULL
 *
 * The function rewinds the reader. The reader must have no window, because earlier events define
 * the objects of later events.
 * Return: 0, or -1 with @err filled.
 */
int concern_create(struct concern **concern, struct kymo_ctf_reader *reader,
		   const struct selection *selection, bool growing,
		   void (*progress)(void *context, uint64_t events, uint64_t clock_ns),
		   void *context, struct kymo_err *err);
void concern_destroy(struct concern *concern);

/**
 * concern_event() - judge an event; call it for every event of the reader, in order.
 *
 * Return: 1: requested, also for every loss; 0: not requested; -ENOMEM.
 */
int concern_event(struct concern *concern, const struct kymo_ctf_event *event);

#endif
