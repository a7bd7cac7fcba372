/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session inside of a program: include/kymo/session.h. The recorder and its sinks only run on the
 * session's thread. A caller hands that thread one request at a time and waits.
 *
 *     caller                               the session's thread
 *     request = &mine, wake        ───▶    between two polls: does it
 *     waits for mine.done          ◀───    mine.done, answered
 */
#include "recorder/session/session_inside.h"

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include "kymo/sink.h"
#include "recorder/runtime/claim.h"

#define STACK_SIZE	(512u << 10)	/* a program may lock all of its memory */
#define POLL_MS_MAX	1000

/* The process that has a session; 0: none. In a forked child this is the parent, so the child has
 * none. */
static pid_t owner;

static __thread char last_error[sizeof((struct kymo_err *)0)->text];

const char *kymo_session_error(void)
{
	return last_error;
}

static int fail(const struct kymo_err *err)
{
	memcpy(last_error, err->text, sizeof last_error);
	return -1;
}

#define FAIL(...) do {								\
	struct kymo_err fail_err;							\
	(void)err_set(&fail_err, KYMO_EXIT_FAILED, __VA_ARGS__);			\
	return fail(&fail_err);							\
} while (0)

static int check_path(const char *path)
{
	if (!path)
		FAIL("the path of the trace is NULL");
	return 0;
}

/* ---- on the session's thread ---- */

static void set_up_thread(const struct kymo_session *inside)
{
	const char *name = inside->options.thread_name ? inside->options.thread_name : "kymo-session";
	char cut[16] = "";

	(void)strncat(cut, name, sizeof cut - 1);
	(void)pthread_setname_np(pthread_self(), cut);
	if (inside->options.nice > 0)
		(void)setpriority(PRIO_PROCESS, (id_t)gettid(), inside->options.nice);
}

/* Waits for a request, no longer than @wait_ms. Return: it, or NULL. */
static struct request *next_request(struct kymo_session *inside, int wait_ms)
{
	struct request *request;
	struct timespec until;

	(void)clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_nsec += wait_ms % 1000 * 1000000L;
	until.tv_sec += wait_ms / 1000 + until.tv_nsec / 1000000000L;
	until.tv_nsec %= 1000000000L;
	(void)pthread_mutex_lock(&inside->lock);
	while (!inside->request || inside->request->done)
		if (pthread_cond_timedwait(&inside->wake, &inside->lock, &until) != 0)
			break;
	request = inside->request && !inside->request->done ? inside->request : NULL;
	(void)pthread_mutex_unlock(&inside->lock);
	return request;
}

static int poll_ms(struct kymo_session *inside)
{
	const int wait_ms = session_poll(inside->session);

	return inside->options.poll_ms && wait_ms ? (int)inside->options.poll_ms : wait_ms;
}

/* Ends with the session: after a stop, or after a start that failed. */
static void *session_thread(void *context)
{
	struct kymo_session *inside = context;
	bool ends = false;
	int wait_ms = 0;

	set_up_thread(inside);
	while (!ends) {
		struct request *request = next_request(inside, wait_ms);

		if (request) {
			request->rc = session_serve(inside, request);
			ends = request->what == STOP || (request->what == START && request->rc < 0);
			(void)pthread_mutex_lock(&inside->lock);
			request->done = true;
			(void)pthread_cond_broadcast(&inside->answered);
			(void)pthread_mutex_unlock(&inside->lock);
		}
		if (inside->session && !ends)
			wait_ms = poll_ms(inside);
	}
	return NULL;
}

/* ---- callers ---- */

/* Hands @request over and waits until it is answered. */
static int ask(struct kymo_session *inside, struct request *request)
{
	(void)pthread_mutex_lock(&inside->lock);
	while (inside->request)
		(void)pthread_cond_wait(&inside->answered, &inside->lock);
	inside->request = request;
	(void)pthread_cond_signal(&inside->wake);
	while (!request->done)
		(void)pthread_cond_wait(&inside->answered, &inside->lock);
	inside->request = NULL;
	(void)pthread_cond_broadcast(&inside->answered);	/* the next one may */
	(void)pthread_mutex_unlock(&inside->lock);
	return request->rc < 0 ? fail(&request->err) : 0;
}

