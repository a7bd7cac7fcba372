/* SPDX-License-Identifier: Apache-2.0 */
/* See info_accounts.h. Everything in the file is optional, and nothing in it is trusted. */
#include "cli/verbs/info/info_accounts.h"

#include <inttypes.h>
#include <json-c/json.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/text.h"
#include "caret/filter/caret_filter.h"

static struct json_object *member(struct json_object *object, const char *key)
{
	struct json_object *found = NULL;

	if (!json_object_is_type(object, json_type_object))
		return NULL;
	(void)json_object_object_get_ex(object, key, &found);	/* NULL when it is not there */
	return found;
}

static uint64_t number(struct json_object *object, const char *key)
{
	struct json_object *value = member(object, key);

	return json_object_is_type(value, json_type_int) ? json_object_get_uint64(value) : 0;
}

static void text(struct json_object *object, const char *key, char *out, size_t size)
{
	struct json_object *value = member(object, key);
	const char *found = json_object_is_type(value, json_type_string) ?
			    json_object_get_string(value) : "";

	(void)snprintf(out, size, "%s", found);
}

static size_t length_of(struct json_object *array)
{
	return json_object_is_type(array, json_type_array) ? json_object_array_length(array) : 0;
}

static void read_threads(struct accounts *a, struct json_object *array, int32_t vpid)
{
	size_t count = length_of(array);
	struct account_thread *bigger = realloc(a->thread, (a->thread_count + count + 1) *
						sizeof *bigger);

	if (!bigger)
		return;
	a->thread = bigger;
	for (size_t i = 0; i < count; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);
		struct account_thread *thread = &a->thread[a->thread_count++];

		*thread = (struct account_thread) { .vpid = vpid,
			.vtid = (int32_t)number(object, "tid"), .recorded = number(object, "recorded"),
			.dropped = number(object, "dropped") };
		text(object, "name", thread->name, sizeof thread->name);
	}
}

static void read_process(struct accounts *a, struct json_object *object)
{
	struct account_process *process = &a->process[a->process_count++];

	*process = (struct account_process) {
		.vpid = (int32_t)number(object, "pid"),
		.recorded = number(object, "recorded"),
		.dropped = number(object, "dropped"),
		.unwritten = number(object, "unwritten"),
		.corrupt_bytes = number(object, "corrupt_bytes"),
	};
	text(object, "procname", process->name, sizeof process->name);
	text(object, "state", process->state, sizeof process->state);
	text(object, "tracetools", process->tracetools, sizeof process->tracetools);
	read_threads(a, member(object, "threads"), process->vpid);
}

static bool room_for_processes(struct accounts *a, size_t count)
{
	struct account_process *bigger = realloc(a->process, (a->process_count + count + 1) * sizeof *bigger);

	if (bigger)
		a->process = bigger;
	return bigger;
}

static void read_processes(struct accounts *a, struct json_object *array)
{
	size_t count = length_of(array);

	for (size_t i = 0; room_for_processes(a, count - i) && i < count; i++)
		read_process(a, json_object_array_get_idx(array, i));
}

/*
 * Those of which kymo.json has only sums, as far as it knows the list: what came behind that, before its
 * recorder was killed, is in it still.
 */
static void read_earlier(struct accounts *a, const char *directory, struct json_object *earlier)
{
	uint64_t left = number(earlier, "file_bytes");
	char path[4096 + 32], name[64];
	size_t room = 0;
	char *line = NULL;
	ssize_t length;
	FILE *file;

	text(earlier, "file", name, sizeof name);
	if (!*name || strchr(name, '/'))
		return;
	(void)snprintf(path, sizeof path, "%s/%s", directory, name);
	file = fopen(path, "re");
	while (file && (length = getline(&line, &room, file)) > 0 && (uint64_t)length <= left) {
		struct json_object *object = json_tokener_parse(line);

		left -= (uint64_t)length;
		if (json_object_is_type(object, json_type_object) && room_for_processes(a, a->process_count))
			read_process(a, object);
		json_object_put(object);
	}
	free(line);
	if (file)
		(void)fclose(file);
}

static int64_t time_of(struct json_object *object, const char *key)
{
	uint64_t ns = number(object, key);

	return ns <= INT64_MAX ? (int64_t)ns : 0;
}

