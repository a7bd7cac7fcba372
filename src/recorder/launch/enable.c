/* SPDX-License-Identifier: Apache-2.0 */
/* See enable.h. */
#include "recorder/launch/enable.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/io.h"
#include "recorder/launch/preload.h"

#define MARK "# kymo enable wrote this file, kymo disable removes it. Directories created for it: "
#define PACKAGE "kymo_preload"
#define FILE_MOST 65536u

/* ---- where ---- */

static int set_path(char path[PATH_MAX], const char *directory, const char *rest,
		    struct kymo_err *err)
{
	if (snprintf(path, PATH_MAX, "%s/%s", directory, rest) < PATH_MAX)
		return 0;
	return err_set(err, KYMO_EXIT_INPUT, "the path of %s is too long", rest);
}

int enable_of_user(struct enable_place *place, struct kymo_err *err)
{
	const char *config = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	*place = (struct enable_place){ 0 };
	if (config && *config == '/')
		return set_path(place->file, config, "environment.d/50-kymo.conf", err);
	if (!home || *home != '/')
		return err_set(err, KYMO_EXIT_FAILED, "cannot find your directory environment.d: HOME is not set");
	return set_path(place->file, home, ".config/environment.d/50-kymo.conf", err);
}

/* Which of the two that colcon writes: "isolated" or "merged"; "": it did not. */
static const char *layout_of(const char *install)
{
	char path[PATH_MAX], *text;
	const char *layout = "";
	struct kymo_err err;
	size_t size;

	if (snprintf(path, sizeof path, "%s/.colcon_install_layout", install) >= (int)sizeof path ||
	    file_load(path, FILE_MOST, &text, &size, &err) < 0)
		return "";
	if (strncmp(text, "isolated", 8) == 0)
		layout = "isolated";
	else if (strncmp(text, "merged", 6) == 0)
		layout = "merged";
	free(text);
	return layout;
}

int enable_of_workspace(struct enable_place *place, const char *directory, struct kymo_err *err)
{
	char *whole = realpath(directory, NULL), install[PATH_MAX];
	const char *layout = "", *prefix;

	*place = (struct enable_place){ 0 };
	if (!whole)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read the workspace %.200s: %s", directory, strerror(errno));
	if (snprintf(install, sizeof install, "%s/install", whole) < (int)sizeof install)
		layout = layout_of(install);
	if (!*layout) {
		(void)snprintf(install, sizeof install, "%s", whole);
		layout = layout_of(install);
	}
	free(whole);
	if (!*layout)
		return err_set(err, KYMO_EXIT_INPUT, "%.200s is not a workspace that colcon built: it has no install/.colcon_install_layout; "
			       "name the directory in which you call colcon build", directory);
	prefix = strcmp(layout, "isolated") == 0 ? PACKAGE "/share/" : "share/";
	if (set_path(place->setup, install, "setup.bash", err) < 0 ||
	    snprintf(place->file, PATH_MAX, "%s/%s" PACKAGE "/kymo-enable.txt", install, prefix) >= PATH_MAX ||
	    snprintf(place->settings, PATH_MAX, "%s/%s" PACKAGE "/package.dsv", install, prefix) >= PATH_MAX ||
	    snprintf(place->index, PATH_MAX, "%s/%scolcon-core/packages/" PACKAGE, install, prefix) >= PATH_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "the path of the workspace is too long");
	return 0;
}

/* ---- what is there ---- */

/* The text of the file; NULL: it does not exist, or cannot be read. */
static char *load(const struct enable_place *place)
{
	struct kymo_err err;
	char *text;
	size_t size;

	return file_load(place->file, FILE_MOST, &text, &size, &err) < 0 ? NULL : text;
}

static bool is_ours(const char *text)
{
	return strncmp(text, MARK, strlen(MARK)) == 0;
}

enum enable_state enable_look(const struct enable_place *place, char library[PATH_MAX])
{
	char *text = load(place), *at;
	enum enable_state state;

	*library = '\0';
	if (!text)
		return access(place->file, F_OK) == 0 ||
				       (*place->settings && access(place->settings, F_OK) == 0)
			       ? ENABLE_FOREIGN
			       : ENABLE_OFF;
	at = is_ours(text) ? strstr(text, "LD_PRELOAD") : NULL;
	if (!at) {
		free(text);
		return ENABLE_FOREIGN;
	}
	at += strlen("LD_PRELOAD") + 1;
	(void)snprintf(library, PATH_MAX, "%.*s", (int)strcspn(at, "$\n"), at);
	state = access(library, R_OK) == 0 ? ENABLE_ON : ENABLE_GONE;
	free(text);
	return state;
}

/* ---- on ---- */

/* How many directories above @path do not exist. */
static unsigned missing_above(const char *path)
{
	char directory[PATH_MAX];
	unsigned count = 0;
	char *slash;

	(void)snprintf(directory, sizeof directory, "%s", path);
	while ((slash = strrchr(directory, '/')) && slash != directory) {
		*slash = '\0';
		if (access(directory, F_OK) == 0)
			break;
		count++;
	}
	return count;
}

static int write_file(const char *path, const char *text, struct kymo_err *err)
{
	char part[PATH_MAX + 8];
	int fd, rc;

	(void)snprintf(part, sizeof part, "%s.part", path);
	make_parents(path);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	rc = fd < 0 ? -errno : write_all(fd, text, strlen(text));
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(part, path) < 0)
		rc = -errno;
	if (rc == 0)
		return 0;
	(void)unlink(part);
	return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path, strerror(-rc));
}

