/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The user can leave out objects, e.g. all events of one topic. For an event with the enable byte
 * KYMO_ENABLE_LOOK_UP, these functions look for the event's object in the set of objects that are
 * left out (abi/region.h).
 *
 * Context of all functions: wait-free; no allocation, except for a thread's very first event; not
 * in signal handlers.
 */
#ifndef KYMO_TRACER_LEFT_OUT_H
#define KYMO_TRACER_LEFT_OUT_H

#include <stdbool.h>

#include "inside/tracer/tracer_ring.h"

/**
 * kymo__left_out() - whether an event is left out
 * @object: the event's publisher, subscription, callback, ...; NULL: the event has only a message
 * @message: the event's message; NULL: the event has none
 *
 * An event that has only a message is left out if the thread's last event with an object and a
 * message had the same message, and was left out.
 */
KYMO_EXPORT bool kymo__left_out(const void *object, const void *message);

/**
 * kymo__hold_publish() - hold an event rclcpp_publish until the publisher is known
 *
 * The event rclcpp_publish does not name its publisher. A later event of the thread, with the same
 * message, names the publisher: then kymo__left_out() records or drops the held event. The recorded
 * event has the time of this call, unless the ring needs a new block meanwhile.
 * Return: false: record the event at once.
 */
KYMO_EXPORT bool kymo__hold_publish(const void *message);

/**
 * kymo__made_anew() - call after an init event: the object at @object is new, and no longer left
 * out. @object may be NULL.
 */
KYMO_EXPORT void kymo__made_anew(const void *object);

#endif
