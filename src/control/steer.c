/* SPDX-License-Identifier: Apache-2.0 */
#include "control/steer.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/control.h"
#include "recorder/environment.h"

#define ASK_MS		30000		/* a recorder writes what there is before it answers */
#define ASK_TRIES	3000
#define ASK_AGAIN_US	2000
#define OWN_VARIABLE	"KYMO_AGENT"	/* in the environment of a recorder that an agent started */

enum step {
	IDLE,
	STARTING,	/* a recorder of our own, until it is armed */
	BEGINNING,	/* a recorder is asked to begin */
	STOPPING,	/* ours is asked to stop */
	ENDING,		/* and does */
};

struct steer {
	struct steer_options options;
	enum step step;
	bool finish_wanted;		/* when the present step is over */
	uv_work_t work;
	struct start start;
	int rc;				/* of the work, */
	struct err err;			/* and why */
	uv_process_t child;
	bool child_runs;
	uint32_t ending;		/* generation of the session that ends */
	uint32_t asked_about;		/* steer_is_own() answered about this generation */
	bool own;
};

int steer_open(struct steer **steer, const struct steer_options *options, struct err *err)
{
	*steer = calloc(1, sizeof **steer);
	if (!*steer)
		return err_set(err, EXIT_FAILED, "out of memory");
	(*steer)->options = *options;
	return 0;
}

/* ---- asking; on a thread of the pool ---- */

static bool somebody_records(const struct steer *steer)
{
	struct domain_info session;

	return domain_inspect(steer->options.dir, &session, NULL) == 0 && session.active;
}

/* A recorder is there a moment before it can be asked. */
static int ask(const struct steer *steer, struct json_object *request, struct err *err)
{
	struct json_object *reply;
	int rc = control_ask(steer->options.dir, request, ASK_MS, &reply, err);

	for (int i = 0; rc == 1 && i < ASK_TRIES && somebody_records(steer); i++) {
		(void)usleep(ASK_AGAIN_US);
		rc = control_ask(steer->options.dir, request, ASK_MS, &reply, err);
	}
	json_object_put(request);
	json_object_put(reply);
	return rc == 1 ? err_set(err, EXIT_FAILED, "nobody records in %s any more", steer->options.dir->path) : rc;
}

static struct json_object *request_of(const char *what)
{
	struct json_object *request = json_object_new_object();

	json_object_object_add(request, "request", json_object_new_string(what));
	return request;
}

static void ask_begin(uv_work_t *work)
{
	struct steer *steer = work->data;

	steer->rc = 0;
	if (start_filters(&steer->start)) {
		struct json_object *request = request_of("filter");

		json_object_object_add(request, "do", json_object_new_string("caret"));
		for (unsigned i = 0; i < CARET_LISTS; i++)
			if (steer->start.list[i])
				json_object_object_add(request, filter_caret_variable((enum filter_caret_list)i),
						       json_object_new_string(steer->start.list[i]));
		steer->rc = ask(steer, request, &steer->err);
	}
	if (steer->rc == 0)
		steer->rc = ask(steer, request_of("resume"), &steer->err);
}

static void ask_stop(uv_work_t *work)
{
	struct steer *steer = work->data;

	steer->rc = ask(steer, request_of("stop"), &steer->err);
}

/* ---- on the loop's thread ---- */

static void finish_if_wanted(struct steer *steer)
{
	if (steer->step == IDLE && steer->finish_wanted)
		steer_finish(steer);
}

static void after_begin(uv_work_t *work, int status)
{
	struct steer *steer = work->data;
	struct err err = steer->err;

	if (status < 0)
		(void)err_set(&err, EXIT_FAILED, "%s", uv_strerror(status));
	steer->step = IDLE;
	start_free(&steer->start);
	steer->options.begun(steer->options.context, status < 0 || steer->rc < 0 ? &err : NULL);
	finish_if_wanted(steer);
}

static void after_stop(uv_work_t *work, int status)
{
	struct steer *steer = work->data;

	if (status == 0 && steer->rc == 0) {
		steer->step = ENDING;
		return;
	}
	steer->step = IDLE;
	steer->options.say(steer->options.context, status < 0 ? uv_strerror(status) : steer->err.text);
}

static void begin(struct steer *steer)
{
	steer->step = BEGINNING;
	steer->work.data = steer;
	(void)uv_queue_work(steer->options.loop, &steer->work, ask_begin, after_begin);	/* fails without callback only */
}

static void could_not(struct steer *steer, const struct err *err)
{
	steer->step = IDLE;
	start_free(&steer->start);
	steer->options.begun(steer->options.context, err);
	finish_if_wanted(steer);
}

/* ---- a recorder of our own ---- */

static void on_exit_of_child(uv_process_t *process, int64_t status, int term_signal)
{
	struct steer *steer = process->data;
	struct err err;

	steer->child_runs = false;
	uv_close((uv_handle_t *)process, NULL);
	if (steer->step != STARTING)
		return;
	(void)err_set(&err, EXIT_FAILED, "the recorder that was started for it ended at once, with %s %d",
		      term_signal ? "signal" : "status", term_signal ? term_signal : (int)status);
	could_not(steer, &err);
}

