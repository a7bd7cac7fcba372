/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Beginning and ending recordings, one step at a time. See steer.h. A step asks a recorder on the
 * pool's thread, or waits until the session's state shows that a recorder has begun or ended. What
 * is asked for during a step is remembered in next and finish, and begins after it.
 */
#include "caret/agent/steer.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "caret/agent/steer_ask.h"
#include "recorder/control/control.h"

/* the user is told after this time that a recording takes long to end */
#define AWAITS_MS 5000

enum step {
	IDLE,
	AWAITING,  /* the end of our previous recorder; then ... */
	STARTING,  /* our own recorder, until it waits for a Start */
	BEGINNING, /* a recorder was asked to begin */
	STOPPING,  /* our recorder was asked to stop, or to continue without some ROS domains */
	ENDING,    /* and stops */
};

struct steer {
	struct steer_options options;
	enum step step;
	struct ros_domains ros;		/* of the present step */
	struct start start;
	struct ros_domains finish;	/* stop for these after the present step */
	struct ros_domains next;	/* then begin for these, with ... */
	struct start next_start;
	uv_work_t work;
	bool session; /* a session exists, at the last update */
	bool stopped; /* result of the work: the recorder stops; otherwise it continues for
		       * others */
	int rc;       /* result of the work */
	struct kymo_err err; /* and why */
	uv_process_t child;
	bool child_runs, child_closes;
	uint64_t awaits_since;		/* uv_now(), until the user is told; 0: was told */
	bool ends;			/* the agent ends */
	uint32_t ending;		/* generation of the session that ends */
	uint32_t asked_about;           /* generation and pid that steer_is_own() answered about */
	int asked_pid;
	bool own;
};

int steer_open(struct steer **steer, const struct steer_options *options, struct kymo_err *err)
{
	*steer = calloc(1, sizeof **steer);
	if (!*steer)
		return err_no_memory(err);
	(*steer)->options = *options;
	return 0;
}

/* ---- requests; on a thread of the pool ---- */

static void ask_begin(uv_work_t *work)
{
	struct steer *steer = work->data;

	steer->rc = 0;
	if (start_filters(&steer->start))
		steer->rc = steer_ask(steer->options.dir, steer_filter_request(&steer->start), NULL,
				      &steer->err);
	if (steer->rc == 0)
		steer->rc = steer_ask(steer->options.dir, steer_request("resume", &steer->ros),
				      NULL, &steer->err);
}

static void ask_stop(uv_work_t *work)
{
	struct steer *steer = work->data;

	steer->rc = steer_ask(steer->options.dir, steer_request("stop", &steer->ros),
			      &steer->stopped, &steer->err);
}

/* ---- on the loop's thread ---- */

static void begin_any(struct steer *steer);
static void after_stop(uv_work_t *work, int status);

static void ask(struct steer *steer, enum step step, uv_work_cb work, uv_after_work_cb after)
{
	steer->step = step;
	steer->work.data = steer;
	(void)uv_queue_work(steer->options.loop, &steer->work, work,
			    after); /* fails only without a callback */
}

/* Begins what was asked for during the last step. An End after a Start that waits cancels the
 * Start. */
static void begin_next(struct steer *steer)
{
	if (steer->step != IDLE || steer->ends)
		return;
	if (ros_domains_limited(&steer->finish)) {
		steer->ros = steer->finish;
		steer->finish = (struct ros_domains){ 0 };
		ask(steer, STOPPING, ask_stop, after_stop);
	} else if (ros_domains_limited(&steer->next)) {
		steer->ros = steer->next;
		steer->start = steer->next_start;
		steer->next = (struct ros_domains){ 0 };
		steer->next_start = (struct start){ 0 };
		begin_any(steer);
	}
}

static void forget_next(struct steer *steer)
{
	steer->next = (struct ros_domains){ 0 };
	start_free(&steer->next_start);
}

/* @failed: why it did not begin, which all are told; NULL: it began. */
static void end_begin(struct steer *steer, const struct kymo_err *failed)
{
	steer->step = IDLE;
	start_free(&steer->start);
	if (failed)
		forget_next(steer);
	steer->options.begun(steer->options.context, failed);
	begin_next(steer);
}