static void read_clocks(struct accounts *a, struct json_object *array)
{
	size_t count = length_of(array);

	a->clock = calloc(count + 1, sizeof *a->clock);
	for (size_t i = 0; a->clock && i < count; i++) {
		struct json_object *object = json_object_array_get_idx(array, i);

		a->clock[a->clock_count++] = (struct account_clock) {
			.monotonic_ns = time_of(object, "monotonic_ns"),
			.realtime_ns = time_of(object, "realtime_ns"),
			.boottime_ns = time_of(object, "boottime_ns"),
			.counter = time_of(object, "counter") };
	}
}

static void read_clock_changes(struct accounts *a, struct json_object *object)
{
	a->slept = number(object, "slept");
	a->slept_ns = (uint64_t)time_of(object, "slept_ns");
	a->clock_set = number(object, "set");
	a->clock_set_ns = json_object_get_int64(member(object, "set_ns"));
}

/* "span(loop) > 1ms: cyclic:loop, 1.25 ms, in cyclic (4711), thread loop (4712)" */
static void describe_snapshot(struct account_snapshot *snapshot, struct json_object *object)
{
	char value[64] = "", who[256] = "", time[TEXT_QUANTITY_MAX], procname[64], thread[64];
	const uint64_t pid = number(object, "pid"), tid = number(object, "tid");

	text(object, "procname", procname, sizeof procname);
	text(object, "thread", thread, sizeof thread);
	if (pid && tid)
		(void)snprintf(who, sizeof who, " in %s (%" PRIu64 "), thread %s (%" PRIu64 ")", procname, pid,
			       thread, tid);
	else if (pid)
		(void)snprintf(who, sizeof who, " in %s (%" PRIu64 ")", procname, pid);
	if (strcmp(snapshot->what, "events dropped") == 0)
		(void)snprintf(value, sizeof value, ", %" PRIu64, snapshot->value);
	else if (snapshot->value && snapshot->value <= INT64_MAX)
		(void)snprintf(value, sizeof value, ", %s", text_ns(time, (int64_t)snapshot->value));
	if (snapshot->trigger[0])
		(void)snprintf(snapshot->text, sizeof snapshot->text, "%s: %s%s%s", snapshot->trigger,
			       snapshot->what, value, who);
	else
		(void)snprintf(snapshot->text, sizeof snapshot->text, "%s%s",
			       strcmp(snapshot->cause, "program") == 0 ? "kymo_snapshot()" :
			       strcmp(snapshot->cause, "signal") == 0 ? "SIGUSR1" :
			       strcmp(snapshot->cause, "memory") == 0 ? "kymo snapshot, of the programs' own memory" :
			       "kymo snapshot", who);
}

static void read_snapshot(struct account_snapshot *snapshot, struct json_object *object, int64_t start_ns)
{
	const int64_t at_ns = time_of(object, "at_ns");

	if (!json_object_is_type(object, json_type_object))
		return;
	snapshot->present = true;
	snapshot->at_ns = at_ns > start_ns ? at_ns - start_ns : 0;
	snapshot->value = number(object, "value");
	snapshot->suppressed = number(object, "suppressed");
	text(object, "cause", snapshot->cause, sizeof snapshot->cause);
	text(object, "trigger", snapshot->trigger, sizeof snapshot->trigger);
	text(object, "what", snapshot->what, sizeof snapshot->what);
	describe_snapshot(snapshot, object);
}

/* "topic !/rosout; node /a* (changed twice while recording)", and whom environments say something of. */
static void put_rules(FILE *out, struct json_object *filter)
{
	struct json_object *rules = member(filter, "rules");
	const uint64_t changes = number(filter, "changes");

	for (size_t i = 0; i < length_of(rules); i++) {
		const char *rule = json_object_get_string(json_object_array_get_idx(rules, i));

		fprintf(out, "%s%s", ftell(out) ? "; " : "", rule ? rule : "");
	}
	for (unsigned i = 0; i < CARET_LISTS; i++) {
		struct json_object *list = member(filter, filter_caret_variable((enum filter_caret_list)i));

		if (list)
			fprintf(out, "%s%s=%s, for all", ftell(out) ? "; " : "", filter_caret_variable((enum filter_caret_list)i),
				json_object_get_string(list));
	}
	if (changes)
		fprintf(out, "%s(changed %" PRIu64 " time%s while recording)", ftell(out) ? " " : "none at the end ", changes,
			changes == 1 ? "" : "s");
}

