/* SPDX-License-Identifier: Apache-2.0 */
/* Rows of the recorder's table of requests: sinks that are added and removed while it records. */
#ifndef KYMO_RECORDER_RECORD_SINKS_H
#define KYMO_RECORDER_RECORD_SINKS_H

#include "recorder/control/control.h"
#include "recorder/record/record.h"
#include "recorder/session/session.h"

/*
 *   {"request":"sink_add", "output":"/abs/dir", "rotate_size":N, "rotate_ns":N, "max_size":N, "compress":0|1}
 *   {"request":"sink_add", "url":"net://...", and what record_options.remote wants to know}
 *   {"request":"sink_list"}
 *   {"request":"sink_remove", "sink":"/abs/dir" or its URL or its number}
 *
 * Each answers @call; record_sink_remove() when the sink has ended, which may be later.
 * Context: the session's thread; allocate, block while a sink is completed.
 */
void record_sink_add(struct session *session, const struct record_options *options, struct control_call *call,
		     struct json_object *request);
void record_sink_list(struct session *session, struct control_call *call);
void record_sink_remove(struct session *session, struct control_call *call, struct json_object *request);

/** record_sinks_end() - the recording ends: who waits for a sink's end is told so. */
void record_sinks_end(struct session *session);

#endif
