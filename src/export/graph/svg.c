/* SPDX-License-Identifier: Apache-2.0 */
/* SVG by graphviz's `dot`, run as a program: its library would bring many other libraries along. */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "export/graph/dot.h"

extern char **environ;

struct svg {
	pid_t pid;
	FILE *stream;
};

static int start(pid_t *pid, int from, int to)
{
	static char name[] = "dot", option[] = "-Tsvg";
	char *const argv[] = { name, option, NULL };
	posix_spawn_file_actions_t actions;
	int error = posix_spawn_file_actions_init(&actions);

	if (error)
		return error;
	error = posix_spawn_file_actions_adddup2(&actions, from, STDIN_FILENO);
	if (!error)
		error = posix_spawn_file_actions_adddup2(&actions, to, STDOUT_FILENO);
	if (!error)
		error = posix_spawnp(pid, name, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return error;
}

static int spawn_failed(int error, struct kymo_err *err)
{
	if (error == ENOENT)
		return err_set(err, KYMO_EXIT_FAILED, "cannot draw SVG: graphviz's program `dot` is not installed; "
			       "run `apt install graphviz`, or use --format dot and draw it elsewhere");
	return err_set(err, KYMO_EXIT_FAILED, "cannot start graphviz's program `dot`: %s",
		       strerror(error));
}

FILE *svg_open(struct svg **result, int fd, struct kymo_err *err)
{
	struct svg *svg = calloc(1, sizeof(*svg));
	int pipe_fd[2] = { -1, -1 }, error;

	error = !svg ? ENOMEM : pipe2(pipe_fd, O_CLOEXEC) ? errno : 0;
	if (!error)
		error = start(&svg->pid, pipe_fd[0], fd);
	if (pipe_fd[0] >= 0)
		close(pipe_fd[0]);
	if (!error) {
		svg->stream = fdopen(pipe_fd[1], "w");
		if (svg->stream) {
			*result = svg;
			return svg->stream;
		}
		error = errno;
		(void)waitpid(svg->pid, NULL, 0);
	}
	if (pipe_fd[1] >= 0)
		close(pipe_fd[1]);
	free(svg);
	(void)spawn_failed(error, err);
	return NULL;
}

int svg_close(struct svg *svg, struct kymo_err *err)
{
	int written = fclose(svg->stream), state = 0;
	pid_t pid = svg->pid;

	free(svg);
	while (waitpid(pid, &state, 0) < 0 && errno == EINTR)
		;
	if (written || !WIFEXITED(state) || WEXITSTATUS(state))
		return err_set(err, KYMO_EXIT_FAILED, "graphviz's program `dot` failed; --format dot writes "
			       "its input");
	return 0;
}
