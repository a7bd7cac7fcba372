/* SPDX-License-Identifier: Apache-2.0 */
/* Finds the command and the preload library, and builds the command's environment. */
#include "recorder/launch/launch.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/launch/preload.h"

bool launch_is_program(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISREG(st.st_mode) && access(path, X_OK) == 0;
}

bool launch_in_path(const char *name, char program[PATH_MAX])
{
	const char *path = getenv("PATH");

	if (!path)
		path = "/usr/local/bin:/usr/bin:/bin";
	while (*name && *path) {
		size_t length = strcspn(path, ":");

		if (snprintf(program, PATH_MAX, "%.*s/%s", (int)length, length ? path : ".", name) < PATH_MAX && launch_is_program(program))
			return true;
		path += length + (path[length] == ':');
	}
	return false;
}

int launch_find(const char *name, struct kymo_err *err)
{
	char program[PATH_MAX];

	if (!strchr(name, '/') && !launch_in_path(name, program))
		return err_set(err, KYMO_EXIT_INPUT, "there is no program \"%s\" in PATH; is the ROS 2 environment "
			       "set up (source install/setup.bash)?", name);
	if (strchr(name, '/') && !launch_is_program(name))
		return err_set(err, KYMO_EXIT_INPUT, access(name, F_OK) == 0 ?
			       "%s cannot be executed; is it a program?" :
			       "there is no program %s; check its path", name);
	return 0;
}

/* A variable that the command gets from us. */
struct setting {
	const char *name;
	char value[4096];
	const char *rest; /* what follows the value; NULL: nothing */
};

#define SETTINGS_MAX 11
#define FREQUENT_SPARE                                                                          \
	(8u << 20) /* calls of malloc() and of all functions are many times the program's other \
		      events */

static void set_number(struct setting *setting, const char *name, const char *format,
		       uint64_t value)
{
	setting->name = name;
	(void)snprintf(setting->value, sizeof setting->value, format, value);
}

/* Put another library of ours in front of @value, for the option that needs it. */
static int preload_more(const struct launch *launch, const char *name, const char *option,
			char *value, size_t size, struct kymo_err *err)
{
	char library[PATH_MAX], before[4096];

	(void)snprintf(before, sizeof before, "%s", value);
	if (preload_beside(library, sizeof library, name, launch->fallback_libdir) < 0)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"cannot find %s, which %s needs: it is neither in lib beside the directory "
			"of kymo nor where it is installed, and not built with sanitizers",
			name, option);
	return preload_value(value, size, library, before, err);
}

/* libkymo-malloc comes first: it has the begin and end of callbacks, and calls the next one. */
static int set_preload(const struct launch *launch, struct setting *setting, struct kymo_err *err)
{
	const char *before = getenv("LD_PRELOAD");
	char library[PATH_MAX], more[sizeof setting->value] = "";

	setting->name = "LD_PRELOAD";
	if (launch->functions) {
		if (before && strlen(before) >= sizeof more)
			return err_set(err, KYMO_EXIT_FAILED, "LD_PRELOAD is longer than %zu bytes",
				       sizeof more);
		(void)snprintf(more, sizeof more, "%s", before ? before : "");
		if (preload_more(launch, PRELOAD_FUNCTIONS_LIBRARY, "--functions", more,
				 sizeof more, err) < 0)
			return -1;
		before = more;
	}
	if (preload_find(library, sizeof library, launch->fallback_libdir, err) < 0 ||
	    preload_value(setting->value, sizeof setting->value, library, before, err) < 0)
		return -1;
	return launch->malloc ? preload_more(launch, PRELOAD_MALLOC_LIBRARY, "--malloc",
					     setting->value, sizeof setting->value, err)
			      : 0;
}

/*
 * AddressSanitizer ends a program in which a preloaded library comes before its own. The libraries
 * of kymo may do so: they leave the sanitizer's functions alone. What the user has set comes later,
 * and so decides.
 */
static void set_asan(struct setting *setting)
{
	const char *before = getenv("ASAN_OPTIONS");

	setting->name = "ASAN_OPTIONS";
	if ((size_t)snprintf(setting->value, sizeof setting->value, "verify_asan_link_order=0%s%s",
			     before && *before ? ":" : "",
			     before ? before : "") >= sizeof setting->value)
		(void)snprintf(setting->value, sizeof setting->value, "verify_asan_link_order=0");
}

/* Python imports the hook for rclpy from there. Its own variable may be longer than a value here.
 */
