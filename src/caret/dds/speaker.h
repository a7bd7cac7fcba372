/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What an agent sends and receives in a ROS domain: CARET's three topics, and ros_discovery_info,
 * from which ROS 2 knows the nodes.
 */
#ifndef KYMO_CARET_DDS_SPEAKER_H
#define KYMO_CARET_DDS_SPEAKER_H

#include <stdbool.h>

#include "caret/agent/agent.h"
#include "caret/agent/order.h"
#include "caret/agent/roster.h"
#include "caret/agent/start.h"

struct speaker;

struct speaker_options {
	uint32_t domain;
	/* A message arrived. On another thread: call only uv_async_send(). */
	void (*arrived)(void *context);
	/* A message was left out; once for each reason. On any thread. */
	void (*say)(void *context, const char *text);
	void *context;
};

/** speaker_open() - Return: 0; -1 with @err. Context of all functions: allocate; block for a
 * moment. */
int speaker_open(struct speaker **speaker, const struct speaker_options *options,
		 struct kymo_err *err);

/** speaker_close() - its nodes leave the graph. NULL: nothing. */
void speaker_close(struct speaker *speaker);

uint32_t speaker_domain(const struct speaker *speaker);

/** speaker_graph() - the @count nodes of the graph are called @name. Sends nothing if that has not
 * changed. */
void speaker_graph(struct speaker *speaker, enum agent_graph form, const char *const *name,
		   unsigned count);

/** speaker_status() - publish the state of @process. */
void speaker_status(struct speaker *speaker, const struct roster_process *process);

/**
 * speaker_take_start() - the next Start, if one arrived
 * @start: to be freed by start_free()
 * @sent: when and by whom it was sent
 *
 * An invalid one is left out.
 * Return: whether there was one.
 */
bool speaker_take_start(struct speaker *speaker, struct start *start, struct order_sent *sent);

/** speaker_take_end() - the next End. */
bool speaker_take_end(struct speaker *speaker, struct order_sent *sent);

/**
 * speaker_record_clock() - also record /clock of the domain, see dds_clock.h; call it once
 * @rate: pairs a second
 * @of_several: other speakers do so in other domains
 *
 * Return: 0; -1 with @err.
 */
int speaker_record_clock(struct speaker *speaker, unsigned rate, bool of_several,
			 struct kymo_err *err);

/** speaker_want_clock() - whether /clock is recorded at present. */
void speaker_want_clock(struct speaker *speaker, bool wanted);

/** speaker_has_clock() - whether a time of a simulation arrived. */
bool speaker_has_clock(const struct speaker *speaker);

/** speaker_clock_is_torn() - whether it jumped so often that not all of it was kept. */
bool speaker_clock_is_torn(const struct speaker *speaker);

#endif
