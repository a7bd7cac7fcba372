/* SPDX-License-Identifier: Apache-2.0 */
/* See attaching.h. */
#include "cli/common/attaching.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "abi/attach.h"
#include "abi/points.h"
#include "attach/attach.h"
#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "recorder/launch/preload.h"

/* Settings of ours that the process shall have, as if "kymo run" had started it. */
static const char *const settings[] = { "KYMO_RING_SIZE", "KYMO_RING_MEMORY", "KYMO_RING_SPARE",
					"KYMO_LOG_SIZE",  "KYMO_BLOCK",       "KYMO_CLOCK",
					"KYMO_VERBOSE" };

struct work {
	const char *verb;
	const struct attaching *attaching;
	struct attach_wish wish;
	bool on;
	unsigned done, failed, unchanged;
	struct kymo_err last;
};

static bool add(char *text, size_t size, const char *name, const char *value)
{
	const size_t used = strlen(text);
	const int more = snprintf(text + used, size - used, "%s=%s\n", name, value);

	return !strchr(value, '\n') && more > 0 && (size_t)more < size - used;
}

static int write_settings(char text[KYMO_ATTACH_SETTINGS_MAX], const struct attaching *attaching,
			  struct kymo_err *err)
{
	const char *dir = getenv("KYMO_DIR");
	char path[CLI_PATH_MAX], number[32];
	bool fits = true;

	*text = 0;
	if (dir && *dir) {
		if (cli_absolute(path, sizeof path, dir, err) < 0)
			return -1;
		fits = add(text, KYMO_ATTACH_SETTINGS_MAX, "KYMO_DIR", path);
	}
	(void)snprintf(number, sizeof number, "%llu", (unsigned long long)attaching->ring_size);
	if (attaching->ring_size)
		fits &= add(text, KYMO_ATTACH_SETTINGS_MAX, "KYMO_RING_SIZE", number);
	for (unsigned i = 0; i < COUNT_OF(settings); i++) {
		const char *value = getenv(settings[i]);

		if (value && *value && !(i == 0 && attaching->ring_size))
			fits &= add(text, KYMO_ATTACH_SETTINGS_MAX, settings[i], value);
	}
	return fits ? 0
		    : err_set(err, KYMO_EXIT_FAILED,
			      "the settings in KYMO_DIR and so on are too long, or of several "
			      "lines");
}

static const char *version_text(uint32_t version, char text[32])
{
	if (!version)
		return "";
	(void)snprintf(text, 32, ", tracetools %u.%u", version >> 8, version & 255);
	return text;
}

static void print_on(const struct work *work, unsigned pid, const struct attach_outcome *outcome)
{
	char name[4 * sizeof outcome->name], pause[TEXT_QUANTITY_MAX], version[32];

	text_clean(name, sizeof name, outcome->name);
	if (outcome->change == ATTACH_PRELOADED) {
		printf("%s (%u): was started with kymo, nothing to do\n", name, pid);
		return;
	}
	printf("%s (%u): %s%s; thread %u was stopped for %s%s\n", name, pid,
	       outcome->change == ATTACH_AGAIN ? "looked again" : "attached",
	       version_text(outcome->tracetools, version), outcome->thread,
	       text_ns(pause, outcome->pause), outcome->realtime ? " (a real-time thread)" : "");
	if (!outcome->tracepoints)
		fprintf(stderr,
			"kymo %s: %s (%u) calls no tracepoint: its ROS 2 was built with "
			"tracepoints compiled out (TRACETOOLS_DISABLED); only the middleware's "
			"functions are recorded\n",
			work->verb, name, pid);
	if (outcome->python_failed)
		fprintf(stderr,
			"kymo %s: callbacks of rclpy in %s (%u) are not recorded: its Python cannot "
			"load python/kymo_rclpy_attach.py, which is installed beside %s\n",
			work->verb, name, pid, work->wish.library);
}

static void print_off(unsigned pid, const struct attach_outcome *outcome)
{
	char name[4 * sizeof outcome->name], pause[TEXT_QUANTITY_MAX];

	text_clean(name, sizeof name, outcome->name);
	if (outcome->change == ATTACH_PRELOADED)
		printf("%s (%u): was started with kymo, cannot be detached\n", name, pid);
	else if (outcome->change == ATTACH_NOTHING)
		printf("%s (%u): kymo is not attached\n", name, pid);
	else
		printf("%s (%u): detached; thread %u was stopped for %s%s\n", name, pid,
		       outcome->thread, text_ns(pause, outcome->pause),
		       outcome->realtime ? " (a real-time thread)" : "");
}