static int check_caller(const struct kymo_session *inside)
{
	if (!inside)
		FAIL("there is no session; create one with kymo_session_start()");
	if (inside->pid != getpid())
		FAIL("the session belongs to process %d, from which this one was forked", (int)inside->pid);
	if (pthread_equal(pthread_self(), inside->thread))
		FAIL("the session's own thread cannot wait for itself; do not call this from the message function");
	return 0;
}

static void copy_stats(struct kymo_session_stats *to, const struct session_stats *from)
{
	if (!to)
		return;
	*to = (struct kymo_session_stats){
		.recorded = from->recorded, .dropped = from->dropped, .unwritten = from->unwritten,
		.filtered = from->filtered,
		.init_events = from->init_events, .init_dropped = from->init_dropped,
		.bytes = from->bytes, .duration_ns = from->duration_ns,
		.processes = from->processes, .threads = from->threads,
	};
}

static int check_options(const struct kymo_session_options *options)
{
	if (options->size != sizeof *options)
		FAIL("kymo_session_options.size is %zu instead of %zu; set it to sizeof, and compile with the "
		     "header of the libkymo-session that is linked", options->size, sizeof *options);
	if (options->nice < 0 || options->nice > 19)
		FAIL("kymo_session_options.nice is %d; it must be 0 to 19", options->nice);
	if (options->poll_ms > POLL_MS_MAX)
		FAIL("kymo_session_options.poll_ms is %u; it must be 0 to %d", options->poll_ms, POLL_MS_MAX);
	for (unsigned i = 0; options->cpus && i < options->cpu_count; i++)
		if (options->cpus[i] < 0 || options->cpus[i] >= CPU_SETSIZE)
			FAIL("kymo_session_options.cpus names an impossible processor: %d", options->cpus[i]);
	return 0;
}

static void make_attributes(const struct kymo_session_options *options, pthread_attr_t *attributes)
{
	const struct sched_param ordinary = { .sched_priority = 0 };
	cpu_set_t cpus;

	(void)pthread_attr_init(attributes);
	(void)pthread_attr_setstacksize(attributes, STACK_SIZE);
	/* Not the caller's policy: it may be a real-time thread. */
	(void)pthread_attr_setinheritsched(attributes, PTHREAD_EXPLICIT_SCHED);
	(void)pthread_attr_setschedpolicy(attributes, SCHED_OTHER);
	(void)pthread_attr_setschedparam(attributes, &ordinary);
	if (!options->cpus || !options->cpu_count)
		return;
	CPU_ZERO(&cpus);
	for (unsigned i = 0; i < options->cpu_count; i++)
		CPU_SET((unsigned)options->cpus[i], &cpus);
	(void)pthread_attr_setaffinity_np(attributes, sizeof cpus, &cpus);
}

static int make_thread(struct kymo_session *inside)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	make_attributes(&inside->options, &attributes);
	(void)sigfillset(&all);
	(void)pthread_sigmask(SIG_SETMASK, &all, &before);	/* the new thread inherits it */
	error = pthread_create(&inside->thread, &attributes, session_thread, inside);
	(void)pthread_sigmask(SIG_SETMASK, &before, NULL);
	(void)pthread_attr_destroy(&attributes);
	if (error)
		FAIL("cannot start the session's thread: %s%s", strerror(error),
		     error == EINVAL && inside->options.cpus ? "; do the processors in kymo_session_options.cpus exist?" : "");
	return 0;
}

static struct kymo_session *inside_new(const struct kymo_session_options *options)
{
	struct kymo_session *inside = calloc(1, sizeof *inside);
	pthread_condattr_t monotonic;