static bool set_python(const struct launch *launch, struct setting *setting)
{
	const char *wish = getenv(LAUNCH_RCLPY), *before = getenv("PYTHONPATH");
	char file[PATH_MAX];

	if ((wish && strcmp(wish, "0") == 0) ||
	    preload_beside(file, sizeof file, PRELOAD_PYTHON_FILE, launch->fallback_libdir) < 0)
		return false;
	*strrchr(file, '/') = '\0';
	if (strchr(file, ':') || (before && strstr(before, file) == before) ||
	    snprintf(setting->value, sizeof setting->value, "%s%s", file,
		     before && *before ? ":" : "") >= (int)sizeof setting->value)
		return false;
	setting->name = "PYTHONPATH";
	setting->rest = before;
	return true;
}

static int settings_make(const struct launch *launch, struct setting setting[SETTINGS_MAX],
			 struct kymo_err *err)
{
	const char *forward = getenv("KYMO_FORWARD");
	int count = 0;

	if (!launch->plain && set_preload(launch, &setting[count++], err) < 0)
		return -1;
	set_asan(&setting[count++]);
	count += !launch->plain && set_python(launch, &setting[count]);
	if (!forward || strcmp(forward, "1") != 0)
		set_number(&setting[count++], "TRACETOOLS_RUNTIME_DISABLE", "%" PRIu64, 1);
	if (launch->tag)
		set_number(&setting[count++], "KYMO_SESSION", "%" PRIx64, launch->tag);
	if (launch->ring_size)
		set_number(&setting[count++], "KYMO_RING_SIZE", "%" PRIu64, launch->ring_size);
	if (launch->block_ns)
		set_number(&setting[count++], "KYMO_BLOCK", "%" PRIu64 "us",
			   (uint64_t)(launch->block_ns + 999) / 1000);
	if ((launch->malloc || launch->functions) && !getenv("KYMO_RING_SPARE"))
		set_number(&setting[count++], "KYMO_RING_SPARE", "%" PRIu64, FREQUENT_SPARE);
	if (launch->malloc_sums) {
		setting[count].name = "KYMO_MALLOC";
		(void)snprintf(setting[count++].value, sizeof setting->value, "sums");
	}
	if (launch->flight)
		set_number(&setting[count++], "KYMO_FLIGHT", "%" PRIu64, 1);
	if (launch->rules) {
		const char *before = getenv("KYMO_FILTER");
		struct setting *rules = &setting[count++];

		rules->name = "KYMO_FILTER";
		if ((size_t)snprintf(rules->value, sizeof rules->value, "%s%s%s", before ? before : "",
				     before && *before ? "; " : "", launch->rules) >= sizeof rules->value)
			return err_set(err, KYMO_EXIT_USAGE, "the rules for the command have more than %zu characters; use \"kymo "
				       "record --filter-file\"", sizeof rules->value - 1);
	}
	return count;
}

static bool is_set(const char *entry, const struct setting *setting, int count)
{
	for (int i = 0; i < count; i++) {
		size_t length = strlen(setting[i].name);

		if (strncmp(entry, setting[i].name, length) == 0 && entry[length] == '=')
			return true;
	}
	return false;
}

/* Our environment, with @count settings in place of the variables of these names. */
static char **environment_make(const struct setting *setting, int count)
{
	size_t old = 0, at = 0;
	char **result;

	while (environ[old])
		old++;
	result = calloc(old + (size_t)count + 1, sizeof *result);
	if (!result)
		return NULL;
	for (int i = 0; i < count; i++)
		if (asprintf(&result[at++], "%s=%s%s", setting[i].name, setting[i].value,
			     setting[i].rest ? setting[i].rest : "") < 0)
			goto fail;
	for (char **entry = environ; *entry; entry++) {
		if (is_set(*entry, setting, count))
			continue;
		result[at] = strdup(*entry);
		if (!result[at++])
			goto fail;
	}
	return result;
fail:
	result[at - 1] = NULL;		/* asprintf() may leave anything there */
	launch_free(result);
	return NULL;
}

char **launch_environment(const struct launch *launch, struct kymo_err *err)
{
	struct setting setting[SETTINGS_MAX] = { 0 };
	char **result;
	int count = settings_make(launch, setting, err);

	if (count < 0)
		return NULL;
	result = environment_make(setting, count);
	if (!result)
		(void)err_no_memory(err);
	return result;
}

void launch_free(char **environment)
{
	for (char **entry = environment; entry && *entry; entry++)
		free(*entry);
	free(environment);
}
