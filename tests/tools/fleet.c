/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many processes with many threads, for tests/system/record/fleet.py and bench/recorder/scale.sh.
 *
 *   fleet PROCESSES THREADS EVENTS_PER_S SECONDS [BURST]
 *
 * EVENTS_PER_S is that of all together, 0: as fast as they can; it comes in bursts of BURST events
 * of a thread. With SECONDS 0 every thread emits BURST events and ends. Each event carries its
 * thread's number in the fleet and its number in the thread. When all have ended, prints a line of
 * JSON for each process: its pid and what its threads produced, by tid. SIGTERM ends it early.
 */
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <kymo/kymo.h>

struct thread {
	pthread_t id;
	int tid;
	unsigned number;
	uint64_t produced;
};

static unsigned processes, threads;
static uint64_t burst = 5;
static double period_s, seconds;	/* of a thread's bursts; of the whole */
static volatile sig_atomic_t *over;	/* shared by all */

static double now(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static void sleep_until(double when)
{
	const struct timespec t = { (time_t)when, (long)((when - (double)(time_t)when) * 1e9) };

	(void)clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

static void emit_burst(struct thread *thread)
{
	for (uint64_t i = 0; i < burst; i++)
		KYMO_INSTANT("fleet", "tick", ("thread", thread->number), ("n", thread->produced++));
}

static void name_thread(struct thread *thread)
{
	char name[16];

	(void)snprintf(name, sizeof(name), "t%u", thread->number % 1000000);
	(void)pthread_setname_np(pthread_self(), name);
	thread->tid = (int)gettid();
}

static void *run(void *argument)
{
	struct thread *thread = argument;
	const double begin = now(), end = begin + seconds;
	/* Not all at the same moment. */
	double next = begin + period_s * (double)(thread->number * 7919ull % 10007) / 10007;

	name_thread(thread);
	if (seconds <= 0)
		emit_burst(thread);
	while (seconds > 0 && now() < end && !*over) {
		if (period_s > 0) {
			sleep_until(next < end ? next : end);
			next += period_s;
		}
		if (!*over)
			emit_burst(thread);
	}
	return NULL;
}

static int process(unsigned number, FILE *out)
{
	struct thread *thread = calloc(threads, sizeof(*thread));
	pthread_attr_t small;

	if (!thread || pthread_attr_init(&small) || pthread_attr_setstacksize(&small, 128 << 10))
		return 1;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (unsigned i = 0; i < threads; i++) {
		thread[i].number = number * threads + i;
		if (pthread_create(&thread[i].id, &small, run, &thread[i]))
			return 1;
	}
	for (unsigned i = 0; i < threads; i++)
		(void)pthread_join(thread[i].id, NULL);
	(void)fprintf(out, "{\"pid\": %d, \"threads\": {", getpid());
	for (unsigned i = 0; i < threads; i++)
		(void)fprintf(out, "%s\"%d\": [%u, %llu]", i ? ", " : "", thread[i].tid, thread[i].number,
			      (unsigned long long)thread[i].produced);
	(void)fprintf(out, "}}\n");
	free(thread);
	return fclose(out) ? 1 : 0;
}

static void end(int number)
{
	(void)number;
	*over = 1;
}

static int collect(FILE **out, const pid_t *pid)
{
	int status, failed = 0, byte;
	pid_t ended;

	for (unsigned i = 0; i < processes; i++) {
		/* Under the thread sanitizer no handler runs while waitpid() blocks: SIGTERM would
		 * wait, too. */
		while ((ended = waitpid(pid[i], &status, WNOHANG)) == 0)
			(void)usleep(10000);
		if (ended != pid[i] || status)
			failed++;
	}
	for (unsigned i = 0; i < processes; i++) {
		rewind(out[i]);
		while ((byte = getc(out[i])) != EOF)
			(void)putchar(byte);
		(void)fclose(out[i]);
	}
	if (failed)
		(void)fprintf(stderr, "fleet: %d processes failed\n", failed);
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	const struct sigaction action = { .sa_handler = end, .sa_flags = SA_RESTART };
	double rate;
	static FILE **out;	/* static, for who looks for leaks in a child that ends */
	static pid_t *pid;

	if (argc < 5) {
		(void)fprintf(stderr, "usage: fleet PROCESSES THREADS EVENTS_PER_S SECONDS [BURST]\n");
		return 2;
	}
	processes = (unsigned)atoi(argv[1]);
	threads = (unsigned)atoi(argv[2]);
	rate = strtod(argv[3], NULL);
	seconds = strtod(argv[4], NULL);
	if (argc > 5)
		burst = strtoul(argv[5], NULL, 10);
	period_s = rate > 0 ? (double)burst * processes * threads / rate : 0;
	over = mmap(NULL, sizeof(*over), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	out = calloc(processes, sizeof(*out));
	pid = calloc(processes, sizeof(*pid));
	if (over == MAP_FAILED || !out || !pid || sigaction(SIGTERM, &action, NULL))
		return 1;
	for (unsigned i = 0; i < processes; i++) {
		out[i] = tmpfile();
		pid[i] = out[i] ? fork() : -1;
		if (pid[i] < 0) {
			perror("fleet");
			end(0);
			processes = i;
			break;
		}
		if (!pid[i])
			exit(process(i, out[i]));
	}
	return collect(out, pid);
}
