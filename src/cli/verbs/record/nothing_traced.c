/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/record/nothing_traced.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/attaching.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "recorder/doctor/doctor.h"
#include "recorder/launch/launch.h"
#include "recorder/launch/prefixes.h"
#include "recorder/runtime/rundir.h"

/* The first problem that a doctor finds, for one line. */
struct reason {
	bool starts_others;	/* a script or a shell: what it calls says nothing */
	char text[640], remedy[640];
};

static void fill(struct reason *reason, const char *text, const char *remedy)
{
	(void)snprintf(reason->text, sizeof reason->text, "%s", text);
	(void)snprintf(reason->remedy, sizeof reason->remedy, "%s", remedy ? remedy : "");
}

static bool is_shell(const char *program)
{
	static const char *const shells[] = { "sh", "bash", "dash", "zsh", "fish", "busybox" };
	const char *name = text_base_name(program);

	for (size_t i = 0; i < COUNT_OF(shells); i++)
		if (!strcmp(shells[i], name))
			return true;
	return false;
}

static void on_found(void *context, const struct doctor_found *found)
{
	struct reason *reason = context;

	reason->starts_others |= found->check == DOCTOR_CHECK_INTERPRETER;
	if (found->result == DOCTOR_PROBLEM && !*reason->text &&
	    !(reason->starts_others && found->check == DOCTOR_CHECK_TRACEPOINTS))
		fill(reason, found->text, found->remedy);
}

/* Return: whether there is one. */
static bool of_words(char *const *command, const char *verb, struct prefixes *found,
		     struct reason *reason)
{
	prefixes_parse(command, verb, found);
	if (*found->problem)
		fill(reason, found->problem, found->remedy);
	return *found->problem;
}

static bool of_program(const char *program, bool all, struct reason *reason)
{
	struct doctor doctor = { .libdir = KYMO_LIBDIR, .found = on_found, .context = reason };
	char text[sizeof reason->text];
	struct kymo_err err;

	reason->starts_others = is_shell(program);
	if ((all ? doctor_program(&doctor, program, &err) : doctor_loads(&doctor, program, &err)) <
		    0 ||
	    !*reason->text)
		return false;
	(void)snprintf(text, sizeof text, "%.200s: %.400s", program, reason->text);
	memcpy(reason->text, text, sizeof text);
	return true;
}

static void print(const char *verb, const char *what, const struct reason *reason)
{
	char text[2 * sizeof reason->text], remedy[4 * sizeof reason->remedy];

	(void)snprintf(text, sizeof text, "%s: %s", what, reason->text);
	text_clean(remedy, sizeof remedy, reason->remedy);
	cli_say((char *)verb, text);
	if (*remedy) {
		fputs("  ", stderr);
		screen_say(stderr, 2, 2, remedy);
	}
}

static void find_reason(const struct record_result *result, char *const *command,
			struct reason *reason)
{
	const char *disabled = getenv("KYMO_DISABLE");
	char dir[PATH_MAX], text[sizeof reason->text];
	struct prefixes found;
	struct kymo_err err;

	if (disabled && !strcmp(disabled, "1"))
		fill(reason, "KYMO_DISABLE=1 is in the environment", "unset KYMO_DISABLE");
	else if (rundir_path(dir, sizeof dir, &err) == 0 && cli_no_room(dir, text, sizeof text))
		fill(reason, text, "free some, or choose another place with KYMO_DIR; a program needs at least 512 KiB there");
	else if (*result->stranger.text && result->stranger.calls)
		fill(reason, result->stranger.text, result->stranger.remedy);
	else if (of_words(command, "record -o DIR", &found, reason) || result->stats.refused)
		;
	else if (*result->stranger.text)
		fill(reason, result->stranger.text, result->stranger.remedy);
	else
		(void)of_program(command[found.program], true, reason);
}

static void command_without(const struct record_result *result, char *const *command)
{
	struct reason reason = { 0 };
	char line[512], clean[4 * sizeof line];

	find_reason(result, command, &reason);
	if (!*reason.text)
		fill(&reason, result->stats.refused ? "the command produced no event of ROS 2 or kymo.h, or cannot be recorded, as said above" :
		     "the command produced no event of ROS 2 or kymo.h",
		     reason.starts_others ? "if it starts other programs: does something take LD_PRELOAD away from them, as sudo and env -i do? \"kymo doctor "
		     "-p PID\" checks a running process" : "");
	print("record", "nothing was traced, so there is no trace", &reason);
	text_clean(clean, sizeof clean, prefixes_line(command, line, sizeof line));
	fprintf(stderr, "  \"kymo doctor -- %s\" shows more\n", clean);
}

/* Processes were traced, and the rules want them; none of them came to its first event. */
static void no_event(const struct record_result *result)
{
	if (result->command_ended && result->command_status)
		fprintf(stderr, "kymo record: nothing was traced, so there is no trace: the command ended with status %d before its "
			"first event; see what it says above\n",
			result->command_status);
	else
		fprintf(stderr, "kymo record: nothing was traced, so there is no trace: no event came from the %u processes that "
			"kymo's library was in\n  does the program reach its first tracepoint? \"kymo doctor -p PID\" checks a running "
			"process\n",
			result->stats.processes);
}

/* For a recording of what runs: "kymo attach" would have helped. */
static void print_hint(void)
{
	char hint[ATTACHING_HINT_MAX];

	if (attaching_hint(hint))
		fprintf(stderr, "  %s: \"kymo record --attach\" records them\n", hint);
}

/* Of a recording of what runs. */
static void none_of(const struct record_result *result)
{
	struct reason reason = { 0 };

	fill(&reason,
	     result->stats.foreign ? "the traced processes record themselves, or another recorder has them" :
	     result->stats.refused ? "no process in the runtime directory could be recorded, as said above" :
				     "no traced process was running; start programs with \"kymo run -- CMD\"",
	     "\"kymo doctor\" explains why");
	print("record", "nothing was traced, so there is no trace", &reason);
}

int nothing_traced(const struct record_result *result, const struct record_options *record)
{
	const int status = result->command_ended && result->command_status ? result->command_status
			   : result->command_left                          ? KYMO_EXIT_FAILED
									   : KYMO_EXIT_EMPTY;

	if (result->stats.processes && result->stats.unwanted == result->stats.processes)
		fprintf(stderr, "kymo record: there is no trace, because the rules leave out all %u processes that were "
			"traced: --process, or CARET_IGNORE_PROCESSES or KYMO_FILTER in their environment\n",
			result->stats.processes);
	else if (result->stats.processes && !result->stats.init_events)
		no_event(result);
	else if (record->command && !result->stats.foreign)
		command_without(result, record->command);
	else
		none_of(result);
	if (!record->command && !result->stats.foreign && !result->stats.refused)
		print_hint();
	return status;
}

bool warn_foreign(const char *verb, char *const *command)
{
	char why[LAUNCH_WHY_MAX], clean[4 * LAUNCH_WHY_MAX];

	if (!launch_is_foreign(command, why))
		return false;
	text_clean(clean, sizeof(clean), why);
	fprintf(stderr,
		"kymo %s: this command cannot be recorded, and runs without kymo's library: %s\n",
		verb, clean);
	return true;
}

void warn_not_traceable(char *const *command)
{
	struct reason reason = { 0 };
	struct prefixes found;

	if (of_words(command, "run", &found, &reason) || of_program(command[found.program], false, &reason))
		print("run", "this command cannot be recorded", &reason);
}
