/* SPDX-License-Identifier: Apache-2.0 */
/* KYMO_RCLPY=1 without effect, see nothing_traced.h. */
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/verbs/record/nothing_traced.h"
#include "recorder/launch/launch.h"

extern char **environ;

#define NOT_LOADED 67 /* an exit status that Python has for nothing else */

/* kymo.pth loads the hook when Python starts. */
static bool lacks_hook(char *python)
{
	char option[] = "-c",
	     script[] = "import sys; sys.exit(0 if 'kymo.rclpy_hook' in sys.modules else 67)";
	char *const words[] = { python, option, script, NULL };
	posix_spawn_file_actions_t actions;
	int status = 0;
	pid_t child;

	if (posix_spawn_file_actions_init(&actions))
		return false;
	(void)posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	(void)posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	if (posix_spawn(&child, python, &actions, NULL, words, environ))
		child = -1;
	(void)posix_spawn_file_actions_destroy(&actions);
	return child > 0 && waitpid(child, &status, 0) == child && WIFEXITED(status) &&
	       WEXITSTATUS(status) == NOT_LOADED;
}

void warn_rclpy(const char *verb, char *const *command)
{
	const char *asked = getenv("KYMO_RCLPY"), *name;
	char python[PATH_MAX], clean[4 * PATH_MAX];

	if (!asked || !*asked || !launch_program(command, python))
		return;
	for (unsigned i = 0; command[i]; i++)
		if (strcmp(command[i], "kymo.rclpy_hook") == 0)
			return; /* -m loads it */
	name = strrchr(python, '/') ? strrchr(python, '/') + 1 : python;
	if (strncmp(name, "python", 6) != 0 || !lacks_hook(python))
		return;
	text_clean(clean, sizeof(clean), python);
	fprintf(stderr,
		"kymo %s: KYMO_RCLPY has no effect: kymo_py is not installed in the site-packages "
		"of "
		"%s, so callbacks of rclpy are not recorded; install it there, or start the node "
		"with "
		"\"python3 -m kymo.rclpy_hook NODE.py\"\n",
		verb, clean);
}
