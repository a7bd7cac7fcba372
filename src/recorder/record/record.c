/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/record/record.h"

#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <uv.h>

#include "recorder/control/control.h"
#include "recorder/record/record_requests.h"
#include "recorder/record/record_selves.h"
#include "base/array.h"

#define FILES_LEAST 32 /* descriptors */
#define PROGRESS_MS		500
/* until we look why nothing of the command is traced; then twice as long each time */
#define STRANGERS_MS		1000
#define STRANGERS_MAX_MS 60000
#define SOON_MS 1 /* from a new program to the next round */

static const int caught[RECORD_SIGNALS] = {SIGINT, SIGTERM, SIGHUP};

static void on_duration(uv_timer_t *timer);

void record_finish(struct recorder *recorder)
{
	uv_stop(&recorder->loop);
}

static void on_poll(uv_timer_t *timer)
{
	struct recorder *recorder = timer->data;
	int wait_ms;

	if (recorder->flight && flight_due(recorder->flight))
		session_flush(recorder->session);
	wait_ms = session_poll(recorder->session);
	if (recorder->flight && flight_work(recorder->flight))
		wait_ms = 0;
	wait_ms = record_kernel_poll(&recorder->kernel, wait_ms);
	wait_ms = record_stacks_poll(&recorder->stacks, wait_ms);
	if (recorder->flight && !recorder->stopping && flight_is_done(recorder->flight))
		on_duration(&recorder->deadline);
	(void)uv_timer_start(timer, on_poll, (uint64_t)wait_ms, 0);
}

void record_poll_soon(struct recorder *recorder)
{
	(void)uv_timer_start(&recorder->poll, on_poll, 0, 0);
}

static void on_change(uv_fs_event_t *watch, const char *name, int events, int status)
{
	struct recorder *recorder = watch->data;

	(void)name;
	(void)events;
	(void)status;		/* whatever it is, looking again does no harm */
	session_notice(recorder->session);
	/* The first events of a new program do not wait for the rest of a long round. */
	if (uv_timer_get_due_in(&recorder->poll) > SOON_MS)
		(void)uv_timer_start(&recorder->poll, on_poll, SOON_MS, 0);
}

static void on_progress(uv_timer_t *timer)
{
	struct recorder *recorder = timer->data;
	struct session_stats stats;

	session_stats(recorder->session, &stats);
	recorder->options->progress(recorder->options->context, &stats);
}

/* If nothing of the command is traced: why? This works only while its processes run. */
static void look_for_strangers(struct recorder *recorder)
{
	struct session_stats stats;

	if (!recorder->command.runs)
		return;
	session_stats(recorder->session, &stats);
	if (!stats.processes)
		doctor_strangers(recorder->command.process.pid, &recorder->result->stranger);
}

static void on_strangers(uv_timer_t *timer)
{
	struct recorder *recorder = timer->data;

	look_for_strangers(recorder);
	if (recorder->strangers_ms < STRANGERS_MAX_MS)
		recorder->strangers_ms *= 2;
	(void)uv_timer_start(timer, on_strangers, recorder->strangers_ms, 0);
}

/* The command gets time to end; the loop ends with it or with its time. The second time, the loop
 * ends at once. */
static void stop(struct recorder *recorder, int number)
{
	if (recorder->flight)
		flight_disarm(recorder->flight); /* a process that we end has not died */
	recorder->stopping = true;
	look_for_strangers(recorder);
	if (!command_end(recorder, number))
		record_finish(recorder);
}

static void on_signal(uv_signal_t *handle, int number)
{
	stop(handle->data, number);
}

static void on_duration(uv_timer_t *timer)
{
	stop(timer->data, 0);
}

/* ---- what others may ask for ---- */

static void on_stop_request(void *context, struct control_call *call, struct json_object *request)
{
	struct recorder *recorder = context;

	if (record_stop(recorder->session, call, request))
		on_duration(&recorder->deadline);
}

static void on_yield_request(void *context, struct control_call *call, struct json_object *request)
{
	struct recorder *recorder = context;

	(void)request;
	if (record_yield(recorder->options, call))
		on_duration(&recorder->deadline);
}

