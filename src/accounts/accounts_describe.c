/* SPDX-License-Identifier: Apache-2.0 */
/* What kymo.json says of the end, of a snapshot and of rules, as sentences for people. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts_internal.h"
#include "base/json_get.h"
#include "base/text.h"

enum accounts_end accounts_end(const struct accounts *accounts, bool is_written)
{
	if (is_written)
		return ACCOUNTS_GROWING;
	if (!accounts->present)
		return ACCOUNTS_END_UNKNOWN;
	return accounts->ended ? ACCOUNTS_ENDED : ACCOUNTS_NOT_ENDED;
}

const char *accounts_end_text(enum accounts_end end)
{
	static const char *const text[] = {
		[ACCOUNTS_END_UNKNOWN] = "",
		[ACCOUNTS_ENDED] = "ended in order",
		[ACCOUNTS_GROWING] = "still records",
		[ACCOUNTS_NOT_ENDED] = "did not end in order",
	};

	return text[end];
}

#define PROGRAMS_SHOWN 4	/* with rules of their own; of more only the number */

/* "kymo snapshot", for a snapshot that no trigger caused. */
static const char *cause_text(const char *cause)
{
	if (strcmp(cause, "program") == 0)
		return "kymo_snapshot()";
	if (strcmp(cause, "signal") == 0)
		return "SIGUSR1";
	return strcmp(cause, "memory") == 0 ? "kymo snapshot, from the programs' own memory" : "kymo snapshot";
}

/* "span(loop) > 1ms: cyclic:loop, 1.25 ms, in cyclic (4711), thread loop (4712)" */
void accounts_describe_snapshot(struct accounts *a)
{
	const struct accounts_snapshot *snapshot = &a->snapshot;
	char value[64] = "", place[256] = "", time[TEXT_QUANTITY_MAX];

	if (snapshot->pid && snapshot->tid)
		(void)snprintf(place, sizeof(place), " in %.64s (%" PRIu64 "), thread %.64s (%" PRIu64 ")", snapshot->procname,
			       snapshot->pid, snapshot->thread, snapshot->tid);
	else if (snapshot->pid)
		(void)snprintf(place, sizeof(place), " in %.64s (%" PRIu64 ")", snapshot->procname, snapshot->pid);
	if (strcmp(snapshot->what, "events dropped") == 0)
		(void)snprintf(value, sizeof(value), ", %" PRIu64, snapshot->value);
	else if (snapshot->value && snapshot->value <= INT64_MAX)
		(void)snprintf(value, sizeof(value), ", %s", text_ns(time, (int64_t)snapshot->value));
	if (*snapshot->trigger)
		(void)snprintf(a->snapshot_text, sizeof(a->snapshot_text), "%.512s: %.256s%s%s", snapshot->trigger, snapshot->what,
			       value, place);
	else
		(void)snprintf(a->snapshot_text, sizeof(a->snapshot_text), "%s%s", cause_text(snapshot->cause), place);
}

/* "topic !/rosout; node /a* (changed twice while recording)", and CARET's variables for all
 * programs. */
static void put_rules(FILE *out, struct json_object *filter)
{
	struct json_object *rules = json_get(filter, "rules");
	const uint64_t changes = json_get_u64(filter, "changes");

	for (size_t i = 0; i < json_length(rules); i++) {
		const char *rule = json_object_get_string(json_object_array_get_idx(rules, i));

		fprintf(out, "%s%s", ftell(out) ? "; " : "", rule ? rule : "");
	}
	if (json_object_is_type(filter, json_type_object)) {
		json_object_object_foreach(filter, variable, value)
			if (json_object_is_type(value, json_type_string))
				fprintf(out, "%s%s=%s, for all", ftell(out) ? "; " : "", variable, json_object_get_string(value));
	}
	if (changes)
		fprintf(out, "%s(changed %" PRIu64 " time%s while recording)", ftell(out) ? " " : "none at the end ", changes,
			changes == 1 ? "" : "s");
}

/* A program whose own environment says what is recorded of it. Return: whether it is one. */
static bool put_program(FILE *out, struct json_object *process, bool show)
{
	struct json_object *wanted = json_get(process, "wanted");
	const char *rules = json_get_text(process, "filter"), *name = json_get_text(process, "procname");
	const uint64_t pid = json_get_u64(process, "pid");

	if (!rules && (!wanted || json_object_get_boolean(wanted)))
		return false;
	if (show && rules && *rules)
		fprintf(out, "%sin the environment of %s (%" PRIu64 "): %.1023s", ftell(out) ? "; " : "", name ? name : "", pid, rules);
	else if (show && wanted && !json_object_get_boolean(wanted))
		fprintf(out, "%snothing of %s (%" PRIu64 ")", ftell(out) ? "; " : "", name ? name : "", pid);
	return true;
}

char *accounts_describe_rules(struct json_object *root)
{
	struct json_object *processes = json_get(root, "processes");
	size_t size = 0, programs = 0;
	char *text = NULL;
	FILE *out = open_memstream(&text, &size);

	if (!out)
		return NULL;
	put_rules(out, json_get(root, "filter"));
	for (size_t i = 0; i < json_length(processes); i++)
		programs += put_program(out, json_object_array_get_idx(processes, i),
					programs < PROGRAMS_SHOWN);
	if (programs > PROGRAMS_SHOWN)
		fprintf(out, "; and rules of %zu more programs", programs - PROGRAMS_SHOWN);
	if (fclose(out) == 0 && size)
		return text;
	free(text);
	return NULL;
}
