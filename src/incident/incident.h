/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incidents: a directory with a directory for each, named by its time, in which incident.json says
 * what happened.
 *
 *   incidents/20261124-031244/incident.json   trigger, value, process, finding, files, versions
 *                             trace/          the snapshot
 *                             page.html  summary
 *                             uploaded       where to, if it was
 *
 * The recorder creates one ("writing"), and says what fired when the snapshot is complete
 * ("written"). Later its finding and its page are added ("complete"). Where the recorder or the
 * machine ended before, it is "incomplete".
 *
 * Context of all functions: not thread-safe; allocate; block as the disk does.
 */
#ifndef KYMO_INCIDENT_H
#define KYMO_INCIDENT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

#define INCIDENT_NAME_MAX 64
#define INCIDENT_PATH_MAX 4096

struct json_object;

struct incident {
	char name[INCIDENT_NAME_MAX];
	char *path;			/* of its directory */
	struct json_object *json;	/* incident.json; an empty object if it cannot be read */
	uint64_t bytes;			/* of all its files */
};

struct incidents {
	struct incident *item;		/* oldest first */
	unsigned count, room;
	uint64_t bytes;
};

/** incidents_read() - those in @directory; none if it does not exist. Return: 0; -1 with @err. Free
 * @incidents also then. */
int incidents_read(const char *directory, struct incidents *incidents, struct kymo_err *err);
void incidents_free(struct incidents *incidents);

/** incidents_find() - the incident with this @name; NULL: there is none. */
struct incident *incidents_find(const struct incidents *incidents, const char *name);

/** incident_state() - "writing", "written", "complete", "incomplete"; "?": not known. */
const char *incident_state(const struct incident *incident);

/** incident_is_ready() - has it its finding and its page, or will it never have them? */
bool incident_is_ready(const struct incident *incident);

/** incident_sentence() - the finding, if it is about what fired; else what fired; "" */
const char *incident_sentence(const struct incident *incident);

/** incident_create() - a new one, "writing". @path: receives that of its directory. Return: 0; -1
 * with @err. */
int incident_create(const char *directory, char path[INCIDENT_PATH_MAX], struct kymo_err *err);

/** incident_write() - replace incident.json in @path at once. Return: 0; -1 with @err. */
int incident_write(const char *path, struct json_object *json, struct kymo_err *err);

/** incident_remove() - @path and all in it. Return: 0; -1 with errno. */
int incident_remove(const char *path);

/**
 * incident_hold() - nobody else holds @path, and incidents_prune() does not remove it, until
 * incident_let_go(); also not after the end of this process
 *
 * Return: a descriptor; -1 with errno, EBUSY: another process holds it. Context: does not wait.
 */
int incident_hold(const char *path);
void incident_let_go(int hold);

/*
 * Where an incident was uploaded to is written in it, a line for each place:
 *
 *   uploaded          2026-11-24T03:20:00Z s3+https://s3.example/robots
 */
#define INCIDENT_UPLOADED "uploaded"

/** incident_is_uploaded() - does @path say that it was uploaded to @place? */
bool incident_is_uploaded(const char *path, const char *place);

/** incident_set_uploaded() - say so. Return: 0; -1 with @err. */
int incident_set_uploaded(const char *path, const char *place, struct kymo_err *err);

/**
 * incidents_prune() - remove the oldest until at most @count with @bytes are left; never the
 * newest, nor one that is being written or that another process holds
 * Return: how many were removed.
 */
unsigned incidents_prune(const char *directory, uint64_t count, uint64_t bytes);

/**
 * incidents_recover() - what recorders left that do not run any more: with a trace it is "written",
 * else "incomplete"
 * Return: how many are "written" and lack their finding.
 */
unsigned incidents_recover(const char *directory);

#endif
