/* SPDX-License-Identifier: Apache-2.0 */
#define _XOPEN_SOURCE 700
#include "incident/incident.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <json-c/json.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/file.h"
#include "base/io.h"
#include "base/json_get.h"

#define JSON_MOST (1u << 20)	/* bytes of incident.json */
#define NAMES_TRIED 1000
#define FILES_OPEN 16

/* ---- one ---- */

static bool is_name(const char *name)
{
	return strlen(name) < INCIDENT_NAME_MAX && strspn(name, "0123456789-") == strlen(name) && strlen(name) >= 15;
}

static _Thread_local uint64_t bytes_found; /* of nftw(), which passes nothing on */

static int add_bytes(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)path;
	(void)at;
	if (kind == FTW_F)
		bytes_found += (uint64_t)status->st_size;
	return 0;
}

static int remove_entry(const char *path, const struct stat *status, int kind, struct FTW *at)
{
	(void)status;
	(void)kind;
	(void)at;
	return remove(path);
}

int incident_remove(const char *path)
{
	return nftw(path, remove_entry, FILES_OPEN, FTW_DEPTH | FTW_PHYS);
}

static struct json_object *read_json(const char *directory)
{
	char path[INCIDENT_PATH_MAX], *text;
	struct json_object *json = NULL;
	struct kymo_err err;
	size_t size;

	if ((size_t)snprintf(path, sizeof path, "%s/incident.json", directory) < sizeof path &&
	    file_load(path, JSON_MOST, &text, &size, &err) == 0) {
		json = json_tokener_parse(text);
		free(text);
	}
	if (json && json_object_is_type(json, json_type_object))
		return json;
	json_object_put(json);
	return json_object_new_object();
}

const char *incident_state(const struct incident *incident)
{
	const char *state = json_get_text(incident->json, "state");

	return state ? state : "?";
}

bool incident_is_ready(const struct incident *incident)
{
	const char *state = incident_state(incident);

	return strcmp(state, "complete") == 0 || strcmp(state, "incomplete") == 0;
}

const char *incident_sentence(const struct incident *incident)
{
	const char *text = json_get_text(incident->json, "finding"), *about = json_get_text(incident->json, "finding_about");

	if (!text || !about || strcmp(about, "trigger") != 0)
		text = json_get_text(incident->json, "cause");
	return text ? text : "";
}

int incident_write(const char *path, struct json_object *json, struct kymo_err *err)
{
	const char *text = json_object_to_json_string_ext(
		json, JSON_C_TO_STRING_PRETTY | JSON_C_TO_STRING_NOSLASHESCAPE);
	char file[INCIDENT_PATH_MAX], part[INCIDENT_PATH_MAX + 8];
	int fd, rc;

	if (!text)
		return err_no_memory(err);
	if ((size_t)snprintf(file, sizeof file, "%s/incident.json", path) >= sizeof file)
		return err_set(err, KYMO_EXIT_FAILED, "the path of the incident is too long");
	(void)snprintf(part, sizeof part, "%s.part", file);
	fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
	rc = fd < 0 ? -errno : write_all(fd, text, strlen(text));
	if (rc == 0)
		rc = write_all(fd, "\n", 1);
	if (rc == 0 && fsync(fd) < 0)	/* it survives a power failure, whole or not at all */
		rc = -errno;
	if (fd >= 0 && close(fd) < 0 && rc == 0)
		rc = -errno;
	if (rc == 0 && rename(part, file) < 0)
		rc = -errno;
	if (rc == 0)
		return 0;
	(void)unlink(part);
	return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s; free some space", file, strerror(-rc));
}

static void read_boot(char boot[64])
{
	FILE *file = file_stream("/proc/sys/kernel/random/boot_id");

	boot[0] = 0;
	if (file && fgets(boot, 64, file))
		boot[strcspn(boot, "\n")] = 0;
	if (file)
		(void)fclose(file);
}