static void after_begin(uv_work_t *work, int status)
{
	struct steer *steer = work->data;
	struct kymo_err err = steer->err;

	if (status < 0)
		(void)err_set(&err, KYMO_EXIT_FAILED, "%s", uv_strerror(status));
	end_begin(steer, status < 0 || steer->rc < 0 ? &err : NULL);
}

static void after_stop(uv_work_t *work, int status)
{
	struct steer *steer = work->data;

	if (status == 0 && steer->rc == 0 && steer->stopped) {
		steer->step = ENDING;
		return;
	}
	steer->step = IDLE;
	if (status < 0 || steer->rc < 0)
		steer->options.say(steer->options.context,
				   status < 0 ? uv_strerror(status) : steer->err.text);
	begin_next(steer);
}

static void begin(struct steer *steer)
{
	ask(steer, BEGINNING, ask_begin, after_begin);
}

/* ---- our own recorder ---- */

static void start_own(struct steer *steer);

/* The recorder's handle can be used again. */
static void on_child_closed(uv_handle_t *handle)
{
	struct steer *steer = handle->data;

	steer->child_closes = false;
	if (steer->step == AWAITING && !steer->ends)
		start_own(steer);
}

static void on_exit_of_child(uv_process_t *process, int64_t status, int term_signal)
{
	struct steer *steer = process->data;
	struct kymo_err err;

	steer->child_runs = false;
	steer->child_closes = true;
	uv_close((uv_handle_t *)process, on_child_closed);
	if (steer->step != STARTING)
		return;
	(void)err_set(&err, KYMO_EXIT_FAILED, "the recorder that was started for the Start ended with %s %d",
		      term_signal ? "signal" : "status", term_signal ? term_signal : (int)status);
	end_begin(steer, &err);
}

static int spawn(struct steer *steer)
{
	char self[] = "/proc/self/exe", name[] = "kymo", verb[] = "record", wait[] = "--wait", quiet[] = "--quiet";
	char *vector[] = { name, verb, wait, quiet, NULL };
	char **environment = steer_environment(steer->options.output);
	uv_stdio_container_t stdio[] = {
		{ .flags = UV_IGNORE }, { .flags = UV_IGNORE }, { .flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO },
	};
	uv_process_options_t how = {
		.exit_cb = on_exit_of_child,
		.file = self,
		.args = vector,
		.env = environment,
		.flags = UV_PROCESS_DETACHED, /* Ctrl-C is handled by the agent, which ends the
						 recorder in order */
		.stdio_count = 3,
		.stdio = stdio,
	};
	int rc;

	if (!environment)
		return UV_ENOMEM;
	steer->child.data = steer;
	rc = uv_spawn(steer->options.loop, &steer->child, &how);
	if (rc < 0) {
		steer->child_closes = true;
		uv_close((uv_handle_t *)&steer->child, on_child_closed);
	}
	steer->child_runs = rc == 0;
	free(environment[0]);
	free(environment[1]);
	free(environment);
	return rc;
}

static void start_own(struct steer *steer)
{
	struct kymo_err err;
	int rc;

	if (steer->child_runs || steer->child_closes) {
		steer->step = AWAITING;
		steer->awaits_since = uv_now(steer->options.loop);
		return;
	}
	steer->step = STARTING;
	rc = spawn(steer);
	if (rc == 0)
		return;
	(void)err_set(&err, KYMO_EXIT_FAILED, "cannot start a recorder: %s", uv_strerror(rc));
	end_begin(steer, &err);
}

bool steer_is_own(struct steer *steer, const struct domain_info *session)
{
	int own;

	if (!session->active || session->elsewhere)
		return false;
	if (steer->child_runs && session->pid == steer->child.pid)
		return true;
	/* Our new recorder has the page, and its number is not there yet: the page has that of a
	 * dead one. */
	if (steer->child_runs)
		return steer_began(session->pid) != 0;
	/* Until a recorder announces its session, the page has the generation of the session
	 * before. */
	if (steer->asked_about == session->generation && steer->asked_pid == session->pid)
		return steer->own;
	own = steer_began(session->pid);
	if (own < 0)
		return false; /* a dead recorder's page, which another is taking over: ask again */
	steer->own = own;
	steer->asked_about = session->generation;
	steer->asked_pid = session->pid;
	return own;
}

