/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/common/detach.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* Return: its exit status; 0 when it said that it is ready. */
static int wait_for(pid_t child, int ready_fd)
{
	ssize_t got;
	int status;
	char byte;

	do
		got = read(ready_fd, &byte, 1);
	while (got < 0 && errno == EINTR);
	if (got == 1)
		return 0;
	while (waitpid(child, &status, 0) < 0 && errno == EINTR)
		;
	return WIFEXITED(status) ? WEXITSTATUS(status) : KYMO_EXIT_FAILED;
}

static void become_background(struct detach *detach)
{
	int null = open("/dev/null", O_RDONLY | O_CLOEXEC);

	(void)setsid();			/* cannot fail in a new child */
	if (null >= 0) {
		(void)dup2(null, STDIN_FILENO);
		(void)close(null);
	}
	detach->active = true;
}

int detach(struct detach *detach, const char *log, int *status, struct kymo_err *err)
{
	int ready[2];
	pid_t child;

	if (cli_absolute(detach->log, sizeof detach->log, log, err) < 0)
		return -1;
	detach->log_fd = open(log, O_WRONLY | O_CREAT | O_TRUNC | O_APPEND | O_CLOEXEC, 0644);
	if (detach->log_fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the log file %s: %s; choose another place with -o "
			       "DIR", log, strerror(errno));
	if (pipe2(ready, O_CLOEXEC) < 0) {
		(void)close(detach->log_fd);
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a pipe: %s", strerror(errno));
	}
	child = fork();
	if (child == 0) {
		(void)close(ready[0]);
		detach->ready_fd = ready[1];
		become_background(detach);
		return 0;
	}
	detach->child = child;
	(void)close(ready[1]);
	(void)close(detach->log_fd);
	if (child > 0)
		*status = wait_for(child, ready[0]);
	else
		(void)err_set(err, KYMO_EXIT_FAILED, "cannot start a background process: %s", strerror(errno));
	(void)close(ready[0]);
	return child > 0 ? 1 : -1;
}

void detach_ready(struct detach *detach)
{
	const char byte = 'k';

	if (!detach->active || detach->ready_fd < 0)
		return;
	(void)dup2(detach->log_fd, STDOUT_FILENO);
	(void)dup2(detach->log_fd, STDERR_FILENO);
	/* a parent that has ended needs no answer */
	(void)!write(detach->ready_fd, &byte, 1);
	(void)close(detach->ready_fd);
	detach->ready_fd = -1;
}

void detach_end(const struct detach *detach)
{
	struct stat st;

	if (detach->active && fstat(detach->log_fd, &st) == 0 && st.st_size == 0)
		(void)unlink(detach->log);
}
