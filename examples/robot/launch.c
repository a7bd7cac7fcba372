/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Starts the robot's three programs from its own directory with its own options, passes SIGINT
 * and SIGTERM on, and waits for all of them. One that dies does not stop the others.
 */
#include <errno.h>
#include <libgen.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

static const char *const program[] = { "perception", "control", "driver" };
#define PROGRAMS (sizeof(program) / sizeof(program[0]))

static volatile pid_t child[PROGRAMS];

static void pass_on(int signal)
{
	int saved = errno;

	for (size_t i = 0; i < PROGRAMS; i++)
		if (child[i] > 0)
			kill(child[i], signal);
	errno = saved;
}

static void start(size_t i, const char *directory, char **argv)
{
	char path[PATH_MAX];

	child[i] = fork();
	if (child[i])
		return;
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	snprintf(path, sizeof(path), "%.*s/%s", PATH_MAX - 32, directory, program[i]);
	argv[0] = path;
	execv(path, argv);
	fprintf(stderr, "robot: cannot start %s: %s\n", path, strerror(errno));
	_exit(1);
}

/* Says how one program ended; true if well. */
static bool ended(pid_t pid, int status)
{
	for (size_t i = 0; i < PROGRAMS; i++) {
		if (child[i] != pid)
			continue;
		child[i] = 0;
		if (WIFSIGNALED(status))
			fprintf(stderr, "robot: %s was killed by signal %d\n", program[i],
				WTERMSIG(status));
		else if (WEXITSTATUS(status))
			fprintf(stderr, "robot: %s ended with status %d\n", program[i],
				WEXITSTATUS(status));
	}
	return WIFEXITED(status) && !WEXITSTATUS(status);
}

int main(int argc, char **argv)
{
	struct sigaction action = { .sa_handler = pass_on };
	char self[PATH_MAX] = "", *directory;
	bool good = true;
	int status;
	pid_t pid;

	(void)argc;
	if (readlink("/proc/self/exe", self, sizeof(self) - 1) < 0) {
		perror("robot: /proc/self/exe");
		return 1;
	}
	directory = dirname(self);
	sigaction(SIGINT, &action, NULL);
	sigaction(SIGTERM, &action, NULL);
	for (size_t i = 0; i < PROGRAMS; i++)
		start(i, directory, argv);
	while ((pid = wait(&status)) > 0 || errno == EINTR)
		if (pid > 0)
			good &= ended(pid, status);
	return good ? 0 : 1;
}