static const struct control_request requests[] = {
	{ "stop", on_stop_request },         { "yield", on_yield_request },
	{ "pause", record_pause },           { "resume", record_resume },
	{ "snapshot", record_snapshot }, { "sink_add", record_sink_add },
	{ "sink_list", record_sink_list },   { "sink_remove", record_sink_remove },
	{ "filter", record_filter },         { 0 },
};

static void on_snapshot_signal(uv_signal_t *handle, int number)
{
	struct recorder *recorder = handle->data;

	(void)number;
	if (recorder->flight)
		flight_request(recorder->flight, FLIGHT_SIGNAL, 0, NULL, NULL);
	else if (recorder->options->session.say)
		recorder->options->session.say(recorder->options->session.context, "SIGUSR1 requests a snapshot, "
					       "which requires --flight; this recorder writes everything");
}

/* ---- the loop ---- */

/* Under nohup a hangup is ignored. */
static bool is_ignored(int number)
{
	struct sigaction action;

	return number == SIGHUP && sigaction(number, NULL, &action) == 0 &&
	       action.sa_handler == SIG_IGN;
}

/* Signals wait until handlers exist: a session that has begun is completed. */
static void hold_signals(int how)
{
	sigset_t set;

	(void)sigemptyset(&set);
	for (unsigned i = 0; i < RECORD_SIGNALS; i++)
		(void)sigaddset(&set, caught[i]);
	(void)pthread_sigmask(how, &set, NULL);
}

static int start(struct recorder *recorder)
{
	const struct record_options *options = recorder->options;
	struct kymo_err why;
	int rc;

	for (unsigned i = 0; i < RECORD_SIGNALS; i++) {
		if (is_ignored(caught[i]))
			continue;
		(void)uv_signal_init(&recorder->loop, &recorder->signal[i]);	/* cannot fail */
		recorder->signal[i].data = recorder;
		rc = uv_signal_start(&recorder->signal[i], on_signal, caught[i]);
		if (rc < 0)
			return err_set(recorder->err, KYMO_EXIT_FAILED, "cannot catch signals: %s",
				       uv_strerror(rc));
		command_watch_signal(caught[i]);
	}
	(void)uv_signal_init(&recorder->loop, &recorder->snapshot_signal);
	recorder->snapshot_signal.data = recorder;
	(void)uv_signal_start(&recorder->snapshot_signal, on_snapshot_signal, SIGUSR1);
	hold_signals(SIG_UNBLOCK);
	/* Without inotify (limits!) the session still looks every second and by mtime. */
	(void)uv_fs_event_init(&recorder->loop, &recorder->watch);
	recorder->watch.data = recorder;
	(void)uv_fs_event_start(&recorder->watch, on_change, session_runtime_dir(recorder->session),
				0);
	/* Without a control socket, `kymo stop` says how to end the recording. */
	if (control_open(&recorder->control, &recorder->loop,
			 session_runtime_dir(recorder->session), requests, recorder, &why) < 0 &&
	    options->session.say)
		options->session.say(options->session.context, why.text);
	if (options->command) {
		rc = command_start(recorder);
		if (rc < 0)
			return err_set(recorder->err, KYMO_EXIT_INPUT, "cannot start %s: %s",
				       options->command[0], uv_strerror(rc));
		recorder->strangers_ms = STRANGERS_MS;
		(void)uv_timer_start(&recorder->strangers, on_strangers, STRANGERS_MS, 0);
	}
	(void)uv_timer_start(&recorder->poll, on_poll, 0, 0);
	if (options->progress)
		(void)uv_timer_start(&recorder->progress, on_progress, PROGRESS_MS, PROGRESS_MS);
	if (options->duration_ns > 0)
		(void)uv_timer_start(&recorder->deadline, on_duration,
				     (uint64_t)options->duration_ns / 1000000, 0);
	if (options->started)
		options->started(options->context);
	return 0;
}

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