static void put_program(FILE *out, struct json_object *object)
{
	struct json_object *wanted = member(object, "wanted");
	char rules[1024], name[64];

	text(object, "filter", rules, sizeof rules);
	text(object, "procname", name, sizeof name);
	if (*rules)
		fprintf(out, "%sin the environment of %s (%" PRIu64 "): %s", ftell(out) ? "; " : "", name, number(object, "pid"), rules);
	else if (wanted && !json_object_get_boolean(wanted))
		fprintf(out, "%snothing of %s (%" PRIu64 ")", ftell(out) ? "; " : "", name, number(object, "pid"));
}

#define PROGRAMS_TOLD 4

static void read_filter(struct accounts *a, struct json_object *root)
{
	struct json_object *processes = member(root, "processes");
	size_t size = 0, told = 0;
	FILE *out = open_memstream(&a->rules, &size);

	if (!out)
		return;
	a->filtered = number(member(root, "totals"), "filtered");
	put_rules(out, member(root, "filter"));
	for (size_t i = 0; i < length_of(processes); i++) {
		struct json_object *object = json_object_array_get_idx(processes, i), *wanted = member(object, "wanted");

		if (!member(object, "filter") && (!wanted || json_object_get_boolean(wanted)))
			continue;
		if (told++ < PROGRAMS_TOLD)
			put_program(out, object);
	}
	if (told > PROGRAMS_TOLD)
		fprintf(out, "; and so for %zu more", told - PROGRAMS_TOLD);
	if (fclose(out) != 0 || !size) {
		free(a->rules);
		a->rules = NULL;
	}
}

void accounts_read(struct accounts *a, const char *directory, char problem[512])
{
	struct json_object *root, *totals;
	char path[4096 + 16];

	*a = (struct accounts) { 0 };
	problem[0] = 0;
	(void)snprintf(path, sizeof path, "%s/kymo.json", directory);
	if (access(path, F_OK))
		return;
	root = json_object_from_file(path);
	if (!json_object_is_type(root, json_type_object)) {
		(void)snprintf(problem, 512, "%.400s: is no JSON object; the recorder's own counts are not "
			       "shown", path);
		json_object_put(root);
		return;
	}
	totals = member(root, "totals");
	a->present = true;
	a->ended = json_object_get_boolean(member(root, "ended"));
	text(root, "kymo", a->version, sizeof a->version);
	/* Of a recorder that was killed they are old, and what it had not told its successor tells. */
	if (a->ended) {
		a->recorded = number(totals, "recorded");
		a->dropped = number(totals, "dropped") + number(totals, "init_dropped");
		a->unwritten = number(totals, "unwritten");
	}
	a->corrupt_bytes = number(totals, "corrupt_bytes");
	a->overwritten = number(totals, "overwritten");
	a->outside = number(totals, "outside");
	a->pauses = number(root, "pause_count");
	a->paused_ns = time_of(root, "paused_ns");
	a->chunks_removed = number(member(root, "chunks"), "removed");
	a->events_removed = number(member(root, "chunks"), "removed_events");
	a->bytes_removed = number(member(root, "chunks"), "removed_bytes");
	text(member(root, "kernel"), "source", a->kernel_source, sizeof a->kernel_source);
	a->kernel_recorded = number(member(root, "kernel"), "recorded");
	a->kernel_lost = number(member(root, "kernel"), "lost");
	a->kernel_left_out = number(member(root, "kernel"), "left_out");
	a->removed = number(member(root, "removed"), "times");
	a->removed_events = number(member(root, "removed"), "events");
	read_snapshot(&a->snapshot, member(root, "snapshot"), time_of(root, "start_ns"));
	read_clocks(a, member(root, "clocks"));
	read_clock_changes(a, member(root, "clock_changes"));
	read_earlier(a, directory, member(root, "earlier"));
	read_processes(a, member(root, "processes"));
	read_filter(a, root);
	json_object_put(root);
}

void accounts_free(struct accounts *a)
{
	free(a->process);
	free(a->thread);
	free(a->clock);
	free(a->rules);
	*a = (struct accounts) { 0 };
}