/* Ours, with what marks it and says where traces go. Return: to be freed, with its first two texts; NULL. */
static char **child_environment(const char *output)
{
	extern char **environ;
	size_t count = 0;
	char **vector;

	while (environ[count])
		count++;
	vector = calloc(count + 3, sizeof *vector);
	if (!vector)
		return NULL;
	vector[0] = strdup(OWN_VARIABLE "=1");
	if (!vector[0] || (asprintf(&vector[1], "ROS_TRACE_DIR=%s", output ? output : getenv("ROS_TRACE_DIR") ?: "") < 0)) {
		free(vector[0]);
		free(vector);
		return NULL;
	}
	for (size_t i = 0, at = 2; i < count; i++)
		if (strncmp(environ[i], "ROS_TRACE_DIR=", 14) != 0)
			vector[at++] = environ[i];
	return vector;
}

static int spawn(struct steer *steer)
{
	char self[] = "/proc/self/exe", name[] = "kymo", verb[] = "record", wait[] = "--wait", quiet[] = "--quiet";
	char *vector[] = { name, verb, wait, quiet, NULL };
	char **environment = child_environment(steer->options.output);
	uv_stdio_container_t stdio[] = {
		{ .flags = UV_IGNORE }, { .flags = UV_IGNORE }, { .flags = UV_INHERIT_FD, .data.fd = STDERR_FILENO },
	};
	uv_process_options_t how = {
		.exit_cb = on_exit_of_child, .file = self, .args = vector, .env = environment,
		.flags = UV_PROCESS_DETACHED,	/* a Ctrl-C is for us; we end it in order */
		.stdio_count = 3, .stdio = stdio,
	};
	int rc;

	if (!environment)
		return UV_ENOMEM;
	steer->child.data = steer;
	rc = uv_spawn(steer->options.loop, &steer->child, &how);
	if (rc < 0)
		uv_close((uv_handle_t *)&steer->child, NULL);
	steer->child_runs = rc == 0;
	free(environment[0]);
	free(environment[1]);
	free(environment);
	return rc;
}

static void start_own(struct steer *steer)
{
	struct err err;
	int rc;

	if (steer->child_runs) {
		(void)err_set(&err, EXIT_FAILED, "the recorder of before has not ended yet");
		could_not(steer, &err);
		return;
	}
	steer->step = STARTING;
	rc = spawn(steer);
	if (rc == 0)
		return;
	(void)err_set(&err, EXIT_FAILED, "cannot start a recorder: %s", uv_strerror(rc));
	could_not(steer, &err);
}

bool steer_is_own(struct steer *steer, const struct domain_info *session)
{
	char *environment;
	size_t size = 0;

	if (!session->active || session->elsewhere)
		return false;
	if (steer->asked_about == session->generation)
		return steer->own;
	environment = environment_read(session->pid, &size);
	steer->own = environment_value(environment, size, OWN_VARIABLE) != NULL;
	steer->asked_about = session->generation;
	free(environment);
	return steer->own;
}

/* ---- what is asked of us ---- */

void steer_begin(struct steer *steer, const struct domain_info *session, struct start *start)
{
	struct err err;

	if (steer->step != IDLE) {
		start_free(start);
		return;
	}
	steer->start = *start;
	*start = (struct start){ 0 };
	if (session->active) {
		begin(steer);
	} else if (steer->options.own) {
		start_own(steer);
	} else {
		(void)err_set(&err, EXIT_EMPTY, "nobody records in %s any more", steer->options.dir->path);
		could_not(steer, &err);
	}
}

void steer_look(struct steer *steer, const struct domain_info *session)
{
	if (steer->step == STARTING && session->active && session->armed && steer->child_runs &&
	    session->pid == steer->child.pid)
		begin(steer);
	if (steer->step == STOPPING || steer->step == IDLE)
		steer->ending = session->generation;
	if (steer->step == ENDING && (!session->active || session->generation != steer->ending))
		steer->step = IDLE;
	finish_if_wanted(steer);
}

void steer_finish(struct steer *steer)
{
	if (steer->step == STOPPING || steer->step == ENDING)
		return;
	steer->finish_wanted = steer->step != IDLE;
	if (steer->finish_wanted)
		return;
	steer->step = STOPPING;
	steer->work.data = steer;
	(void)uv_queue_work(steer->options.loop, &steer->work, ask_stop, after_stop);
}

bool steer_is_busy(const struct steer *steer)
{
	return steer->step != IDLE || steer->finish_wanted;
}

bool steer_is_beginning(const struct steer *steer)
{
	return steer->step == STARTING || steer->step == BEGINNING;
}

bool steer_is_ending(const struct steer *steer)
{
	return steer->step == STOPPING || steer->step == ENDING;
}

bool steer_end(struct steer *steer)
{
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
	free(steer);
}
