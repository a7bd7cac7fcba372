/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs a command and says what it cost itself: CPU seconds and peak memory, without what it
 * started. SIGINT and SIGTERM are passed on.
 *
 *   bench_usage FILE COMMAND...         writes "user system maxrss_kib status" to FILE
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static volatile pid_t child;

static void pass_on(int signal)
{
	int saved = errno;

	if (child > 0)
		kill(child, signal);
	errno = saved;
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = pass_on };
	struct rusage usage;
	int status = 0;
	FILE *file;

	if (argc < 3) {
		fprintf(stderr, "usage: bench_usage FILE COMMAND...\n");
		return 2;
	}
	child = fork();
	if (!child) {
		execvp(argv[2], argv + 2);
		perror(argv[2]);
		_exit(127);
	}
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	while (wait4(child, &status, 0, &usage) < 0)
		if (errno != EINTR)
			return 1;
	status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
	file = fopen(argv[1], "we");
	if (!file) {
		perror(argv[1]);
		return 1;
	}
	fprintf(file, "%.6f %.6f %ld %d\n", (double)usage.ru_utime.tv_sec +
		(double)usage.ru_utime.tv_usec / 1e6, (double)usage.ru_stime.tv_sec +
		(double)usage.ru_stime.tv_usec / 1e6, usage.ru_maxrss, status);
	fclose(file);
	return status;
}
