/* SPDX-License-Identifier: Apache-2.0 */
/* Samples of call stacks beside a session; see record_stacks.h. */
#include "recorder/record/record_stacks.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "base/now.h"
#include "recorder/drain/drained_process.h"
#include "recorder/trace/traces.h"

static void say(const struct record_stacks *record, const char *text)
{
	if (record->options->say)
		record->options->say(record->options->context, text);
}

static void end(struct record_stacks *record)
{
	struct kymo_err err;

	if (!record->stacks)
		return;
	if (stacks_close(record->stacks, &record->stats, &err) < 0)
		say(record, err.text);
	record->stacks = NULL;
	if (record->session) /* NULL: the session could not begin */
		session_set_stacks(record->session, record->sink, &record->stats);
}

/* ---- where it goes ---- */

static void on_place(void *context, const char *place)
{
	struct record_stacks *record = context;
	const uint64_t realtime = (uint64_t)clock_now_ns(CLOCK_REALTIME),
		       offset = (uint64_t)session_clock_offset(record->session);
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	char dir[PATH_MAX];
	struct kymo_err err;

	if (!record->stacks)
		return;
	if (!place) {
		end(record);
		return;
	}
	traces_describe(&traces, &desc, basename(record->sink->name), record->options->version,
			realtime - offset, realtime);
	desc.form = record->options->files.form;
	if ((unsigned)snprintf(dir, sizeof(dir), "%s/" RECORD_STACKS_DIR, place) >= sizeof(dir)) {
		say(record,
		    "the path of the trace is too long for call stacks; recording without them");
		end(record);
	} else if (stacks_place(record->stacks, dir, &desc, &err) < 0) {
		say(record, err.text);
		say(record, "recording continues without call stacks");
		end(record);
	}
}

static uint64_t on_bytes(void *context)
{
	const struct record_stacks *record = context;
	struct stacks_stats stats = { 0 };

	if (record->stacks)
		stacks_stats(record->stacks, &stats);
	return stats.bytes;
}

static uint64_t on_events(void *context)
{
	const struct record_stacks *record = context;
	struct stacks_stats stats = { 0 };

	if (record->stacks)
		stacks_stats(record->stacks, &stats);
	return stats.events;
}

int record_stacks_open(struct record_stacks *record, unsigned hz,
		       const struct session_options *options, struct kymo_err *err)
{
	*record = (struct record_stacks){ .options = options };
	return hz ? stacks_open(&record->stacks, hz, err) : 0;
}

void record_stacks_begin(struct record_stacks *record, struct session *session)
{
	struct stacks_stats stats;

	record->session = session;
	record->beside = (struct sink_beside){ on_place, on_bytes, on_events, NULL, record };
	if (!record->stacks)
		return;
	record->sink = session_sink(session, 0);
	record->sink->ops->place->beside(record->sink, &record->beside);
	if (!record->stacks)
		return;
	stacks_stats(record->stacks, &stats);
	if (stats.user_only)
		say(record,
		    "call stacks without the kernel's functions and without the time off the CPU: these need "
		    "CAP_PERFMON, or kernel.perf_event_paranoid of at most 1");
}

/* ---- whose ---- */

static void follow(struct record_stacks *record, int pid)
{
	struct kymo_err err;

	if (stacks_follow(record->stacks, pid, &err) == 0 || record->told)
		return;
	record->told = true;
	say(record, err.text);
}

void record_stacks_command(struct record_stacks *record, int pid)
{
	if (record->stacks)
		follow(record, pid);
}

/* Processes that came since the last call. */
static void follow_new(struct record_stacks *record)
{
	const struct drained_process *process;

	for (unsigned i = 0; (process = session_process(record->session, i)); i++)
		if (process->ordinal >= record->followed && !process->finished && process->host_pid)
			follow(record, process->host_pid);
	record->followed = session_processes_seen(record->session);
}

int record_stacks_poll(struct record_stacks *record, int wait_ms)
{
	struct kymo_err err;
	int mine;

	if (!record->stacks)
		return wait_ms;
	if (record->followed != session_processes_seen(record->session))
		follow_new(record);
	mine = stacks_poll(record->stacks, &err);
	if (mine < 0) {
		end(record); /* reports the error */
		return wait_ms;
	}
	return wait_ms < mine ? wait_ms : mine;
}

void record_stacks_end(struct record_stacks *record)
{
	end(record);
}
