/* SPDX-License-Identifier: Apache-2.0 */
/* The kernel's events of a session; see record_kernel.h. */
#include "recorder/record/record_kernel.h"

#include <errno.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "base/now.h"
#include "base/text.h"
#include "recorder/runtime/alive.h"
#include "recorder/drain/drained_process.h"
#include "recorder/session/session.h"
#include "recorder/trace/trace_dir.h"
#include "recorder/trace/traces.h"

static void say(const struct session_options *options, const char *text)
{
	if (options->say)
		options->say(options->context, text);
}

/* Name and directory of the kernel's trace in @trace. Return: false: its path is too long. */
static bool describe(const struct record_kernel *record, const char *name, const char *trace,
		     int64_t clock_offset_ns, struct traces *traces, struct ctf_trace_desc *desc,
		     char dir[PATH_MAX])
{
	const uint64_t realtime = (uint64_t)clock_now_ns(CLOCK_REALTIME);

	traces_describe(traces, desc, basename(name), record->options->version,
			realtime - (uint64_t)clock_offset_ns, realtime);
	desc->form = record->options->files.form;
	if ((unsigned)snprintf(dir, PATH_MAX, "%s/kernel", trace) < PATH_MAX)
		return true;
	say(record->options, "the path of the trace is too long for kernel events; recording without them");
	return false;
}

static void report_no_cycles(const struct record_kernel *record)
{
	const int why = kernel_no_cycles(record->kernel);
	char text[256];

	if (!why)
		return;
	(void)snprintf(text, sizeof(text), "no CPU cycles: %s; recording CPU time (cpu-clock) instead",
		       why == ENOENT || why == ENODEV || why == EOPNOTSUPP ?
		       "this machine has no hardware counter that perf knows (virtual machines often have none)" : strerror(why));
	say(record->options, text);
}

/* ---- its end ---- */

/* Tells viewers of the sink that no event of the kernel before @ns will come any more. */
static void bound(const struct record_kernel *record, uint64_t ns)
{
	const struct sink_place_ops *place = record->sink ? record->sink->ops->place : NULL;

	if (place && place->bound)
		place->bound(record->sink, ns);
}

static void end(struct record_kernel *record)
{
	struct kymo_err err;

	if (!record->kernel)
		return;
	if (kernel_close(record->kernel, &record->stats, &record->left, &err) < 0)
		say(record->options, err.text);
	record->kernel = NULL;
	bound(record, UINT64_MAX);
}

/* ---- where it goes ---- */

static void begin(struct record_kernel *record, struct kernel_options *how)
{
	char text[sizeof(((struct kymo_err *)0)->text) + 64];
	struct kymo_err err;

	record->tried = true;
	how->all = record->all;
	how->events = record->events;
	how->ring_size = record->ring_size;
	how->syscalls = record->syscalls;
	how->cycles = record->cycles;
	how->source = getenv("KYMO_KERNEL_SOURCE");
	if (kernel_open(&record->kernel, how, &err) == 0) {
		if (record->syscalls && !kernel_has_syscalls(record->kernel))
			say(record->options, "this kernel does not have the tracepoints of system calls (raw_syscalls, of "
			    "CONFIG_FTRACE_SYSCALLS); recording its other events");
		report_no_cycles(record);
		return;
	}
	if (!record->optional) { /* rare, because record_kernel_check() has tried it */
		record->refused = err;
		return;
	}
	(void)snprintf(text, sizeof(text), "%s; recording without them", err.text);
	say(record->options, text);
}

static void turn(struct record_kernel *record, const char *dir, const struct ctf_trace_desc *desc)
{
	char text[sizeof(((struct kymo_err *)0)->text) + 64];
	struct kymo_err err;

	if (kernel_turn(record->kernel, dir, desc, &record->left, &err) == 0)
		return;
	(void)snprintf(text, sizeof(text), "%s; recording continues without the kernel's events", err.text);
	say(record->options, text);
	end(record);
}

