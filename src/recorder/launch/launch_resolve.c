/* SPDX-License-Identifier: Apache-2.0 */
/* Which program a command runs in the end: through PATH, scripts and env. See launch.h. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/elf.h"
#include "recorder/launch/launch.h"
#include "recorder/launch/prefixes.h"

int launch_path(const char *name, char path[PATH_MAX], struct kymo_err *err)
{
	struct stat status;

	if (!strchr(name, '/'))
		return launch_in_path(name, path)
			       ? 0
			       : err_set(err, KYMO_EXIT_INPUT,
					 "no program %s in PATH; name it with its path", name);
	(void)snprintf(path, PATH_MAX, "%s", name);
	if (stat(path, &status))
		return err_set(err, KYMO_EXIT_INPUT, "no program %s: %s", path, strerror(errno));
	return S_ISREG(status.st_mode) ? 0
				       : err_set(err, KYMO_EXIT_INPUT, "%s is not a file", path);
}

int launch_script(const char *path, char out[PATH_MAX], struct kymo_err *err)
{
	FILE *file = fopen(path, "re");
	char line[256] = "", *word, *rest;
	size_t got;

	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
	got = fread(line, 1, sizeof line - 1, file);
	fclose(file);
	if (got < 3 || memcmp(line, "#!", 2))
		return 1;
	line[strcspn(line, "\n")] = 0;
	word = line + 2 + strspn(line + 2, " \t");
	rest = word + strcspn(word, " \t");
	if (*rest)
		*rest++ = 0;
	rest += strspn(rest, " \t");
	if (!strcmp(basename(word), "env") && *rest) {
		if (!strncmp(rest, "-S", 2))
			rest += 2 + strspn(rest + 2, " \t");
		word = rest;
		word[strcspn(word, " \t")] = 0;
	}
	return launch_path(word, out, err);
}

bool launch_is_glibc(const char *loader)
{
	return strstr(loader, "ld-linux") != NULL;
}

bool launch_program(char *const *command, char path[PATH_MAX])
{
	struct prefixes found;
	char next[PATH_MAX];

	prefixes_parse(command, "run", &found);
	if (launch_path(command[found.program], path, NULL))
		return false;
	for (unsigned i = 0; i < LAUNCH_SCRIPT_DEPTH_MAX && !launch_script(path, next, NULL); i++)
		memcpy(path, next, sizeof next);
	return true;
}

/* The dynamic loader of another architecture prints an error, and runs the program without the
 * library. */
static bool is_for_another_machine(const struct elf *elf, char why[LAUNCH_WHY_MAX])
{
#if defined(__aarch64__)
	const unsigned machine = EM_AARCH64;
#else
	const unsigned machine = EM_X86_64;
#endif
	const char *chosen =
		getenv("KYMO_PRELOAD"); /* a library of another architecture, perhaps */
	char name[32], own[32];

	if ((elf->readable && elf->machine == machine) || (chosen && *chosen))
		return false;
	(void)snprintf(why, LAUNCH_WHY_MAX, "it is a %u-bit program for %s; build it for 64-bit %s",
		       elf->bits, elf_machine_name(elf->machine, name),
		       elf_machine_name(machine, own));
	return true;
}

bool launch_is_foreign(char *const *command, char why[LAUNCH_WHY_MAX])
{
	bool foreign;
	char path[PATH_MAX];
	struct elf elf;

	if (!launch_program(command, path))
		return false;
	if (elf_open(&elf, path, NULL))
		return false;
	foreign = is_for_another_machine(&elf, why);
	if (!foreign && *elf.interpreter && !launch_is_glibc(elf.interpreter)) {
		foreign = true;
		(void)snprintf(why, LAUNCH_WHY_MAX,
			       "its loader %s does not belong to the GNU C library; build it for "
			       "that",
			       elf.interpreter);
	}
	elf_close(&elf);
	return foreign;
}
