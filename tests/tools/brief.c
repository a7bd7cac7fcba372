/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Processes that live for some milliseconds: forks COUNT children, AT_ONCE at a time. Each emits
 * rcl_init and EVENTS numbered events, and ends: by itself, by exit(), by a signal, in turn. Prints
 * a line for each that ended:
 *
 *   brief COUNT AT_ONCE EVENTS        PID LIFETIME_NS HOW
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define AT_ONCE_MAX 64

static const char *const ways[] = { "_exit", "exit", "kill" };

static uint64_t now_ns(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void child(unsigned way, unsigned events)
{
	ros_trace_rcl_init(&events);
	for (uintptr_t i = 1; i <= events; i++)
		ros_trace_rcl_publish((void *)1, (void *)i);
	if (way == 0)
		_exit(0);
	if (way == 1)
		exit(0);
	kill(getpid(), SIGKILL);
}

int main(int argc, char **argv)
{
	static struct { pid_t pid; uint64_t born; unsigned way; } living[AT_ONCE_MAX];
	unsigned count, at_once, events, running = 0;

	if (argc != 4)
		return 2;
	count = (unsigned)atoi(argv[1]);
	at_once = (unsigned)atoi(argv[2]);
	events = (unsigned)atoi(argv[3]);
	if (!at_once || at_once > AT_ONCE_MAX)
		return 2;
	setvbuf(stdout, NULL, _IONBF, 0);	/* nothing for exit() of a child to print */
	for (unsigned begun = 0; begun < count || running;) {
		unsigned i = 0;
		pid_t pid;

		if (begun < count && running < at_once) {
			while (living[i].pid)
				i++;
			living[i].born = now_ns();
			living[i].way = begun++ % 3;
			living[i].pid = fork();
			if (living[i].pid < 0)
				return 1;
			if (!living[i].pid)
				child(living[i].way, events);
			running++;
			continue;
		}
		pid = wait(NULL);
		while (living[i].pid != pid)
			i++;
		printf("%d %llu %s\n", (int)pid, (unsigned long long)(now_ns() - living[i].born), ways[living[i].way]);
		living[i].pid = 0;
		running--;
	}
	return 0;
}