static void on_place(void *context, const char *place)
{
	struct record_kernel *record = context;
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	char dir[PATH_MAX];

	if (!place && record->kernel)
		say(record->options, "the kernel's events end with the trace directory that contains them");
	if (!place)
		end(record);
	else if ((record->kernel || !record->tried) &&
		 describe(record, record->sink->name, place, session_clock_offset(record->session),
			  &traces, &desc, dir)) {
		if (record->kernel)
			turn(record, dir, &desc);
		else
			begin(record, &(struct kernel_options){ .dir = dir, .desc = &desc });
	}
}

static void present(const struct record_kernel *record, struct kernel_stats *stats)
{
	if (record->kernel)
		kernel_place(record->kernel, stats);
	else
		*stats = record->left;
}

static uint64_t on_bytes(void *context)
{
	struct kernel_stats stats;

	present(context, &stats);
	return stats.bytes;
}

static uint64_t on_events(void *context)
{
	struct kernel_stats stats;

	present(context, &stats);
	return stats.events;
}

static char *on_tell(void *context)
{
	const struct record_kernel *record = context;
	struct json_object *object =
		record->left.source ? session_account_kernel(&record->left, true) : NULL;
	char *text = NULL;

	if (object && asprintf(&text, "\"kernel\":%s", json_object_to_json_string(object)) < 0)
		text = NULL;
	json_object_put(object);
	return text;
}

static void begin_in_store(struct record_kernel *record)
{
	const struct ctf_store *store = record->sink->ops->place->store(record->sink, "kernel", &record->beside);
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	char dir[PATH_MAX];

	if (!store || !describe(record, record->sink->name, "", session_clock_offset(record->session), &traces, &desc, dir))
		return;
	begin(record, &(struct kernel_options){ .store = store, .desc = &desc });
	bound(record, record->kernel ? 0 : UINT64_MAX);
}

int record_kernel_check(const struct record_options *options, struct kymo_err *err)
{
	const struct kernel_options wanted = {
		.all = options->kernel_all,
		.events = options->kernel_events,
		.syscalls = options->syscalls,
		.source = getenv("KYMO_KERNEL_SOURCE"),
	};
	struct kymo_err why;

	if (!options->kernel || options->kernel_optional || kernel_probe(&wanted, &why))
		return 0;
	return err_set(err, why.status,
		       "%s; or record without what is missing: --kernel=if-possible", why.text);
}

int record_kernel_begin(struct record_kernel *record, struct session *session,
			const struct record_options *options, struct kymo_err *err)
{
	const struct flight_options *flight = options->flight;
	const struct sink_place_ops *place;

	*record = (struct record_kernel){
		.session = session,
		.options = &options->session,
		.optional = options->kernel_optional,
		.events = options->kernel_events,
		.ring_size = options->kernel_ring,
		.all = options->kernel_all,
		.syscalls = options->syscalls,
		.cycles = options->cycles,
		.window_ns = flight ? flight->window_ns : 0,
		.beside = { on_place, on_bytes, on_events, on_tell, record },
	};
	if (flight) {
		begin(record, &(struct kernel_options){ .window_ns = flight->window_ns,
							.memory = flight->memory / 4 });
	} else {
		record->sink = session_sink(session, 0);
		place = record->sink->ops->place;
		if (place && place->beside)
			place->beside(record->sink, &record->beside);
		else if (place && place->store)
			begin_in_store(record);
	}
	if (record->refused.status)
		*err = record->refused;
	return record->refused.status ? -1 : 0;
}

/* ---- snapshots ---- */

/* The snapshot was written before, with its accounts. */
static void account(const struct flight_report *report, const struct kernel_stats *stats)
{
	char path[PATH_MAX];
	struct json_object *root;
	const char *text;

	if ((unsigned)snprintf(path, sizeof(path), "%s/" ACCOUNTS_FILE, report->path) >= sizeof(path))
		return;
	root = json_object_from_file(path);
	if (json_object_is_type(root, json_type_object)) {
		json_object_object_add(root, "kernel", session_account_kernel(stats, false));
		text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
								    JSON_C_TO_STRING_NOSLASHESCAPE);
		if (text)
			(void)trace_dir_write(report->path, ACCOUNTS_FILE, text, strlen(text));
	}
	json_object_put(root);
}

