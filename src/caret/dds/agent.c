/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The agent's loop. It checks shared memory ten times a second, because nothing notifies it of
 * changes there; each change and each message goes through the state machine of the processes that
 * it concerns, which returns the actions.
 */
#include "caret/dds/agent_internal.h"

#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caret/agent/sim_clock.h"
#include "recorder/runtime/agent_lock.h"
#include "recorder/runtime/claim.h"

/* between checks of words in shared memory, which nothing announces */
#define UPDATE_MS		100
#define UPDATE_BUSY_MS	5		/* the same, while something is about to happen */
/* every so many updates: which processes live, and their nodes */
#define THOROUGH	10
#define ELSEWHERE 100 /* every so many updates: programs with another runtime directory */

static const int caught[AGENT_SIGNALS] = { SIGINT, SIGTERM };

void agent_report(const struct agent *agent, const char *format, ...)
{
	char text[512];
	va_list args;

	if (!agent->options->report)
		return;
	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);
	va_end(args);
	agent->options->report(agent->options->context, text);
}

static void say(void *context, const char *text)
{
	const struct agent *agent = context;

	agent->options->say(agent->options->context, text);
}

/* ---- one process ---- */

/* The speaker of the process's ROS domain; if that is not known, the first one. */
struct speaker *agent_speaker(const struct agent *agent, const struct roster_process *process)
{
	if (process->domain < 0)
		return agent->speaker[0];
	for (unsigned i = 0; i < agent->speaker_count; i++)
		if (speaker_domain(agent->speaker[i]) == (uint32_t)process->domain)
			return agent->speaker[i];
	return NULL;
}

unsigned agent_deliver(struct agent *agent, struct roster_process *process,
		       enum machine_input input, bool active)
{
	struct speaker *speaker = agent_speaker(agent, process);
	/* A recording that is ending is over for CARET: End was answered with WAIT. */
	struct machine_condition condition = {
		active,
		steer_is_ending(agent->steer, process->region.ros_domain) ? MACHINE_NONE
									  : process->session,
	};
	struct machine_step step = machine_step(process->state, input, condition);

	process->state = step.next;
	if (step.actions & MACHINE_PUBLISH && speaker && !process->left_out)
		speaker_status(speaker, process);
	return step.actions;
}

static void on_found(void *context, struct roster_process *process)
{
	struct agent *agent = context;

	agent->graph_changed = process->listed = true;
	(void)agent_deliver(agent, process, MACHINE_BORN, false);
	if (agent_speaker(agent, process))
		agent_report(agent, "process %d (%s): %s, %s", process->host_pid, process->region.procname, process->name,
		     machine_name(process->state));
	else
		agent_report(agent, "process %d (%s) is in ROS domain %d, which this agent does not serve; add --domain %d",
		     process->host_pid, process->region.procname, process->domain, process->domain);
}

static void on_gone(void *context, struct roster_process *process)
{
	struct agent *agent = context;

	agent->graph_changed = true;
	agent_report(agent, "process %d (%s) is gone", process->host_pid, process->region.procname);
}

static void on_changed(void *context, struct roster_process *process)
{
	struct agent *agent = context;

	agent->graph_changed = true;
	if (!process->left_out && !process->listed && agent_speaker(agent, process))
		speaker_status(agent_speaker(agent, process),
			       process); /* it is in the graph again */
	process->listed = !process->left_out;
	/* On the path to RECORD the session appears and waits for a Start; if that fails,
	 * MACHINE_FAILED follows. */
	if (process->state == MACHINE_PREPARE && steer_is_beginning(agent->steer) &&
	    (process->session == MACHINE_NONE || process->session == MACHINE_ARMED))
		return;
	(void)agent_deliver(agent, process, MACHINE_SEEN, false);
}

/* ---- updates ---- */

/* While only programs of other domains are recorded, their /clock counts. */
static void update_clock(struct agent *agent, unsigned i)
{
	const struct domain_info *session = &agent->roster.session;
	const uint32_t domain = agent->options->domain[i];

	speaker_want_clock(agent->speaker[i], session->state != KYMO_STATE_RECORD ||
						      ros_domains_has(&session->ros, domain + 1));
	if (!agent->told_torn[i] && speaker_clock_is_torn(agent->speaker[i])) {
		char text[256];

		(void)snprintf(text, sizeof text, "/clock of ROS domain %" PRIu32 " jumps more than %u times a second, and not all of it is "
			       "recorded: check that one program alone publishes it (ros2 topic info -v /clock)", domain, SIM_CLOCK_RATE_MAX);
		say(agent, text);
		agent->told_torn[i] = true;
	}
	if (agent->told_clock[i] || !speaker_has_clock(agent->speaker[i]))
		return;
	agent->told_clock[i] = true;
	agent_report(agent, "/clock of ROS domain %" PRIu32 " has the time of a simulation", domain);
}

