/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events beside a session's; see record_kernel.h. */
#include "recorder/record_kernel.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "recorder/session_internal.h"
#include "recorder/traces.h"

static void say(const struct session_options *options, const char *text)
{
	if (options->say)
		options->say(options->context, text);
}

void record_kernel_begin(struct record_kernel *record, const struct session *session, const struct session_options *options,
			 bool all)
{
	const char *output = session_output(session), *slash = strrchr(output, '/');
	char dir[PATH_MAX], text[sizeof(((struct err *)0)->text) + 64];
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	struct timespec now;
	uint64_t realtime;
	struct err err;

	*record = (struct record_kernel){ .session = session, .options = options };
	(void)clock_gettime(CLOCK_REALTIME, &now);
	realtime = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	traces_describe(&traces, &desc, slash ? slash + 1 : output, options->version,
			realtime - (uint64_t)session_clock_offset(session), realtime);
	if ((unsigned)snprintf(dir, sizeof(dir), "%s/kernel", output) >= sizeof(dir)) {
		say(options, "the path of the trace is too long for kernel events; recording without them");
		return;
	}
	if (kernel_open(&record->kernel, &(struct kernel_options){
		.dir = dir, .desc = &desc, .all = all, .source = getenv("KYMO_KERNEL_SOURCE"),
	}, &err) == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s; recording without them", err.text);
	say(options, text);
}

void record_kernel_command(struct record_kernel *record, int pid)
{
	if (record->kernel)
		kernel_follow(record->kernel, pid);
}

/* Those that came since the last time. */
static void follow(struct record_kernel *record)
{
	const struct session *session = record->session;

	for (unsigned i = 0; i < session->process_count; i++) {
		const struct process *process = session->process[i];

		if (process->ordinal < record->followed || process->finished)
			continue;
		if (process->host_pid) {
			kernel_follow(record->kernel, process->host_pid);
		} else if (!record->told) {
			record->told = true;
			say(record->options, "a traced process has no number here (it is in another PID namespace): the kernel's "
			    "events leave its threads out");
		}
	}
	record->followed = session->processes_met;
}

/* A second failure has the same cause: it is not said again. */
int record_kernel_poll(struct record_kernel *record, int wait_ms)
{
	struct kernel_stats stats;
	struct err err, again;
	int mine;

	if (!record->kernel)
		return wait_ms;
	if (record->followed != record->session->processes_met)
		follow(record);
	mine = kernel_poll(record->kernel, &err);
	if (mine < 0) {
		say(record->options, err.text);
		(void)kernel_close(record->kernel, &stats, &again);
		record->kernel = NULL;
		return wait_ms;
	}
	return wait_ms < mine ? wait_ms : mine;
}

void record_kernel_end(struct record_kernel *record, struct kernel_stats *stats)
{
	struct err err;

	if (record->kernel)
		follow(record);
	if (kernel_close(record->kernel, stats, &err) < 0)
		say(record->options, err.text);
	record->kernel = NULL;
}
