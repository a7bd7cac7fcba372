/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The command of a recording: its start and its end. What kymo started, kymo ends: the command, the
 * processes below it, and those that it started and that were recorded, whoever their parent is by
 * then ("ros2 run" ignores SIGINT and leaves its node behind).
 *
 *   a signal to kymo        to the command (SIGTERM, SIGHUP), or nothing (SIGINT: a terminal sends
 *                           it to the whole group)
 *   2 s later               the same signal to all that are left; after a Ctrl-C, only to those
 *                           outside of kymo's process group
 *   duration over, stop     SIGINT to all
 *   5 s after either        SIGTERM to all that are left
 *   2 s later               the recording ends; what is left is reported
 */
#ifndef KYMO_RECORDER_RECORD_COMMAND_H
#define KYMO_RECORDER_RECORD_COMMAND_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/resource.h>
#include <uv.h>

struct recorder;

#define COMMAND_PROCESSES_MAX 512

struct record_command {
	uv_process_t process;
	bool runs; /* the command itself */
	bool ending;
	bool from_terminal; /* the signal that ends it: the process group has it already */
	int number;         /* of that signal */
	unsigned step;      /* of the table above */
	uint64_t next_ms;   /* time of the next step, of the loop's clock */
	uv_timer_t timer;
	struct command_process {
		int pid;
		uint64_t start_time;
	} left[COMMAND_PROCESSES_MAX]; /* started by the command, and not ended when last looked at
					*/
	unsigned left_count;
};

/** command_limit_files() - set the soft limit of open files to @soft, or to the hard one if that is
 * less. Return: what it was. */
rlim_t command_limit_files(rlim_t soft);

/** command_start() - Return: 0; an error of libuv. Context: blocks. */
int command_start(struct recorder *recorder);

/** command_watch_signals() - from now on, know for signal @number whether a terminal sent it. After
 * uv_signal_start(). */
void command_watch_signal(int number);

/**
 * command_end() - begin to end the command
 * @number: the signal that kymo received; 0: none, the recording is over for another reason
 *
 * Calls record_finish() when all have ended, or have had their time. Return: false: nothing runs,
 * or this is the second call.
 */
bool command_end(struct recorder *recorder, int number);

/** command_report() - say which processes still run. Return: whether there are any. */
bool command_report(struct recorder *recorder);

#endif
