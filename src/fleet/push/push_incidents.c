/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rows of incidents for ClickHouse. The directory of incidents is its own spool: an incident that
 * was sent has a mark, an empty file of its name in the directory incidents of the spool.
 */
#include <dirent.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "base/io.h"
#include "base/json_get.h"
#include "base/text.h"
#include "fleet/push/push_internal.h"
#include "incident/incident.h"

#define AT_ONCE 32u /* rows in a request */

/* The columns of kymo_incidents that incident.json has under the same name. */
static const char *const texts[] = { "time",    "asked_by",	 "trigger", "what",   "cause", "finding",
				     "finding_about", "process", "thread",  "host",   "kymo" };
static const char *const numbers[] = { "at_ns",	 "value",   "begin_ns",	 "end_ns",
				       "events", "dropped", "suppressed" };

static void add_text(struct json_object *row, const char *key, const char *text)
{
	char *clean = text_utf8(text ? text : "");

	json_object_object_add(row, key, json_object_new_string(clean ? clean : ""));
	free(clean);
}

/* What the recorder wrote into it counts; an older one did not. */
static void add_source(struct json_object *row, const struct config *config,
		       const struct incident *incident)
{
	const char *robot = json_get_text(incident->json, "robot"),
		   *boot = json_get_text(incident->json, "boot"),
		   *software = json_get_text(incident->json, "software");
	struct json_object *labels = json_get(incident->json, "labels");

	add_text(row, "robot", robot ? robot : config->robot);
	add_text(row, "boot", boot ? boot : "");
	add_text(row, "software", software ? software : config->software);
	add_text(row, "labels",
		 labels ? json_object_to_json_string_ext(labels, JSON_C_TO_STRING_PLAIN)
			: config->labels_json);
}

static struct json_object *row_of(const struct config *config, const struct incident *incident)
{
	struct json_object *row = json_object_new_object();

	add_source(row, config, incident);
	add_text(row, "name", incident->name);
	add_text(row, "state", incident_state(incident));
	for (unsigned i = 0; i < COUNT_OF(texts); i++)
		add_text(row, texts[i], json_get_text(incident->json, texts[i]));
	for (unsigned i = 0; i < COUNT_OF(numbers); i++)
		json_object_object_add(
			row, numbers[i],
			json_object_new_uint64(json_get_u64(incident->json, numbers[i])));
	json_object_object_add(row, "bytes", json_object_new_uint64(incident->bytes));
	return row;
}

/* ---- marks ---- */

static bool mark_path(const struct push_target *target, const char *name, char path[PATH_MAX])
{
	return snprintf(path, PATH_MAX, "%s/incidents/%s", backlog_directory(target->spool), name) < PATH_MAX;
}

static bool is_marked(const struct push_target *target, const char *name)
{
	char path[PATH_MAX];

	return !mark_path(target, name, path) || access(path, F_OK) == 0;
}

static void mark(const struct push_target *target, const char *name)
{
	char path[PATH_MAX];
	int fd;

	if (!mark_path(target, name, path))
		return;
	make_parents(path);
	fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
	if (fd >= 0)
		(void)close(fd);
}

/* Those of incidents that are gone. */
static void clean_marks(const struct push_target *target, const struct incidents *incidents)
{
	char path[PATH_MAX];
	const struct dirent *entry;
	DIR *directory = mark_path(target, "", path) ? opendir(path) : NULL;

	while (directory && (entry = readdir(directory)) != NULL)
		if (*entry->d_name != '.' && !incidents_find(incidents, entry->d_name))
			(void)unlinkat(dirfd(directory), entry->d_name, 0);
	if (directory)
		(void)closedir(directory);
}

/* ---- requests ---- */

static bool send_some(struct push_target *target, const struct incidents *incidents, unsigned *at,
		      char *why, size_t size)
{
	const struct incident *sent[AT_ONCE];
	char key[INCIDENT_NAME_MAX + 400], *body = NULL, robot[768];
	enum push_result result = PUSH_SENT;
	unsigned count = 0;
	size_t length;
	FILE *out = open_memstream(&body, &length);

	for (; out && *at < incidents->count && count < AT_ONCE; ++*at) {
		const struct incident *incident = &incidents->item[*at];
		struct json_object *row;

		/* Also while its --on-incident command runs, or a slow upload: they change no
		 * column but bytes. */
		if (!incident_is_ready(incident) || is_marked(target, incident->name))
			continue;
		row = row_of(target->config, incident);
		fprintf(out, "%s\n", json_object_to_json_string_ext(row, JSON_C_TO_STRING_PLAIN | JSON_C_TO_STRING_NOSLASHESCAPE));
		json_object_put(row);
		sent[count++] = incident;
	}
	if (!out || fclose(out)) {
		snprintf(why, size, "out of memory");
		result = PUSH_AGAIN;
	} else if (count) {
		text_clean(robot, 256, target->config->robot);
		snprintf(key, sizeof(key), "Idempotency-Key: %.255s/incidents/%s", robot, sent[0]->name);
		result = push_post(target, target->incidents_url, "application/x-ndjson", key, body, length, why,
				   size);
	}
	free(body);
	for (unsigned i = 0; i < count && result != PUSH_AGAIN; i++)
		mark(target, sent[i]->name);
	return result == PUSH_SENT;
}

bool push_incidents(struct push_target *target, char *why, size_t size)
{
	struct incidents incidents;
	struct kymo_err err;
	unsigned at = 0;
	bool good = true;

	if (incidents_read(target->to->incidents, &incidents, &err)) {
		snprintf(why, size, "%s", err.text);
		good = false;
	}
	while (good && at < incidents.count)
		good = send_some(target, &incidents, &at, why, size);
	if (good)
		clean_marks(target, &incidents);
	incidents_free(&incidents);
	return good;
}
