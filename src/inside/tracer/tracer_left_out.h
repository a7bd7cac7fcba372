/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Events whose enable byte is KYMO_ENABLE_LOOK_UP: is their object left out?
 *
 * Context of all functions: wait-free, no allocation but for a thread's very first event; on the
 * thread itself, not in its signal handlers.
 */
#ifndef KYMO_TRACER_LEFT_OUT_H
#define KYMO_TRACER_LEFT_OUT_H

#include <stdbool.h>

#include "inside/tracer/tracer_ring.h"

/**
 * kymo__left_out() - whether an event is not wanted
 * @object: publisher, subscription, callback, ...; NULL: the event has only a message
 * @message: NULL: it has none
 *
 * A message follows the object with which the thread had it before.
 */
KYMO_EXPORT bool kymo__left_out(const void *object, const void *message);

/**
 * kymo__hold_publish() - rclcpp_publish does not name its publisher: hold the event until kymo__left_out() knows the publisher
 *
 * The event is recorded later with the time of this call, except if the ring needs a new block.
 * Return: false: record the event at once.
 */
KYMO_EXPORT bool kymo__hold_publish(const void *message);

/** kymo__made_anew() - after an init event: a new object is at @object, and is no longer left out. NULL is fine. */
KYMO_EXPORT void kymo__made_anew(const void *object);

#endif