void agent_update(struct agent *agent, bool thorough)
{
	const struct roster_calls calls = { on_found, on_gone, on_changed, agent };

	roster_update(&agent->roster, thorough, &calls);
	steer_update(agent->steer, &agent->roster.session);
	for (unsigned i = 0; i < agent->speaker_count; i++)
		update_clock(agent, i);
	if (agent->graph_changed || thorough)
		agent_publish_graph(agent);
}

/* Programs with another runtime directory cannot be seen: tell the user why, once for each
 * directory. */
static void on_elsewhere(void *context, const struct elsewhere_process *process)
{
	struct agent *agent = context;
	const char *own = agent->roster.dir.path;
	char text[1280];

	if (process->agent || strcmp(process->dir, own) == 0 ||
	    agent->elsewhere_count == AGENT_ELSEWHERE_MAX)
		return;
	for (unsigned i = 0; i < agent->elsewhere_count; i++)
		if (strcmp(agent->elsewhere[i], process->dir) == 0)
			return;
	(void)snprintf(agent->elsewhere[agent->elsewhere_count++], sizeof agent->elsewhere[0], "%s", process->dir);
	(void)snprintf(text, sizeof text, "process %d (%s) has the runtime directory %s, so this agent cannot see it; "
		       "start it with KYMO_DIR=%s, or an agent for its directory", process->pid, process->name, process->dir, own);
	say(agent, text);
}

static void on_timer(uv_timer_t *timer)
{
	struct agent *agent = timer->data;
	bool busy;

	agent_update(agent, ++agent->updates % THOROUGH == 0);
	busy = steer_is_busy(agent->steer);
	if (!busy && agent->updates % ELSEWHERE == 1)	/* this takes a while */
		elsewhere_scan(on_elsewhere, agent);
	if (agent->stopping && steer_is_done(agent->steer))
		uv_stop(&agent->loop);
	(void)uv_timer_start(timer, on_timer, busy ? UPDATE_BUSY_MS : UPDATE_MS, 0);
}

void agent_update_soon(struct agent *agent)
{
	(void)uv_timer_start(&agent->timer, on_timer, UPDATE_BUSY_MS, 0);
}

static void on_directory(uv_fs_event_t *watch, const char *name, int events, int status)
{
	(void)name;
	(void)events;
	(void)status;		/* an update is right in any case */
	agent_update(watch->data, false);
}

/* ---- Start and End ---- */

static void on_begun(void *context, const struct kymo_err *err)
{
	struct agent *agent = context;

	if (!err) {
		agent_update(agent, false);
		agent_report(agent, "it records");
		return;
	}
	say(agent, err->text);
	for (unsigned i = 0; i < agent->roster.count; i++)
		(void)agent_deliver(agent, agent->roster.process[i], MACHINE_FAILED, false);
}

/* Handles commands in the order in which they were sent, as far as that is known. Return: whether
 * there were any. */
static bool take_commands(struct agent *agent, struct speaker *speaker)
{
	struct order_sent started, ended;
	struct start start;
	bool starts = speaker_take_start(speaker, &start, &started);
	const bool ends = speaker_take_end(speaker, &ended);

	if (ends && !starts)		/* both may have arrived since the last update */
		starts = speaker_take_start(speaker, &start, &started);
	if (ends && (!starts || ended.ns < started.ns))
		agent_on_end(agent, speaker, &ended);
	if (starts)
		agent_on_start(agent, speaker, &start, &started);
	if (ends && starts && ended.ns >= started.ns)
		agent_on_end(agent, speaker, &ended);
	return starts || ends;
}

static void on_message(uv_async_t *async)
{
	struct agent *agent = async->data;

	for (unsigned i = 0; i < agent->speaker_count && !agent->stopping; i++)
		while (take_commands(agent, agent->speaker[i]))
			;
}

static void wake(void *context)
{
	struct agent *agent = context;

	(void)uv_async_send(&agent->message);
}

/* ---- beginning and end ---- */

static void on_signal(uv_signal_t *handle, int number)
{
	struct agent *agent = handle->data;

	(void)number;
	if (agent->stopping || !steer_end(agent->steer))
		uv_stop(&agent->loop);
	agent->stopping = true;
}

