/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A 1 kHz control loop, sense - plan - act, with a span around each part. At the end it prints how
 * late it woke and how long its cycles took, so that runs with and without tracing can be compared:
 *
 *     cyclic [--seconds S] [--no-trace] [--trace PLACE]
 *
 * With PLACE it records itself, no recorder needed: a directory, a .pftrace file, or
 * net://RELAY/NAME.
 */
#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include <kymo/loop.h>
#include <kymo/session.h>

#define PERIOD_NS	1000000u
#define PRIORITY	80
#define AXES		6
#define SECONDS_MAX	3600

struct arm {
	double position[AXES], speed[AXES], wanted[AXES], torque[AXES];
};

struct samples {
	uint32_t *latency_ns, *busy_ns;
	size_t count, room;
};

static volatile sig_atomic_t stopped;

static void stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void sense(struct arm *arm, uint64_t cycle)
{
	KYMO_SPAN("cyclic", "sense");

	for (int i = 0; i < AXES; i++)
		arm->position[i] += arm->speed[i] * 1e-3;
	arm->wanted[cycle % AXES] = (double)(cycle / 500 % 2);
}

/* A little work: relax the torques against each other a hundred times. */
static void plan(struct arm *arm)
{
	KYMO_SPAN("cyclic", "plan", ("error", arm->wanted[0] - arm->position[0]));

	for (int round = 0; round < 100; round++)
		for (int i = 0; i < AXES; i++) {
			const double error = arm->wanted[i] - arm->position[i] -
					     0.01 * arm->torque[(i + 1) % AXES];

			arm->torque[i] += 0.01 * (40 * error - 4 * arm->speed[i] - arm->torque[i]);
		}
}

static void act(struct arm *arm)
{
	KYMO_SPAN("cyclic", "act", ("torque", arm->torque[0]));

	for (int i = 0; i < AXES; i++)
		arm->speed[i] += arm->torque[i] * 1e-3;
	KYMO_COUNTER("cyclic", "position", arm->position[0]);
}

static uint32_t at_most_32_bits(uint64_t ns)
{
	return ns > UINT32_MAX ? UINT32_MAX : (uint32_t)ns;
}

static void keep(struct samples *samples, uint64_t latency_ns, uint64_t busy_ns)
{
	if (samples->count == samples->room)
		return;
	samples->latency_ns[samples->count] = at_most_32_bits(latency_ns);
	samples->busy_ns[samples->count++] = at_most_32_bits(busy_ns);
}

static void run(struct samples *samples, struct kymo_loop *loop)
{
	struct arm arm = { 0 };

	KYMO_LOOP_INIT(loop, "cyclic", "loop", PERIOD_NS, 0);
	while (samples->count < samples->room && !stopped) {
		uint64_t latency_ns;

		kymo_loop_wait(loop);
		latency_ns = loop->latency_ns;
		sense(&arm, loop->cycles);
		plan(&arm);
		act(&arm);
		kymo_loop_end(loop);
		keep(samples, latency_ns, loop->busy_ns);
	}
}

/* Memory that stays, and the real-time scheduler; what is not permitted is said and left. */
static void become_realtime(void)
{
	const struct sched_param wanted = { .sched_priority = PRIORITY };
	int error;

	if (mlockall(MCL_CURRENT | MCL_FUTURE))
		(void)fprintf(stderr, "cyclic: memory is not locked: %s\n", strerror(errno));
	error = pthread_setschedparam(pthread_self(), SCHED_FIFO, &wanted);
	if (error)
		(void)fprintf(stderr, "cyclic: not SCHED_FIFO, so latencies are the machine's, not kymo's: %s\n",
			      strerror(error));
}

static int ascending(const void *a, const void *b)
{
	const uint32_t left = *(const uint32_t *)a, right = *(const uint32_t *)b;

	return (left > right) - (left < right);
}

static void print_row(const char *name, uint32_t *ns, size_t count)
{
	const double share[] = { 0.5, 0.99, 0.999 };

	qsort(ns, count, sizeof *ns, ascending);
	(void)printf("%-10s", name);
	for (size_t i = 0; i < sizeof share / sizeof *share; i++)
		(void)printf(" %9.2f", ns[(size_t)(share[i] * (double)(count - 1))] / 1e3);
	(void)printf(" %9.2f\n", ns[count - 1] / 1e3);
}

static int usage(void)
{
	(void)fprintf(stderr, "usage: cyclic [--seconds S] [--no-trace] [--trace PLACE]\n");
	return 2;
}

/* On the session's thread: that a relay cannot be reached, for example. */
static void note(void *unused, enum kymo_session_message kind, const char *text)
{
	(void)unused;
	(void)kind;
	(void)fprintf(stderr, "cyclic: %s\n", text);
}

static int stop_session(struct kymo_session *session)
{
	struct kymo_session_stats stats;

	if (kymo_session_stop(session, &stats) < 0) {
		(void)fprintf(stderr, "cyclic: %s\n", kymo_session_error());
		return 1;
	}
	if (session)
		(void)printf("recorded %llu events, %llu dropped\n", (unsigned long long)stats.recorded,
			     (unsigned long long)stats.dropped);
	return 0;
}

int main(int argc, char **argv)
{
	const struct kymo_session_options options = { .size = sizeof options, .message = note };
	struct kymo_session *session = NULL;
	struct samples samples = { 0 };
	const char *place = NULL;
	struct kymo_loop loop;
	double seconds = 5;
	bool trace = true;

	for (int i = 1; i < argc; i++) {
		if (!strcmp(argv[i], "--no-trace"))
			trace = false;
		else if (!strcmp(argv[i], "--seconds") && i + 1 < argc)
			seconds = strtod(argv[++i], NULL);
		else if (!strcmp(argv[i], "--trace") && i + 1 < argc)
			place = argv[++i];
		else
			return usage();
	}
	if (!(seconds >= 0.01 && seconds <= SECONDS_MAX))
		return usage();
	samples.room = (size_t)(seconds * (1e9 / PERIOD_NS));
	samples.latency_ns = calloc(samples.room, sizeof *samples.latency_ns);
	samples.busy_ns = calloc(samples.room, sizeof *samples.busy_ns);
	if (!samples.latency_ns || !samples.busy_ns) {
		(void)fprintf(stderr, "cyclic: no memory for %zu cycles\n", samples.room);
		return 1;
	}
	(void)signal(SIGINT, stop);
	(void)signal(SIGTERM, stop);
	/* Before the loop is real-time: its thread is an ordinary one in any case. */
	if (place && kymo_session_start(place, &options, &session) < 0) {
		(void)fprintf(stderr, "cyclic: %s\n", kymo_session_error());
		return 1;
	}
	become_realtime();
	/* The ring now, not in the first cycle. */
	if (trace)
		(void)kymo_thread_ready();
	else
		kymo_set_category("cyclic", false);
	run(&samples, &loop);
	if (samples.count) {
		(void)printf("%zu cycles, %llu missed their deadline, %llu periods left out; microseconds:\n",
			     samples.count, (unsigned long long)loop.missed,
			     (unsigned long long)loop.skipped);
		(void)printf("%-10s %9s %9s %9s %9s\n", "", "p50", "p99", "p99.9", "max");
		print_row("wake-up", samples.latency_ns, samples.count);
		print_row("duration", samples.busy_ns, samples.count);
	}
	free(samples.latency_ns);
	free(samples.busy_ns);
	return stop_session(session);
}
