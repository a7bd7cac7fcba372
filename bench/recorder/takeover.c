/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How long a recorder takes to take an init log over: a program creates nodes (tests/churn), then
 * sessions begin and end.
 *
 *   LD_PRELOAD=... KYMO_DIR=... bench_takeover CHURN NODES GONE ROUNDS SCRATCH
 *
 * GONE further nodes were destroyed before. Prints a line: facts, and the shortest, median and
 * longest time.
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "recorder/session/session.h"

#define ROUNDS_MAX 1000

static FILE *commands, *answers;

static void die(const char *what)
{
	(void)fprintf(stderr, "takeover: %s\n", what);
	exit(1);
}

static pid_t start(const char *program)
{
	int in[2], out[2];
	pid_t pid;

	if (pipe(in) || pipe(out))
		die("no pipes");
	pid = fork();
	if (pid == 0) {
		(void)dup2(in[0], 0);
		(void)dup2(out[1], 1);
		(void)close(in[1]);
		(void)close(out[0]);
		(void)execl(program, program, (char *)NULL);
		_exit(127);
	}
	(void)close(in[0]);
	(void)close(out[1]);
	commands = fdopen(in[1], "w");
	answers = fdopen(out[0], "r");
	return pid;
}

static void command(const char *verb, long count)
{
	char line[512];

	(void)fprintf(commands, "%s %ld\n", verb, count);
	(void)fflush(commands);
	if (!fgets(line, sizeof line, answers))
		die("the program does not answer");
}

static double now_ms(clockid_t clock)
{
	struct timespec now;

	(void)clock_gettime(clock, &now);
	return (double)now.tv_sec * 1e3 + (double)now.tv_nsec / 1e6;
}

static int ascending(const void *a, const void *b)
{
	const double left = *(const double *)a, right = *(const double *)b;

	return left < right ? -1 : left > right;
}

/* Return: facts. */
static uint64_t take_over(const char *trace, double *wall, double *cpu)
{
	struct session_options options = { .output = trace, .version = "0.1.0" };
	struct session_stats stats;
	struct session *session;
	struct kymo_err err;

	*wall = now_ms(CLOCK_MONOTONIC);
	*cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID);
	if (session_begin(&options, &session, &err) < 0)
		die(err.text);
	*wall = now_ms(CLOCK_MONOTONIC) - *wall;
	*cpu = now_ms(CLOCK_PROCESS_CPUTIME_ID) - *cpu;
	session_stats(session, &stats);
	if (session_end(session, &err) < 0)
		die(err.text);
	session_free(session);
	return stats.init_events;
}

int main(int argc, char **argv)
{
	double wall[ROUNDS_MAX], cpu[ROUNDS_MAX];
	char trace[4096], remove[4200];
	uint64_t facts = 0;
	int rounds;
	pid_t pid;

	if (argc != 6)
		return 2;
	rounds = atoi(argv[4]);
	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	pid = start(argv[1]);
	(void)unsetenv("LD_PRELOAD");
	if (atol(argv[3]))
		command("churn", atol(argv[3]));
	command("keep", atol(argv[2]));
	(void)snprintf(trace, sizeof trace, "%s/trace", argv[5]);
	(void)snprintf(remove, sizeof remove, "rm -rf '%s'", trace);
	for (int i = 0; i < rounds; i++) {
		facts = take_over(trace, &wall[i], &cpu[i]);
		if (system(remove))
			die("cannot remove the trace");
	}
	(void)fputs("end\n", commands);
	(void)fclose(commands);
	(void)waitpid(pid, NULL, 0);
	qsort(wall, (size_t)rounds, sizeof *wall, ascending);
	qsort(cpu, (size_t)rounds, sizeof *cpu, ascending);
	(void)printf("%llu facts taken over (%s nodes gone before): %.1f / %.1f / %.1f ms (least, median, most of %d), "
		     "CPU %.1f ms\n", (unsigned long long)facts, argv[3], wall[0], wall[rounds / 2],
		     wall[rounds - 1], rounds, cpu[rounds / 2]);
	return 0;
}
