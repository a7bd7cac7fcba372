/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sizes and ages of messages, collected while a model reads a trace. Memory depends on the number
 * of objects, not of events.
 *
 * Definitions
 *   size        bytes of the serialized message, with the 4 bytes that name the encoding
 *   published   messages through the middleware; each counts once, for all its receivers. Messages
 *               within a process are not serialized, and do not count
 *   received    the same messages, once for each subscription that took them
 *   age         time from the stamp in the message's header to the start of the callback that
 *               received it, or to the take if no callback did; see model_message_age()
 */
#ifndef KYMO_ANALYSIS_STATS_CONTENT_H
#define KYMO_ANALYSIS_STATS_CONTENT_H

#include <stdbool.h>
#include <stdint.h>

#include "analysis/model/model.h"
#include "analysis/pass/pass.h"
#include "base/err.h"
#include "base/histogram.h"

/* Sizes of the messages of a topic, in bytes. */
struct content_topic {
	struct histogram published, received;
	int64_t first_ns, last_ns; /* first and last publish call; 0: none */
};

struct content;

/**
 * content_create() - listen to @model
 * @begin_ns, @end_ns: only messages that were published, or received, in [begin, end] count
 *
 * Context: allocates as objects appear. Return: 0, or -1 with @err filled.
 */
int content_create(struct content **content, struct model *model, int64_t begin_ns, int64_t end_ns,
		   struct kymo_err *err);

/* By index of the object; zeroed when nothing happened to it. */
const struct content_topic *content_topic(const struct content *content, unsigned index);
/* Ages of the messages that a subscription received, in nanoseconds. */
const struct histogram *content_ages(const struct content *content, unsigned subscription);

/* For pass_add(). */
extern const struct pass_ops content_pass;

#endif