/* One agent for a runtime directory: two would publish the same processes. */
static int lock(struct agent *agent, struct kymo_err *err)
{
	char pid[16] = "", text[256];
	int length;

	agent->lock = openat(agent->roster.dir.fd, AGENT_LOCK_NAME,
			     O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
	if (agent->lock < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create %s/" AGENT_LOCK_NAME,
			       agent->roster.dir.path);
	if (claim(agent->lock) < 0) {
		if (pread(agent->lock, pid, sizeof pid - 1, 0) < 0)
			*pid = 0;
		return err_set(err, KYMO_EXIT_FAILED, "another agent already serves %s%s%.*s; for several domains run one "
			       "agent with several --domain", agent->roster.dir.path, *pid ? ": process " : "", (int)strspn(pid, "0123456789"), pid);
	}
	/* For the next agent, and for kymo doctor. */
	length = snprintf(text, sizeof text, "%d\n", (int)getpid());
	for (unsigned i = 0; i < agent->options->domain_count; i++)
		length += snprintf(text + length, sizeof text - (size_t)length, "%" PRIu32 " ", agent->options->domain[i]);
	if (ftruncate(agent->lock, 0) == 0)
		(void)!pwrite(agent->lock, text, (size_t)length, 0);
	return 0;
}

static int open_speakers(struct agent *agent, struct kymo_err *err)
{
	for (unsigned i = 0; i < agent->options->domain_count; i++) {
		const struct speaker_options options = {
			.domain = agent->options->domain[i],
			.arrived = wake,
			.say = say,
			.context = agent,
		};

		if (speaker_open(&agent->speaker[i], &options, err) < 0)
			return -1;
		agent->speaker_count++;
		if (agent->options->sim_rate &&
		    speaker_record_clock(agent->speaker[i], agent->options->sim_rate,
					 agent->options->domain_count > 1, err) < 0)
			return -1;
	}
	return 0;
}

static int open_handles(struct agent *agent, struct kymo_err *err)
{
	int rc = uv_async_init(&agent->loop, &agent->message, on_message);

	(void)uv_timer_init(&agent->loop, &agent->timer);
	(void)uv_fs_event_init(&agent->loop, &agent->watch);
	agent->message.data = agent->timer.data = agent->watch.data = agent;
	for (unsigned i = 0; rc == 0 && i < AGENT_SIGNALS; i++) {
		(void)uv_signal_init(&agent->loop, &agent->signal[i]);
		agent->signal[i].data = agent;
		rc = uv_signal_start(&agent->signal[i], on_signal, caught[i]);
	}
	if (rc < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create an event loop: %s", uv_strerror(rc));
	/* Without inotify the next thorough update finds new processes. */
	(void)uv_fs_event_start(&agent->watch, on_directory, agent->roster.dir.path, 0);
	return 0;
}

static int serve(struct agent *agent, struct kymo_err *err)
{
	const struct steer_options steer = {
		.loop = &agent->loop,
		.dir = &agent->roster.dir,
		.output = agent->options->output,
		.own = agent->options->active.kind != ACTIVE_KYMO,
		.begun = on_begun,
		.say = say,
		.context = agent,
	};

	if (lock(agent, err) < 0 || steer_open(&agent->steer, &steer, err) < 0 ||
	    open_handles(agent, err) < 0 || open_speakers(agent, err) < 0)
		return -1;
	agent_update(agent, true);
	(void)uv_timer_start(&agent->timer, on_timer, UPDATE_MS, 0);
	if (agent->options->ready)
		agent->options->ready(agent->options->context);
	(void)uv_run(&agent->loop, UV_RUN_DEFAULT);
	return 0;
}

static void close_handle(uv_handle_t *handle, void *unused)
{
	(void)unused;
	if (!uv_is_closing(handle))
		uv_close(handle, NULL);
}

int agent_run(const struct agent_options *options, struct kymo_err *err)
{
	struct agent *agent = calloc(1, sizeof *agent);
	int rc;

	if (!agent)
		return err_no_memory(err);
	agent->options = options;
	agent->lock = -1;
	rc = roster_open(&agent->roster, options->runtime_dir, err);
	if (rc == 0 && (rc = uv_loop_init(&agent->loop)) < 0) {
		roster_close(&agent->roster);
		rc = err_set(err, KYMO_EXIT_FAILED, "cannot create an event loop: %s", uv_strerror(rc));
	} else if (rc == 0) {
		rc = serve(agent, err);
		for (unsigned i = 0; i < agent->speaker_count;
		     i++) /* first, so that no thread wakes the loop any more */
			speaker_close(agent->speaker[i]);
		uv_walk(&agent->loop, close_handle, NULL);
		(void)uv_run(&agent->loop,
			     UV_RUN_DEFAULT); /* closes the handles, and waits for the pool */
		(void)uv_loop_close(&agent->loop);
		roster_close(&agent->roster);
	}
	steer_free(agent->steer);
	if (agent->lock >= 0)
		(void)close(agent->lock);
	free(agent);
	return rc;
}