static void one(struct work *work, unsigned pid)
{
	struct attach_outcome outcome;
	const int result = work->on ? attach_on(pid, &work->wish, &outcome, &work->last)
				    : attach_off(pid, &work->wish, &outcome, &work->last);

	if (result < 0) {
		work->failed++;
		(void)cli_fail(work->verb, &work->last);
		return;
	}
	work->done++;
	work->unchanged += outcome.change == ATTACH_PRELOADED || outcome.change == ATTACH_NOTHING;
	if (work->attaching->quiet)
		return;
	if (work->on)
		print_on(work, pid, &outcome);
	else
		print_off(pid, &outcome);
	(void)fflush(stdout);
}

static bool is_meant(const struct work *work, enum attach_kind kind, bool named)
{
	if (!work->on)
		return kind == ATTACH_ATTACHED || (named && kind != ATTACH_OTHER);
	return kind == ATTACH_ROS2 || kind == ATTACH_DETACHED || kind == ATTACH_ATTACHED ||
	       (named && kind == ATTACH_STARTED);
}

/* @name: NULL: all. */
static int several(struct work *work, const char *name, struct kymo_err *err)
{
	struct attach_found *found;
	const int count = attach_find(name, &found, err);
	unsigned meant = 0;

	if (count < 0)
		return -1;
	for (int i = 0; i < count; i++)
		if (is_meant(work, found[i].kind, name != NULL)) {
			one(work, found[i].pid);
			meant++;
		}
	free(found);
	if (meant)
		return 0;
	if (!name)
		return err_set(
			err, KYMO_EXIT_EMPTY,
			work->on ? "no process that you may trace has libtracetools.so; start a "
				   "ROS 2 program, or use sudo for other users' programs"
				 : "kymo is attached to no process that you may trace");
	if (count)
		return err_set(err, KYMO_EXIT_INPUT,
			       work->on ? "%s is running, but does not use tracetools, or you may "
					  "not trace it; name its pid to attach all the same"
					: "kymo is not attached to %s",
			       name);
	return err_set(err, KYMO_EXIT_INPUT,
		       "no process is called %s; name a pid, a name, or --all", name);
}

static int work_on(struct work *work, struct kymo_err *err)
{
	const struct attaching *attaching = work->attaching;
	uint64_t pid;

	if (attaching->all && several(work, NULL, err) < 0)
		return -1;
	for (unsigned i = 0; i < attaching->who.count; i++) {
		if (text_read_u64(attaching->who.item[i], &pid) && pid <= INT_MAX)
			one(work, (unsigned)pid);
		else if (several(work, attaching->who.item[i], err) < 0)
			return -1;
	}
	if (!work->failed)
		return 0;
	*err = work->last;
	err->text[0] = 0; /* it was printed */
	return -1;
}

int attaching_on(const char *verb, const struct attaching *attaching, struct kymo_err *err)
{
	char library[PATH_MAX], real[PATH_MAX], text[KYMO_ATTACH_SETTINGS_MAX];
	struct work work = { .verb = verb, .attaching = attaching, .on = true };

	if (preload_find(library, sizeof library, KYMO_LIBDIR, err) < 0 ||
	    write_settings(text, attaching, err) < 0)
		return -1;
	/* $KYMO_PRELOAD may name a path that only a container has. */
	work.wish = (struct attach_wish){ realpath(library, real) ? real : library, text,
					  attaching->max_pause };
	if (work_on(&work, err) < 0)
		return -1;
	if (!attaching->quiet && !attaching->bare && work.done > work.unchanged)
		printf("Record with: kymo record\nUndo with:   kymo detach --all\n");
	return 0;
}

int attaching_off(const char *verb, const struct attaching *attaching, struct kymo_err *err)
{
	struct work work = { .verb = verb,
			     .attaching = attaching,
			     .wish = { .library = "", .max_pause = attaching->max_pause } };

	return work_on(&work, err);
}

#define NAMED_MAX 3

unsigned attaching_hint(char text[ATTACHING_HINT_MAX])
{
	char names[ATTACHING_HINT_MAX / 2] = "", name[4 * sizeof((struct attach_found *)0)->name];
	struct attach_found *found = NULL;
	struct kymo_err ignored;
	const int count = attach_find(NULL, &found, &ignored);
	unsigned could = 0;

	for (int i = 0; i < count; i++) {
		const size_t used = strlen(names);

		if (found[i].kind != ATTACH_ROS2 && found[i].kind != ATTACH_DETACHED)
			continue;
		text_clean(name, sizeof name, found[i].name);
		if (could++ < NAMED_MAX)
			(void)snprintf(names + used, sizeof names - used, "%s%.20s",
				       used ? ", " : "", name);
	}
	free(found);
	*text = 0;
	if (could)
		(void)snprintf(text, ATTACHING_HINT_MAX, "%u ROS 2 program%s without kymo (%s%s)",
			       could, could == 1 ? " runs" : "s run", names,
			       could > NAMED_MAX ? ", ..." : "");
	return could;
}