static int run_loop(struct recorder *recorder)
{
	uv_timer_t *timer[] = { &recorder->poll, &recorder->deadline, &recorder->progress,
				&recorder->strangers, &recorder->command.timer };
	int rc;

	rc = uv_loop_init(&recorder->loop);
	if (rc < 0)
		return err_set(recorder->err, KYMO_EXIT_FAILED, "cannot create an event loop: %s",
			       uv_strerror(rc));
	for (unsigned i = 0; i < COUNT_OF(timer); i++) {
		(void)uv_timer_init(&recorder->loop, timer[i]);
		timer[i]->data = recorder;
	}
	rc = start(recorder);
	if (rc == 0)
		(void)uv_run(&recorder->loop, UV_RUN_DEFAULT);
	recorder->result->command_left = command_report(recorder);
	record_sinks_end(recorder->session);
	control_close(recorder->control);
	recorder->control = NULL;
	/* Complete the trace: a second signal ("timeout -s INT", an impatient Ctrl-C) does not
	 * interrupt it. */
	hold_signals(SIG_BLOCK);
	uv_walk(&recorder->loop, close_handle, NULL);
	(void)uv_run(&recorder->loop, UV_RUN_DEFAULT);	/* runs the closings */
	(void)uv_loop_close(&recorder->loop);
	return rc;
}

/* ---- snapshots ---- */

static int name_snapshot(void *context, unsigned number, char *path, unsigned size,
			 struct kymo_err *err)
{
	const struct flight_options *options = ((const struct recorder *)context)->options->flight;

	return options->name(options->context, number, path, size, err);
}

/* The kernel's part first: whoever hears of a snapshot may read it at once. */
static void on_written(void *context, const struct flight_report *report)
{
	struct recorder *recorder = context;
	const struct flight_options *options = recorder->options->flight;

	record_kernel_snapshot(&recorder->kernel, report);
	if (options->written)
		options->written(options->context, report);
}

static int check_files(struct kymo_err *err)
{
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_max >= FILES_LEAST)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED,
		       "cannot record: at most %llu files may be open at a time, and a recorder "
		       "needs %d; raise the limit (ulimit -n)",
		       (unsigned long long)limit.rlim_max, FILES_LEAST);
}

/* What was before the end may fire still, and is not read yet. */
static void end_triggers(struct recorder *recorder)
{
	session_flush(recorder->session);
	(void)session_poll(recorder->session);
	flight_unmet(recorder->flight, recorder->result->unmet, sizeof recorder->result->unmet);
}

int record_run(const struct record_options *options, struct record_result *result,
	       struct kymo_err *err)
{
	struct recorder recorder = { .options = options, .result = result, .err = err };
	struct session_options session = options->session;
	struct kymo_err end_err;
	int rc, ended;

	*result = (struct record_result){ 0 };
	if (check_files(err) < 0 || record_kernel_check(options, err) < 0 ||
	    record_stacks_open(&recorder.stacks, options->stacks_hz, &options->session, err) < 0)
		return -1;
	if (options->flight) {
		struct flight_options flight = *options->flight;

		flight.name = name_snapshot;
		flight.written = on_written;
		flight.context = &recorder;
		if (flight_create(&flight, &recorder.flight, err) < 0)
			goto no_session;
		session.sink = flight_sink(recorder.flight);
	}
	if (!options->yields)
		record_ask_to_yield(options->session.runtime_dir);
	record_selves(&options->session);
	recorder.soft_files = command_limit_files(RLIM_INFINITY);
	hold_signals(SIG_BLOCK);
	if (session_begin(&session, &recorder.session, err) < 0) {
		hold_signals(SIG_UNBLOCK);
		goto no_session;
	}
	rc = options->kernel ? record_kernel_begin(&recorder.kernel, recorder.session, options, err)
			     : 0;
	record_stacks_begin(&recorder.stacks, recorder.session);
	if (rc == 0)
		rc = run_loop(&recorder);
	else
		hold_signals(SIG_UNBLOCK);
	record_stacks_end(&recorder.stacks);
	result->stacks = recorder.stacks.stats;
	/* The flight recorder writes waiting snapshots at the end of the session. */
	if (!recorder.flight)
		record_kernel_end(&recorder.kernel, &result->kernel);
	else
		end_triggers(&recorder);
	ended = session_end(recorder.session, &end_err);
	if (recorder.flight)
		record_kernel_end(&recorder.kernel, &result->kernel);
	if (rc == 0 && ended < 0) {
		*err = end_err;
		rc = -1;
	}
	session_stats(recorder.session, &result->stats);
	session_free(recorder.session);
	return rc;
no_session:
	record_stacks_end(&recorder.stacks);
	return -1;
}