int incident_create(const char *directory, char path[INCIDENT_PATH_MAX], struct kymo_err *err)
{
	const time_t now = time(NULL);
	struct json_object *json;
	char stamp[32], boot[64];
	struct tm tm;
	int rc = -1;

	(void)localtime_r(&now, &tm);
	(void)strftime(stamp, sizeof stamp, "%Y%m%d-%H%M%S", &tm);
	for (unsigned i = 1; rc < 0 && i < NAMES_TRIED; i++) {
		const int length = i == 1 ? snprintf(path, INCIDENT_PATH_MAX, "%s/%s", directory, stamp)
					  : snprintf(path, INCIDENT_PATH_MAX, "%s/%s-%u", directory, stamp, i);

		if (length < 0 || length >= INCIDENT_PATH_MAX)
			return err_set(err, KYMO_EXIT_FAILED, "the path of the incident is too long");
		make_parents(path);
		rc = mkdir(path, 0777);
		if (rc < 0 && errno != EEXIST)
			break;
	}
	if (rc < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create %s: %s; choose another place with -o DIR", path, strerror(errno));
	json = json_object_new_object();
	read_boot(boot);
	json_object_object_add(json, "state", json_object_new_string("writing"));
	json_object_object_add(json, "recorder", json_object_new_int(getpid()));
	json_object_object_add(json, "boot", json_object_new_string(boot));
	rc = incident_write(path, json, err);
	json_object_put(json);
	return rc;
}

/* ---- all ---- */

static int by_name(const void *a, const void *b)
{
	const struct incident *x = a, *y = b;
	const int rc = strncmp(x->name, y->name, 15);

	return rc ? rc : strtol(x->name + 15, NULL, 10) < strtol(y->name + 15, NULL, 10) ? 1 : -1;	/* "-2", "-10" */
}

int incidents_read(const char *directory, struct incidents *incidents, struct kymo_err *err)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;

	*incidents = (struct incidents){ 0 };
	if (!dir && errno == ENOENT)
		return 0;
	if (!dir)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", directory, strerror(errno));
	while ((entry = readdir(dir))) {
		char path[INCIDENT_PATH_MAX];
		struct incident *incident;

		if (!is_name(entry->d_name) ||
		    (size_t)snprintf(path, sizeof path, "%s/%s", directory, entry->d_name) >= sizeof path)
			continue;
		if (!ARRAY_ROOM(incidents->item, incidents->count, incidents->room)) {
			(void)closedir(dir);
			return err_no_memory(err);
		}
		incident = &incidents->item[incidents->count++];
		*incident = (struct incident){ .json = read_json(path), .path = strdup(path) };
		if (!incident->path) {
			(void)closedir(dir);
			return err_no_memory(err);
		}
		(void)snprintf(incident->name, sizeof incident->name, "%s", entry->d_name);
		bytes_found = 0;
		(void)nftw(path, add_bytes, FILES_OPEN, FTW_PHYS);
		incident->bytes = bytes_found;
		incidents->bytes += bytes_found;
	}
	(void)closedir(dir);
	if (incidents->count)
		qsort(incidents->item, incidents->count, sizeof *incidents->item, by_name);
	return 0;
}

void incidents_free(struct incidents *incidents)
{
	for (unsigned i = 0; i < incidents->count; i++) {
		json_object_put(incidents->item[i].json);
		free(incidents->item[i].path);
	}
	free(incidents->item);
	*incidents = (struct incidents){ 0 };
}

struct incident *incidents_find(const struct incidents *incidents, const char *name)
{
	for (unsigned i = 0; i < incidents->count; i++)
		if (strcmp(incidents->item[i].name, name) == 0)
			return &incidents->item[i];
	return NULL;
}

static bool is_being_written(const struct incident *incident)
{
	const char *boot = json_get_text(incident->json, "boot");
	const pid_t recorder = (pid_t)json_get_u64(incident->json, "recorder");
	char now[64];

	read_boot(now);
	return strcmp(incident_state(incident), "writing") == 0 && recorder > 0 && boot && strcmp(boot, now) == 0 &&
	       (kill(recorder, 0) == 0 || errno == EPERM);
}

unsigned incidents_prune(const char *directory, uint64_t count, uint64_t bytes)
{
	struct incidents incidents;
	uint64_t left, size;
	unsigned removed = 0;
	struct kymo_err err;

	if (incidents_read(directory, &incidents, &err) < 0) {
		incidents_free(&incidents);
		return 0;
	}
	left = incidents.count;
	size = incidents.bytes;
	for (unsigned i = 0; i + 1 < incidents.count && (left > count || size > bytes); i++) {
		const int hold = incident_hold(incidents.item[i].path);
		const bool held = hold < 0 && errno == EBUSY;
		bool gone = false;

		if (!held && !is_being_written(&incidents.item[i]))
			gone = incident_remove(incidents.item[i].path) == 0;
		incident_let_go(hold);
		if (!gone)
			continue;
		left--;
		size -= incidents.item[i].bytes;
		removed++;
	}
	incidents_free(&incidents);
	return removed;
}

unsigned incidents_recover(const char *directory)
{
	struct incidents incidents;
	unsigned written = 0;
	struct kymo_err err;

	if (incidents_read(directory, &incidents, &err) < 0)
		incidents.count = 0;
	for (unsigned i = 0; i < incidents.count; i++) {
		struct incident *incident = &incidents.item[i];
		char trace[INCIDENT_PATH_MAX + 32];
		const char *state = incident_state(incident);

		(void)snprintf(trace, sizeof trace, "%s/trace/kymo.json", incident->path);
		if ((strcmp(state, "writing") == 0 && !is_being_written(incident)) || strcmp(state, "?") == 0) {
			state = access(trace, R_OK) == 0 ? "written" : "incomplete";
			json_object_object_add(incident->json, "state", json_object_new_string(state));
			(void)incident_write(incident->path, incident->json, &err);
		}
		written += strcmp(state, "written") == 0;
	}
	incidents_free(&incidents);
	return written;
}
