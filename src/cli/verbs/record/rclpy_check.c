/* SPDX-License-Identifier: Apache-2.0 */
/* KYMO_RCLPY=1: the hook works, or the command does not start; see nothing_traced.h. */
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/verbs/record/nothing_traced.h"
#include "recorder/launch/launch.h"
#include "recorder/launch/preload.h"

#define NOT_LOADED 67 /* an exit status that Python has for nothing else */
#define FLAGS_MAX 8

/* The flags behind the name of Python in @command: -I, -E and -S keep Python from loading anything.
 */
static unsigned python_flags(char *const *command, char *words[FLAGS_MAX])
{
	unsigned at = 0, count = 0;

	while (command[at] && strncmp(text_base_name(command[at]), "python", 6) != 0)
		at++;
	while (command[at] && command[at + 1] && command[at + 1][0] == '-' && count < FLAGS_MAX &&
	       command[at + 1][1] &&
	       !command[at + 1][1 + strspn(command[at + 1] + 1, "bBdEIOPqsSuv")])
		words[count++] = command[++at];
	return count;
}

/* Two ways: kymo's sitecustomize waits for rclpy, or kymo.pth has loaded the hook. */
static bool lacks_hook(char *python, char *const *command, char *const *environment)
{
	char option[] = "-c",
	     script[] =
		     "import sys; sys.exit(0 if 'kymo.rclpy_hook' in sys.modules or 'KymoRclpy' in "
		     "[getattr(one, '__name__', '') for one in sys.meta_path] else 67)";
	char *words[FLAGS_MAX + 4] = { python };
	posix_spawn_file_actions_t actions;
	unsigned count = 1 + python_flags(command, words + 1);
	int status = 0;
	pid_t child;

	words[count++] = option;
	words[count++] = script;
	if (posix_spawn_file_actions_init(&actions))
		return false;
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, python, &actions, NULL, words, environment))
		child = -1;
	(void)posix_spawn_file_actions_destroy(&actions);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == NOT_LOADED;
}

int rclpy_check(char *const *command, char *const *environment, struct kymo_err *err)
{
	const char *asked = getenv(LAUNCH_RCLPY);
	char python[PATH_MAX], clean[2 * PATH_MAX];

	if (!asked || !*asked || strcmp(asked, "0") == 0)
		return 0;
	if (preload_beside(python, sizeof(python), PRELOAD_PYTHON_FILE, KYMO_LIBDIR) < 0)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"cannot record the callbacks of rclpy, as KYMO_RCLPY asks: there is no %s "
			"in %s, nor in lib beside the directory of kymo; install kymo again",
			PRELOAD_PYTHON_FILE, KYMO_LIBDIR);
	if (!launch_program(command, python))
		return 0;
	for (unsigned i = 0; command[i]; i++)
		if (strcmp(command[i], "kymo.rclpy_hook") == 0)
			return 0; /* -m loads it */
	if (strncmp(text_base_name(python), "python", 6) != 0 ||
	    !lacks_hook(python, command, environment))
		return 0;
	text_clean(clean, sizeof(clean), python);
	return err_set(
		err, KYMO_EXIT_FAILED,
		"cannot record the callbacks of rclpy, as KYMO_RCLPY asks: %s does not load "
		"kymo's sitecustomize.py from PYTHONPATH; start it without -I, -E and -S, or as "
		"\"python3 -m kymo.rclpy_hook NODE.py\"",
		clean);
}
