/* SPDX-License-Identifier: Apache-2.0 */
#include "base/text.h"
#include "cli/verbs/record/record_incident.h"

#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/io.h"
#include "cli/common/common.h"
#include "cli/verbs/incidents/incidents_finish.h"
#include "config/config.h"
#include "incident/incident.h"

#define SCHEMA 1
#define TRACE "/trace"

int record_incident_prepare(const struct incident_wishes *wishes, const char *output,
			    char directory[4096], struct kymo_err *err)
{
	char inside[CLI_PATH_MAX + 2];

	if (!wishes->count || !wishes->bytes)
		return err_set(err, KYMO_EXIT_USAGE, "--incident-count and --incident-size must be above 0");
	if ((output ? cli_absolute(directory, CLI_PATH_MAX, output, err)
		    : incidents_directory(directory, err)) < 0)
		return -1;
	(void)snprintf(inside, sizeof inside, "%s/x", directory);
	make_parents(inside);
	if (access(directory, W_OK | X_OK) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write incidents into %s; choose another place with -o DIR", directory);
	if (incidents_recover(directory))
		incidents_finish_later(directory, wishes->command, wishes->limit_ns);
	return 0;
}

int record_incident_name(const char *directory, char *path, unsigned size, struct kymo_err *err)
{
	char incident[INCIDENT_PATH_MAX];

	if (incident_create(directory, incident, err) < 0)
		return -1;
	if ((unsigned)snprintf(path, size, "%s" TRACE, incident) >= size)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the trace is too long; choose a shorter one with -o");
	return 0;
}

/*
 * The directory around the trace. Return: false: it is somewhere else, as `kymo snapshot -o` asked.
 */
static bool incident_of(const struct flight_report *report, char path[INCIDENT_PATH_MAX])
{
	const size_t length = strlen(report->path);

	if (length >= INCIDENT_PATH_MAX || !text_ends_with(report->path, TRACE))
		return false;
	(void)snprintf(path, INCIDENT_PATH_MAX, "%.*s", (int)(length - strlen(TRACE)), report->path);
	return true;
}

static void add_text(struct json_object *json, const char *key, const char *text)
{
	if (text && *text)
		json_object_object_add(json, key, json_object_new_string(text));
}

static void add_number(struct json_object *json, const char *key, uint64_t value)
{
	json_object_object_add(json, key, json_object_new_uint64(value));
}

/* Whose incident it is, as kymo.yaml says now. */
static void add_robot(struct json_object *json)
{
	struct config *config;
	struct json_object *labels;
	struct kymo_err unused;

	if (config_read(&config, NULL, &unused))
		return;
	add_text(json, "robot", config->robot);
	add_text(json, "boot", config->boot);
	add_text(json, "software", config->software);
	labels = *config->labels_json ? json_tokener_parse(config->labels_json) : NULL;
	if (labels)
		json_object_object_add(json, "labels", labels);
	config_free(config);
}

static struct json_object *describe(const struct flight_report *report, const char *cause)
{
	static const char *const names[] = { [FLIGHT_TRIGGER] = "trigger", [FLIGHT_REQUEST] = "request",
					     [FLIGHT_SIGNAL] = "signal", [FLIGHT_PROGRAM] = "program" };
	const uint64_t at = (report->hit ? report->hit->at_ns : report->end_ns) +
			    (uint64_t)report->clock_offset_ns;
	const time_t seconds = (time_t)(at / 1000000000);
	struct json_object *json = json_object_new_object();
	char host[256] = "", text[64] = "";
	struct tm tm;

	if (gmtime_r(&seconds, &tm))
		(void)strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &tm);
	(void)gethostname(host, sizeof host - 1);
	add_number(json, "schema", SCHEMA);
	add_text(json, "state", "written");
	add_text(json, "time", text);
	add_number(json, "at_ns", at);
	add_text(json, "asked_by", names[report->cause]);
	add_text(json, "cause", cause);
	if (report->trigger) {
		add_text(json, "trigger", report->trigger->text);
		add_text(json, "what", report->hit->what);
		add_number(json, "value", report->hit->value);
	}
	add_text(json, "process", report->procname);
	if (report->pid)
		add_number(json, "pid", (uint64_t)report->pid);
	add_text(json, "thread", report->thread);
	add_number(json, "begin_ns", report->begin_ns + (uint64_t)report->clock_offset_ns);
	add_number(json, "end_ns", report->end_ns + (uint64_t)report->clock_offset_ns);
	add_number(json, "events", report->events);
	add_number(json, "dropped", report->dropped);
	add_number(json, "suppressed", report->suppressed);
	add_robot(json);
	add_text(json, "host", host);
	add_text(json, "kymo", KYMO_VERSION);
	return json;
}

void record_incident_written(const struct incident_wishes *wishes, const char *directory,
			     const struct flight_report *report, const char *cause)
{
	struct json_object *json;
	char path[INCIDENT_PATH_MAX];
	struct kymo_err err;

	if (!incident_of(report, path))
		return;
	json = describe(report, cause);
	if (incident_write(path, json, &err) < 0)
		(void)cli_fail("record", &err);
	json_object_put(json);
	(void)incidents_prune(directory, wishes->count, wishes->bytes);
	incidents_finish_later(directory, wishes->command, wishes->limit_ns);
}

void record_incident_failed(const struct flight_report *report)
{
	char path[INCIDENT_PATH_MAX];

	if (incident_of(report, path))
		(void)incident_remove(path);
}
