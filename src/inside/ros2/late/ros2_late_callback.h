/* SPDX-License-Identifier: Apache-2.0 */
/* Which callback belongs to which subscription, timer or service, and what its function is called,
 * and which ring buffer is its own, in a process to which kymo was attached. */
#ifndef KYMO_HOOKS_LATE_CALLBACK_H
#define KYMO_HOOKS_LATE_CALLBACK_H

#include <stdint.h>

#include "inside/ros2/late/ros2_late_seen.h"

/** kymo_late_begins() - the callback at @address begins, and belongs to @owner: a subscription, a
 * timer, a service, or what gets messages within the process. Context: on the thread that runs it,
 * before it runs; as malloc() the first time. */
void kymo_late_begins(struct kymo_seen *owner, uintptr_t address, const void *caller);

/** kymo_late_silent() - report the callback of @owner, whose object of rclcpp exists, if it is
 * known where such objects have it. Context: as above. */
void kymo_late_silent(struct kymo_seen *owner, const void *caller);

/** kymo_late_is_within() - is @waitable, which exists, what gets a subscription's messages within
 * the process? Context: wait-free. */
bool kymo_late_is_within(const void *waitable);

/** kymo_late_places() - a number that changes when kymo_late_silent() may know more. Context:
 * wait-free. */
unsigned kymo_late_places(void);

/** kymo_late_forget_places() - libraries may have been exchanged. Context: as kymo_seen_forget().
 */
void kymo_late_forget_places(void);

/** kymo_late_buffer_owner() - what gets the messages of the ring buffer at @buffer, which exists;
 * its facts are reported on first sight. Return: NULL: not known. Context: wait-free, and a few
 * times in the life of the buffer system calls that read memory. */
struct kymo_seen *kymo_late_buffer_owner(uintptr_t buffer);

/** kymo_late_buffers_again() - there is one more object that may own a buffer. Context: wait-free.
 */
void kymo_late_buffers_again(void);

#endif
