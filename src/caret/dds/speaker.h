/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent says and hears in one ROS domain: CARET's three topics, and ros_discovery_info, by which ROS 2
 * knows that there is a node.
 */
#ifndef KYMO_CONTROL_DDS_SPEAKER_H
#define KYMO_CONTROL_DDS_SPEAKER_H

#include <stdbool.h>

#include "caret/agent/agent.h"
#include "caret/agent/roster.h"
#include "caret/agent/start.h"

struct speaker;

struct speaker_options {
	uint32_t domain;
	/* A message is there. On another thread: uv_async_send() and nothing more. */
	void (*heard)(void *context);
	/* A message was left out, once for each reason. On any thread. */
	void (*say)(void *context, const char *text);
	void *context;
};

/** speaker_open() - Return: 0; -1 with @err. Context of all: allocate; block for a moment. */
int speaker_open(struct speaker **speaker, const struct speaker_options *options, struct kymo_err *err);

/** speaker_close() - its nodes leave the graph. NULL is fine. */
void speaker_close(struct speaker *speaker);

uint32_t speaker_domain(const struct speaker *speaker);

/** speaker_graph() - who is in the graph: the @count nodes called @name. Nothing is sent if it is as it was. */
void speaker_graph(struct speaker *speaker, enum agent_graph form, const char *const *name, unsigned count);

/** speaker_status() - tell the state of @process. */
void speaker_status(struct speaker *speaker, const struct roster_process *process);

/**
 * speaker_take_start() - the next Start that came, if there is one
 * @start: to be freed by start_free()
 * @sent_ns: when it was sent, on the sender's CLOCK_REALTIME
 *
 * One that makes no sense is left out, and counted.
 * Return: whether there was one.
 */
bool speaker_take_start(struct speaker *speaker, struct start *start, int64_t *sent_ns);

/** speaker_take_end() - the next End. */
bool speaker_take_end(struct speaker *speaker, int64_t *sent_ns);

/**
 * speaker_hear_clock() - also record the /clock of its domain, see clock.h; once
 * @rate: pairs a second
 * @of_several: others do so in other domains
 *
 * Return: 0; -1 with @err.
 */
int speaker_hear_clock(struct speaker *speaker, unsigned rate, bool of_several, struct kymo_err *err);

/** speaker_want_clock() - whether it is to be recorded at present. */
void speaker_want_clock(struct speaker *speaker, bool wanted);

/** speaker_heard_clock() - whether there was a time of a simulation. */
bool speaker_heard_clock(const struct speaker *speaker);

/** speaker_left_out() - messages that were read and made no sense. */
uint64_t speaker_left_out(const struct speaker *speaker);

#endif
