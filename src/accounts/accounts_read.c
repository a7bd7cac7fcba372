/* SPDX-License-Identifier: Apache-2.0 */
/* kymo.json into the structs of accounts.def. Everything in the file is optional, and nothing in it
 * is trusted. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "accounts/accounts_internal.h"
#include "base/array.h"
#include "base/file.h"
#include "base/json_get.h"

#define PATH_BYTES 4096
#define LINE_MAX_BYTES ((size_t)16 << 20) /* a process with 60 000 threads */

static int64_t signed_value(struct json_object *value, bool negative)
{
	const int64_t number =
		json_object_is_type(value, json_type_int) ? json_object_get_int64(value) : 0;

	/* json-c has the largest number where the text had a larger one. */
	return (negative || number >= 0) && number != INT64_MAX ? number : 0;
}

/* The members of @group that @object has; the others become 0 or "". */
static void read_group(struct accounts *a, struct json_object *object, enum accounts_group group,
		       void *of)
{
	for (const struct accounts_field *field = accounts_fields(group); field->key; field++) {
		struct json_object *value = json_get(object, field->key);
		void *at = (char *)of + field->offset;
		const char *text;

		switch (field->kind) {
		case KIND_U64:
			*(uint64_t *)at = json_object_is_type(value, json_type_int)
						  ? json_object_get_uint64(value)
						  : 0;
			break;
		case KIND_I64:
		case KIND_NS:
			*(int64_t *)at = signed_value(value, field->kind == KIND_I64);
			break;
		case KIND_BOOL:
			*(bool *)at = json_object_get_boolean(value);
			break;
		case KIND_TEXT:
		case KIND_NULLABLE:
			text = json_object_is_type(value, json_type_string) ? json_object_get_string(value) : "";
			text = pool_text(&a->pool, text, strlen(text));
			*(const char **)at = text ? text : "";
			break;
		}
	}
}

static void read_process(struct accounts *a, struct json_object *object)
{
	struct json_object *threads = json_get(object, "threads");
	const size_t count = json_length(threads);
	struct account_process *process;

	if (!ARRAY_ROOM(a->process, a->process_count, a->process_capacity))
		return;
	process = &a->process[a->process_count++];
	*process = (struct account_process){ 0 };
	read_group(a, object, ACCOUNTS_PROCESS, &process->is);
	process->thread = count ? pool_new(&a->pool, count * sizeof(*process->thread)) : NULL;
	for (size_t i = 0; process->thread && i < count; i++)
		read_group(a, json_object_array_get_idx(threads, i), ACCOUNTS_THREAD,
			   &process->thread[process->thread_count++]);
}

/*
 * Processes that ended long ago are lines of a file of their own. A recorder that was killed may
 * have written more lines than its kymo.json counts: those processes are still among "processes".
 */
static void read_earlier(struct accounts *a, const char *directory, struct json_object *object)
{
	struct accounts_earlier earlier;
	char path[PATH_BYTES + 64];
	char *line = NULL;
	size_t room = 0, length;
	FILE *file;

	read_group(a, object, ACCOUNTS_EARLIER, &earlier);
	if (!*earlier.file || strchr(earlier.file, '/') ||
	    snprintf(path, sizeof(path), "%s/%s", directory, earlier.file) >= (int)sizeof(path))
		return;
	file = file_stream(path);
	while (file && (length = file_line(file, &line, &room, LINE_MAX_BYTES)) > 0 &&
	       length <= earlier.file_bytes) {
		struct json_object *process = json_tokener_parse(line);

		earlier.file_bytes -= length;
		if (json_object_is_type(process, json_type_object))
			read_process(a, process);
		json_object_put(process);
	}
	free(line);
	if (file)
		(void)fclose(file);
}