	if (!inside)
		return NULL;
	inside->options = *options;
	inside->pid = getpid();
	(void)pthread_mutex_init(&inside->lock, NULL);
	(void)pthread_condattr_init(&monotonic);
	(void)pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	(void)pthread_cond_init(&inside->wake, &monotonic);
	(void)pthread_cond_init(&inside->answered, NULL);
	(void)pthread_condattr_destroy(&monotonic);
	return inside;
}

static void inside_free(struct kymo_session *inside)
{
	(void)pthread_mutex_destroy(&inside->lock);
	(void)pthread_cond_destroy(&inside->wake);
	(void)pthread_cond_destroy(&inside->answered);
	for (unsigned i = 0; i < SINKS_MAX; i++)
		free(inside->trace[i].path);
	filter_free(inside->filter);
	free(inside);
}

static int claim_process(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pid_t before = __atomic_load_n(&owner, __ATOMIC_ACQUIRE);

	(void)pthread_once(&once, claim_forget_in_children);
	if (before == getpid() || !__atomic_compare_exchange_n(&owner, &before, getpid(), false,
							       __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
		FAIL("this process already has a session; add a sink to it, or stop it first");
	return 0;
}

static void release_process(void)
{
	__atomic_store_n(&owner, 0, __ATOMIC_RELEASE);
}

int kymo_session_start(const char *path, const struct kymo_session_options *options,
		       struct kymo_session **session)
{
	const struct kymo_session_options defaults = { .size = sizeof defaults };
	struct request request = { .what = START, .path = path };
	struct kymo_session *inside;
	int rc;

	*session = NULL;
	if (!options)
		options = &defaults;
	if (!path && (options->size != sizeof *options || !options->sink))
		FAIL("the path of the trace is NULL, and kymo_session_options.sink too");
	if ((path && check_path(path) < 0) || check_options(options) < 0 || claim_process() < 0)
		return -1;
	inside = inside_new(options);
	if (!inside) {
		release_process();
		FAIL("out of memory");
	}
	rc = make_thread(inside);
	if (rc == 0) {
		rc = ask(inside, &request);
		if (rc < 0)
			(void)pthread_join(inside->thread, NULL);
	}
	if (rc < 0) {
		inside_free(inside);
		release_process();
		return -1;
	}
	*session = inside;
	return 0;
}

int kymo_session_stop(struct kymo_session *session, struct kymo_session_stats *stats)
{
	struct request request = { .what = STOP };
	int rc;

	if (!session)
		return 0;
	if (check_caller(session) < 0)
		return -1;
	rc = ask(session, &request);
	copy_stats(stats, &request.stats);
	(void)pthread_join(session->thread, NULL);
	inside_free(session);
	release_process();
	return rc;
}

/* Asks for something in a session that goes on. @stats: set to the answer; NULL: not wanted. */
static int call(struct kymo_session *session, struct request *request,
		struct kymo_session_stats *stats)
{
	const int rc = check_caller(session) < 0 ? -1 : ask(session, request);

	copy_stats(stats, &request->stats);
	return rc;
}

int kymo_session_add_sink(struct kymo_session *session, const char *path)
{
	struct request request = { .what = ADD, .path = path };

	if (check_path(path) < 0)
		return -1;
	return call(session, &request, NULL);
}

int kymo_session_attach(struct kymo_session *session, struct kymo_sink *sink)
{
	struct request request = { .what = ATTACH, .sink = sink };

	if (!sink)
		FAIL("the sink is NULL");
	return call(session, &request, NULL);
}

int kymo_session_remove_sink(struct kymo_session *session, const char *path,
			     struct kymo_session_stats *stats)
{
	struct request request = {.what = REMOVE, .path = path};

	if (!path)
		FAIL("the path of the trace is NULL");
	return call(session, &request, stats);
}

int kymo_session_set_rules(struct kymo_session *session, const char *rules)
{
	struct request request = { .what = RULES, .rules = rules };

	return call(session, &request, NULL);
}

int kymo_session_statistics(struct kymo_session *session, const char *path,
			    struct kymo_session_stats *stats)
{
	struct request request = {.what = STATISTICS, .path = path};

	return call(session, &request, stats);
}