static int find_libraries(const char *libdir, char library[PATH_MAX], char python[PATH_MAX],
			  struct kymo_err *err)
{
	*python = '\0';
	if (preload_find(library, PATH_MAX, libdir, err) < 0)
		return -1;
	if (*library != '/' || strpbrk(library, ": \t\n$;'\"\\"))
		return err_set(err, KYMO_EXIT_FAILED, "cannot name %s in a file of settings; install kymo in a path without colons, blanks and "
			       "quotes", library);
	if (preload_beside(python, PATH_MAX, PRELOAD_PYTHON_FILE, libdir) < 0 || strpbrk(python, ": \t\n$;'\"\\"))
		*python = '\0';
	else
		*strrchr(python, '/') = '\0';
	return 0;
}

/* Return: malloc'ed, NULL without memory. @made: directories created for file and index. */
static char *compose_notes(const struct enable_place *place, const char *library,
			   const char *python, bool flight, unsigned made, unsigned made_index)
{
	char *text = NULL;
	int length;

	if (*place->settings)
		length = asprintf(&text, MARK "%u %u\nLD_PRELOAD=%s\n", made, made_index, library);
	else
		length = asprintf(&text, MARK "%u %u\nLD_PRELOAD=%s${LD_PRELOAD:+:$LD_PRELOAD}\n%s%s%sASAN_OPTIONS=verify_asan_link_order=0"
				  "${ASAN_OPTIONS:+:$ASAN_OPTIONS}\nTRACETOOLS_RUNTIME_DISABLE=1\n%s", made, made_index, library,
				  *python ? "PYTHONPATH=" : "", python, *python ? "${PYTHONPATH:+:$PYTHONPATH}\n" : "",
				  flight ? "KYMO_FLIGHT=1\n" : "");
	return length < 0 ? NULL : text;
}

/* Return: malloc'ed, NULL without memory. */
static char *compose_settings(const char *library, const char *python, bool flight)
{
	char *text = NULL;

	return asprintf(&text, "prepend-non-duplicate;LD_PRELOAD;%s\n%s%s%sset-if-unset;ASAN_OPTIONS;verify_asan_link_order=0\n"
			"set;TRACETOOLS_RUNTIME_DISABLE;1\n%s", library, *python ? "prepend-non-duplicate;PYTHONPATH;" : "", python,
			*python ? "\n" : "", flight ? "set;KYMO_FLIGHT;1\n" : "") < 0 ? NULL : text;
}

static bool is_there(const char *path, const char *wanted)
{
	struct kymo_err err;
	char *text;
	size_t size;
	bool same;

	if (file_load(path, FILE_MOST, &text, &size, &err) < 0)
		return false;
	same = strcmp(text, wanted) == 0;
	free(text);
	return same;
}

/* Return: 1; 0: it was so; -1 with @err. The notes come first: what they name can be removed. */
static int write_all_of(const struct enable_place *place, const char *notes, const char *settings,
			struct kymo_err *err)
{
	if (is_there(place->file, notes) && (!*place->settings || (is_there(place->settings, settings) && is_there(place->index, ""))))
		return 0;
	if (write_file(place->file, notes, err) < 0)
		return -1;
	if (*place->settings && (write_file(place->settings, settings, err) < 0 || write_file(place->index, "", err) < 0))
		return -1;
	return 1;
}

int enable_write(const struct enable_place *place, const char *libdir, bool flight,
		 struct kymo_err *err)
{
	char library[PATH_MAX], python[PATH_MAX], *text, *settings, *before;
	unsigned made = missing_above(place->file), made_index = 0;
	int rc;

	if (enable_look(place, library) == ENABLE_FOREIGN)
		return err_set(err, KYMO_EXIT_FAILED, "%s was not written by kymo; remove it or give it another name", place->file);
	if (find_libraries(libdir, library, python, err) < 0)
		return -1;
	before = load(place);
	if (before)
		(void)sscanf(before + strlen(MARK), "%u %u", &made, &made_index);
	else if (*place->index)
		made_index = missing_above(place->index);
	/* Those above both are counted once. */
	if (!before && *place->index && made > 1 && made_index > made - 1)
		made_index -= made - 1;
	text = compose_notes(place, library, python, flight, made, made_index);
	settings = compose_settings(library, python, flight);
	rc = text && settings ? write_all_of(place, text, settings, err) : err_no_memory(err);
	free(before);
	free(settings);
	free(text);
	return rc;
}

/* ---- off ---- */

static void remove_above(const char *path, unsigned levels)
{
	char directory[PATH_MAX];
	char *slash;

	(void)snprintf(directory, sizeof directory, "%s", path);
	while (levels-- && (slash = strrchr(directory, '/')) && slash != directory) {
		*slash = '\0';
		if (rmdir(directory) < 0)
			return;		/* something else is in it */
	}
}

int enable_remove(const struct enable_place *place, struct kymo_err *err)
{
	unsigned made = 0, made_index = 0;
	char library[PATH_MAX], *text;

	switch (enable_look(place, library)) {
	case ENABLE_OFF:
		return 0;
	case ENABLE_FOREIGN:
		return err_set(err, KYMO_EXIT_FAILED, "%s was not written by kymo, and is left as it is", place->file);
	default:
		break;
	}
	text = load(place);
	if (text)
		(void)sscanf(text + strlen(MARK), "%u %u", &made, &made_index);
	free(text);
	if ((*place->index && unlink(place->index) < 0 && errno != ENOENT) ||
	    (*place->settings && unlink(place->settings) < 0 && errno != ENOENT) ||
	    unlink(place->file) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot remove %s: %s", place->file, strerror(errno));
	if (*place->index)
		remove_above(place->index, made_index);
	remove_above(place->file, made);
	return 1;
}
