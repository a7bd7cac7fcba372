/* SPDX-License-Identifier: Apache-2.0 */
/* See open_browser.h. */
#include "cli/verbs/open/open_browser.h"

#include <fcntl.h>
#include <pwd.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/text.h"

extern char **environ;

static const char *variable(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

bool open_has_display(void)
{
	return variable("DISPLAY") || variable("WAYLAND_DISPLAY");
}

const char *open_browser(const char *address)
{
	char program[] = "xdg-open";
	char *const command[] = { program, (char *)(uintptr_t)address, NULL };
	posix_spawn_file_actions_t actions;
	int rc, status = 0;
	pid_t child;

	(void)posix_spawn_file_actions_init(&actions);
	/* Browsers talk a lot. */
	(void)posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	rc = posix_spawnp(&child, program, &actions, NULL, command, environ);
	(void)posix_spawn_file_actions_destroy(&actions);
	if (rc)
		return "cannot start xdg-open";
	if (waitpid(child, &status, 0) < 0 || status)
		return "xdg-open found no browser";
	return NULL;
}

/* How this machine is called by the desk: as the desk's ssh called it, if there is one. */
static void machine(char name[256])
{
	const char *connection = variable("SSH_CONNECTION");
	char client[128], port[16], server[128];

	if (connection && sscanf(connection, "%127s %15s %127s", client, port, server) == 3)
		(void)text_clean(name, 256, server);
	else if (gethostname(name, 256))
		(void)snprintf(name, 256, "HOST");
	name[255] = 0;
}

void open_print_tunnel(FILE *out, unsigned port)
{
	const struct passwd *user = getpwuid(getuid());
	char name[256];

	machine(name);
	fprintf(out,
		"This session has no display. Type on your desk, and open the address there:\n"
		"       ssh -N -L %u:127.0.0.1:%u %s@%s\n",
		port, port, user ? user->pw_name : "USER", name);
}
