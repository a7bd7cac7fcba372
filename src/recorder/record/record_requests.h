/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What others may ask of a recording, through the control socket: rows of the table in record.c.
 * Each function answers its @call once.
 *
 * Context: on the session's thread; allocate, block while a sink is completed.
 */
#ifndef KYMO_RECORDER_RECORD_REQUESTS_H
#define KYMO_RECORDER_RECORD_REQUESTS_H

#include <stdbool.h>
#include <sys/resource.h>

#include "recorder/control/control.h"
#include "recorder/record/record.h"
#include "recorder/record/record_command.h"
#include "recorder/record/record_kernel.h"
#include "recorder/record/record_stacks.h"

#define RECORD_SIGNALS 3 /* that end a recording */

/* A recording: the context of the functions below. */
struct recorder {
	const struct record_options *options;
	struct record_result *result;
	struct session *session;
	struct control *control; /* NULL: there is no control socket */
	struct flight *flight;   /* the session's; NULL: all is written */
	struct record_kernel kernel;
	struct record_stacks stacks;
	struct kymo_err *err;
	bool stopping;     /* a signal came, or the time is over */
	rlim_t soft_files; /* RLIMIT_NOFILE at the start */
	uv_loop_t loop;
	uv_timer_t poll, deadline, progress, strangers;
	uint64_t strangers_ms;
	uv_fs_event_t watch;
	uv_signal_t signal[RECORD_SIGNALS], snapshot_signal;
	struct record_command command;
};

/** record_finish() - the loop ends. */
void record_finish(struct recorder *recorder);

/** record_poll_soon() - poll the session in the next turn of the loop. */
void record_poll_soon(struct recorder *recorder);

/**
 * record_snapshot() - {"request":"snapshot", "last_ns":N, "output":"/abs/dir"}: answers when the
 * snapshot is written (record_snapshot.c).
 */
void record_snapshot(void *recorder, struct control_call *call, struct json_object *request);

/*
 * The session as a whole: stop, pause, resume (record_state.c). A stop and a resume may be for the
 * processes of some ROS domains only ("ros_domains", see ros_domains.h): an End and a Start of
 * CARET are.
 */

/** record_stop() - Return: whether the session is to end. */
bool record_stop(struct session *session, struct control_call *call, struct json_object *request);
void record_pause(void *recorder, struct control_call *call, struct json_object *request);
void record_resume(void *recorder, struct control_call *call, struct json_object *request);

/*
 * One recorder makes room for another (record_yield.c): {"request":"yield"}.
 *
 * record_yield() - Return: whether the session is to end. record_ask_to_yield() - as a recorder
 * that wants to begin: ask the one that has @runtime_dir (NULL: the usual one), and wait until it
 * has ended. One that does not yield is left alone, and session_begin() reports it. Context: blocks
 * for some seconds at most.
 */
bool record_yield(const struct record_options *options, struct control_call *call);
void record_ask_to_yield(const char *runtime_dir);

/*
 * Sinks that are added and removed during the recording (record_sinks.c):
 *
 *   {"request":"sink_add", "output":"/abs/dir", "rotate_size":N, "rotate_ns":N, "max_size":N, "compress":0|1, "ctf":2}
 *   {"request":"sink_add", "url":"net://...", and what record_options.remote needs}
 *   {"request":"sink_list"}
 *   {"request":"sink_remove", "sink":"/abs/dir" or its URL or its number}
 *
 * record_sink_remove() answers when the sink has ended, which may be later.
 */
void record_sink_add(void *recorder, struct control_call *call, struct json_object *request);
void record_sink_list(void *recorder, struct control_call *call, struct json_object *request);
void record_sink_remove(void *recorder, struct control_call *call, struct json_object *request);

/** record_sinks_end() - the recording ends: answer all calls that wait for the end of a sink. */
void record_sinks_end(struct session *session);

/*
 * The filter of the session (record_filter.c):
 *
 *   {"request":"filter", "do":"show"|"set"|"add"|"clear", "rules":["topic !/rosout", ...]}
 *   {"request":"filter", "do":"caret", "CARET_SELECT_NODES":"...", ...}	for all processes
 *
 * The reply has the rules that hold afterwards: "rules"; "rules_more", the number of rules that had
 * no room in it; "programs" with rules in their own environment; and how much the rules leave out.
 */
void record_filter(void *recorder, struct control_call *call, struct json_object *request);

#endif