void record_kernel_snapshot(struct record_kernel *record, const struct flight_report *report)
{
	struct traces traces = { 0 };
	struct ctf_trace_desc desc;
	struct kernel_stats stats;
	char dir[PATH_MAX];
	struct kymo_err err;

	if (!record->kernel || report->failed ||
	    !describe(record, report->path, report->path, report->clock_offset_ns, &traces, &desc,
		      dir))
		return;
	if (kernel_snapshot(record->kernel, &(struct kernel_snapshot){
		.dir = dir, .desc = &desc, .begin_ns = report->begin_ns, .end_ns = report->end_ns,
	    }, &stats, &err) < 0)
		say(record->options, err.text);
	else
		account(report, &stats);
}

/* Once. The window of the other events may still be complete. */
static void report_short_window(struct record_kernel *record)
{
	const uint64_t shortest = kernel_shortest(record->kernel);
	char kept[TEXT_QUANTITY_MAX], window[TEXT_QUANTITY_MAX], text[160];

	if (record->told_short || !shortest || shortest >= record->window_ns)
		return;
	record->told_short = true;
	(void)snprintf(text, sizeof(text), "the memory holds only the last %s of %s of the kernel's events; increase "
		       "--flight-memory", text_ns(kept, (int64_t)shortest), text_ns(window, (int64_t)record->window_ns));
	say(record->options, text);
}

void record_kernel_starts(struct record_kernel *record)
{
	if (record->kernel)
		kernel_starts(record->kernel);
}

void record_kernel_command(struct record_kernel *record, int pid)
{
	if (record->kernel)
		kernel_follow(record->kernel, pid);
}

/* A process whose thread numbers differ from those in the kernel's events. Once; the trace has both
 * numbers of the process. */
static void report_other_namespace(struct record_kernel *record,
				   const struct drained_process *process)
{
	char text[256];

	if (record->told || process->region.pid_ns == alive_own_pid_ns())
		return;
	record->told = true;
	if (process->host_pid)
		(void)snprintf(text, sizeof(text), "process %d (%.64s) is number %u in a PID namespace of its own: the kernel's events "
			       "name it by the host's numbers, so they are not joined with its own events",
			       process->host_pid, process->region.procname, process->region.pid);
	else
		(void)snprintf(text, sizeof(text), "process %u (%.64s) has no number here (it is in another PID namespace): the "
			       "kernel's events leave its threads out", process->region.pid, process->region.procname);
	say(record->options, text);
}

/* Follows processes that came since the last call. */
static void follow(struct record_kernel *record)
{
	const struct drained_process *process;

	for (unsigned i = 0; (process = session_process(record->session, i)); i++) {
		if (process->ordinal < record->followed || process->finished)
			continue;
		report_other_namespace(record, process);
		if (process->host_pid)
			kernel_follow(record->kernel, process->host_pid);
	}
	record->followed = session_processes_seen(record->session);
}

int record_kernel_poll(struct record_kernel *record, int wait_ms)
{
	struct kymo_err err;
	int mine;

	if (!record->kernel)
		return wait_ms;
	if (record->followed != session_processes_seen(record->session))
		follow(record);
	mine = kernel_poll(record->kernel, &err);
	if (mine < 0) {
		end(record);		/* reports the error */
		return wait_ms;
	}
	bound(record, kernel_told(record->kernel));
	report_short_window(record);
	return wait_ms < mine ? wait_ms : mine;
}

void record_kernel_end(struct record_kernel *record, struct kernel_stats *stats)
{
	if (record->kernel && !record->window_ns)
		follow(record);
	end(record);
	*stats = record->stats;
	if (record->session && !record->window_ns)
		session_set_kernel(record->session, record->sink, stats);
}
