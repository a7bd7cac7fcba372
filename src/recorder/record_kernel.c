/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events beside a session's; see record_kernel.h. */
#include "recorder/record_kernel.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

#include "recorder/traces.h"

static void say(const struct session_options *options, const char *text)
{
	if (options->say)
		options->say(options->context, text);
}

void record_kernel_begin(struct kernel **kernel, const struct session *session, const struct session_options *options)
{
	const char *output = session_output(session), *slash = strrchr(output, '/');
	char dir[PATH_MAX], text[sizeof(((struct err *)0)->text) + 64];
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	struct timespec now;
	uint64_t realtime;
	struct err err;

	(void)clock_gettime(CLOCK_REALTIME, &now);
	realtime = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
	traces_describe(&traces, &desc, slash ? slash + 1 : output, options->version,
			realtime - (uint64_t)session_clock_offset(session), realtime);
	if ((unsigned)snprintf(dir, sizeof(dir), "%s/kernel", output) >= sizeof(dir)) {
		say(options, "the path of the trace is too long for kernel events; recording without them");
		return;
	}
	if (kernel_open(kernel, &(struct kernel_options){ .dir = dir, .desc = &desc }, &err) == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s; recording without them", err.text);
	say(options, text);
}

/* A second failure has the same cause: it is not said again. */
int record_kernel_poll(struct kernel **kernel, const struct session_options *options, int wait_ms)
{
	struct kernel_stats stats;
	struct err err, again;
	int mine;

	if (!*kernel)
		return wait_ms;
	mine = kernel_poll(*kernel, &err);
	if (mine < 0) {
		say(options, err.text);
		(void)kernel_close(*kernel, &stats, &again);
		*kernel = NULL;
		return wait_ms;
	}
	return wait_ms < mine ? wait_ms : mine;
}

void record_kernel_end(struct kernel *kernel, const struct session_options *options, struct kernel_stats *stats)
{
	struct err err;

	if (kernel_close(kernel, stats, &err) < 0)
		say(options, err.text);
}
