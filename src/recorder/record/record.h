/* SPDX-License-Identifier: Apache-2.0 */
/* A session in a loop: timer, inotify, signals and the command that is recorded. */
#ifndef KYMO_RECORDER_RECORD_H
#define KYMO_RECORDER_RECORD_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kernel/kernel.h"
#include "kernel/stacks.h"
#include "recorder/doctor/doctor.h"
#include "recorder/flight/flight.h"
#include "recorder/session/session.h"

struct json_object;

struct record_options {
	struct session_options session;
	/* Keep the last seconds in memory instead of writing all; then session.output is NULL. */
	const struct flight_options *flight;	/* with snapshots, it ends after so many */
	/* Creates a sink for the "url" of @request; NULL: sinks are directories only. Return: 0; -1
	 * with @err. */
	int (*remote)(void *context, struct json_object *request, struct sink **sink,
		      struct kymo_err *err);
	bool kernel; /* also record the kernel's events, in kernel/ of the (first) trace
		      * directory */
	bool kernel_optional; /* with it: record without them where they are not available; else
				 that is an error */
	bool kernel_all;      /* with it: of all threads, not only those of traced processes */
	const struct opt_list
		*kernel_events; /* with it: only these, see kernel_options; NULL: the usual ones */
	size_t kernel_ring;     /* with it: bytes per CPU; 0: the usual size */
	bool syscalls;			/* with it: also system calls */
	bool cycles;			/* with it: also CPU cycles */
	unsigned stacks_hz; /* samples of call stacks per second of CPU time; 0: none. Needs a
			     * trace directory */
	bool yields; /* end when another recorder wants to begin: what is recorded is only looked
		      * at */
	char **command;			/* argument vector; NULL: attach */
	char **environment;		/* for the command */
	int64_t duration_ns;		/* 0: until a signal, or until the command ends */
	/* Called once, when it records and accepts requests. May be NULL. */
	void (*started)(void *context);
	/* Called about twice a second. May be NULL. */
	void (*progress)(void *context, const struct session_stats *stats);
	void *context;
};

struct record_result {
	struct session_stats stats;
	bool command_ended;       /* by itself or by a signal */
	int command_status;       /* exit status, 128 + signal when one killed it */
	bool command_left;        /* processes that it started still run, which was reported */
	struct stranger stranger; /* why nothing of the command is traced, as seen while it ran */
	struct kernel_stats kernel;
	struct stacks_stats stacks; /* hz 0: none */
	char unmet[512];		/* with flight: flight_unmet() */
};

/**
 * record_run() - record until the command ends, the duration is over, or SIGINT, SIGTERM or
 * SIGHUP arrives
 *
 * The command is in our process group: a Ctrl-C reaches it by itself, SIGTERM and SIGHUP are passed
 * on. Then all that it started has some seconds to end, see record_command.h. A second signal ends
 * the recording at once. From its end on these signals stay blocked, so that what follows, the
 * trace's end and its summary, is not cut short. With flight, SIGUSR1 asks for a snapshot. As many
 * files may be open as the system allows: the soft limit is raised to the hard one, but not for the
 * command.
 *
 * If another recorder that yields has the runtime directory, it is asked to end first.
 *
 * Return: 0; -1 with @err. @result is valid in both cases as far as it came.
 * Context: blocks; uses the default libuv loop's signal handling, one call at a time.
 */
int record_run(const struct record_options *options, struct record_result *result,
	       struct kymo_err *err);

#endif