static void read_clocks(struct accounts *a, struct json_object *array)
{
	const size_t count = json_length(array);

	a->clock = calloc(count + 1, sizeof(*a->clock));
	for (size_t i = 0; a->clock && i < count; i++)
		read_group(a, json_object_array_get_idx(array, i), ACCOUNTS_CLOCK,
			   &a->clock[a->clock_count++]);
}

static void read_pauses(struct accounts *a, struct json_object *array)
{
	const size_t count = json_length(array);

	a->pause = count ? calloc(count, sizeof(*a->pause)) : NULL;
	for (size_t i = 0; a->pause && i < count; i++)
		read_group(a, json_object_array_get_idx(array, i), ACCOUNTS_PAUSE,
			   &a->pause[a->pause_count++]);
}

static void read_snapshot(struct accounts *a, struct json_object *object)
{
	read_group(a, object, ACCOUNTS_SNAPSHOT, &a->snapshot);
	if (!json_object_is_type(object, json_type_object))
		return;
	a->snapshot_at_ns =
		a->snapshot.at_ns > a->root.start_ns ? a->snapshot.at_ns - a->root.start_ns : 0;
	accounts_describe_snapshot(a);
}

static void read_root(struct accounts *a, struct json_object *root, const char *directory)
{
	struct json_object *processes = json_get(root, "processes");

	a->present = true;
	read_group(a, root, ACCOUNTS_ROOT, &a->root);
	read_group(a, json_get(root, "host"), ACCOUNTS_HOST, &a->host);
	read_group(a, json_get(root, "totals"), ACCOUNTS_TOTALS, &a->totals);
	/* The counts of a killed recorder are old; the next recorder counted what it had not
	 * written yet. */
	a->ended = a->root.ended;
	if (a->ended) {
		a->recorded = a->totals.recorded;
		a->dropped = a->totals.dropped + a->totals.init_dropped;
		a->unwritten = a->totals.unwritten;
	}
	read_group(a, json_get(root, "kernel"), ACCOUNTS_KERNEL, &a->kernel);
	read_group(a, json_get(root, "stacks"), ACCOUNTS_STACKS, &a->stacks);
	read_group(a, json_get(root, "chunks"), ACCOUNTS_CHUNKS, &a->chunks);
	read_group(a, json_get(root, "removed"), ACCOUNTS_REMOVED, &a->removed);
	read_group(a, json_get(root, "clock_changes"), ACCOUNTS_CLOCK_CHANGES, &a->clock_changes);
	read_snapshot(a, json_get(root, "snapshot"));
	read_clocks(a, json_get(root, "clocks"));
	read_pauses(a, json_get(root, "pauses"));
	read_earlier(a, directory, json_get(root, "earlier"));
	for (size_t i = 0; i < json_length(processes); i++)
		read_process(a, json_object_array_get_idx(processes, i));
	a->rules = accounts_describe_rules(root);
}

void accounts_read(struct accounts *a, const char *directory, char problem[512])
{
	char path[PATH_BYTES + 16], *text;
	struct json_object *root;
	struct kymo_err err;
	size_t size;

	*a = (struct accounts){ .kernel.source = "", .snapshot.cause = "" };
	problem[0] = 0;
	(void)snprintf(path, sizeof(path), "%s/" ACCOUNTS_FILE, directory);
	if (access(path, F_OK))
		return;
	if (file_load(path, ACCOUNTS_MAX, &text, &size, &err)) {
		(void)snprintf(problem, 512, "%.400s; the recorder's own counts are not shown",
			       err.text);
		return;
	}
	root = json_tokener_parse(text);
	free(text);
	if (json_object_is_type(root, json_type_object))
		read_root(a, root, directory);
	else
		(void)snprintf(problem, 512, "cannot read %.400s: not a JSON object; the recorder's own counts are not shown", path);
	json_object_put(root);
}

void accounts_free(struct accounts *a)
{
	free(a->process);
	free(a->clock);
	free(a->pause);
	free(a->rules);
	pool_free(&a->pool);
	*a = (struct accounts){ .kernel.source = "", .snapshot.cause = "" };
}