/* ---- calls ---- */

static void begin_any(struct steer *steer)
{
	struct kymo_err err;

	if (steer->session) {
		begin(steer);
	} else if (steer->options.own) {
		start_own(steer);
	} else {
		(void)err_set(&err, KYMO_EXIT_EMPTY, "no recorder is running in %s any more", steer->options.dir->path);
		end_begin(steer, &err);
	}
}

void steer_keep(struct steer *steer, const struct ros_domains *ros)
{
	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		steer->finish.bits[i] &= ~ros->bits[i];
}

/* During another step: remember what does not begin anyway. */
static void begin_later(struct steer *steer, const struct ros_domains *ros, struct start *start)
{
	struct ros_domains begins = steer->ros;

	steer_keep(steer, ros);
	if ((steer->step == AWAITING || steer->step == STARTING || steer->step == BEGINNING) &&
	    !ros_domains_join(&begins, ros))
		return;
	(void)ros_domains_join(&steer->next, ros);
	if (!start_filters(start))
		return;
	start_free(&steer->next_start);
	steer->next_start = *start;
	*start = (struct start){ 0 };
}

void steer_begin(struct steer *steer, const struct domain_info *session,
		 const struct ros_domains *ros, struct start *start)
{
	if (steer->step != IDLE) {
		begin_later(steer, ros, start);
		start_free(start);
		return;
	}
	steer->ros = *ros;
	steer->start = *start;
	*start = (struct start){ 0 };
	steer->session = session->active;
	begin_any(steer);
}

void steer_update(struct steer *steer, const struct domain_info *session)
{
	steer->session = session->active;
	if (steer->step == STARTING && session->active && session->armed && steer->child_runs &&
	    session->pid == steer->child.pid)
		begin(steer);
	if (steer->step == AWAITING && steer->awaits_since &&
	    uv_now(steer->options.loop) - steer->awaits_since > AWAITS_MS) {
		steer->awaits_since = 0;
		steer->options.say(steer->options.context, "the Start waits: the previous recording takes long "
				   "to end");
	}
	if (steer->step == STOPPING || steer->step == IDLE)
		steer->ending = session->generation;
	if (steer->step == ENDING && (!session->active || session->generation != steer->ending))
		steer->step = IDLE;
	begin_next(steer);
}

void steer_finish(struct steer *steer, const struct ros_domains *ros)
{
	struct ros_domains stops = steer->ros;

	/* Also while a recording ends: a Start that came after the first End waits in next. */
	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		steer->next.bits[i] &= ~ros->bits[i];
	if (!ros_domains_limited(&steer->next))
		forget_next(steer);
	if (steer->step == ENDING || (steer->step == STOPPING && !ros_domains_join(&stops, ros)))
		return;
	(void)ros_domains_join(&steer->finish, ros);
	begin_next(steer);
}

bool steer_is_busy(const struct steer *steer)
{
	return steer->step != IDLE;
}

bool steer_is_beginning(const struct steer *steer)
{
	return steer->step == AWAITING || steer->step == STARTING || steer->step == BEGINNING ||
	       ros_domains_limited(&steer->next);
}

bool steer_is_ending(const struct steer *steer, uint32_t ros)
{
	return steer->step == ENDING ||
	       (steer->step == STOPPING && ros_domains_has(&steer->ros, ros));
}

bool steer_end(struct steer *steer)
{
	steer->ends = true;
	if (steer->child_runs)
		(void)uv_process_kill(&steer->child, SIGINT);
	return steer->child_runs || steer->step == BEGINNING || steer->step == STOPPING;
}

bool steer_is_done(const struct steer *steer)
{
	return !steer->child_runs && steer->step != BEGINNING && steer->step != STOPPING;
}

void steer_free(struct steer *steer)
{
	if (!steer)
		return;
	start_free(&steer->start);
	start_free(&steer->next_start);
	free(steer);
}
