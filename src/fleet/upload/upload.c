/* SPDX-License-Identifier: Apache-2.0 */
/* The thread of kymo serve that looks for incidents and uploads them, the oldest first. */
#include "fleet/upload/upload.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/array.h"
#include "base/now.h"
#include "fleet/push/backoff.h"
#include "fleet/upload/upload_internal.h"

#define LOOK_MS 10000u

struct name {
	char text[INCIDENT_NAME_MAX];
};

struct name_list {
	struct name *item;
	unsigned count, room;
};

struct upload {
	struct upload_options options;
	struct upload_place *place;
	pthread_t thread;
	atomic_bool stop;
	struct name_list waiting; /* that the last look saw */
	struct name_list refused; /* that are not tried again */
	struct upload_older older;
	bool failing;
	pthread_mutex_t lock; /* of what follows */
	pthread_cond_t changed;
	struct upload_counts counts;
};

static void add_name(struct name_list *list, const char *name)
{
	if (ARRAY_ROOM(list->item, list->count, list->room))
		(void)snprintf(list->item[list->count++].text, INCIDENT_NAME_MAX, "%s", name);
}

static bool has_name(const struct name_list *list, const char *name)
{
	for (unsigned i = 0; i < list->count; i++)
		if (!strcmp(list->item[i].text, name))
			return true;
	return false;
}

static void say(const struct upload *upload, const char *name, const char *text)
{
	char line[1400];

	snprintf(line, sizeof(line), "%s: %s%s%s", upload->options.webhook ? "webhook" : "upload",
		 name, *name ? ": " : "", text);
	upload->options.say(upload->options.context, line);
}

/* ---- what waits ---- */

/* Those that waited, are gone, and were not sent, are lost: count them. */
static void list_waiting(struct upload *upload, const struct incidents *incidents)
{
	uint64_t removed = 0;

	for (unsigned i = 0; i < upload->waiting.count; i++)
		removed += !incidents_find(incidents, upload->waiting.item[i].text);
	upload->waiting.count = 0;
	for (unsigned i = 0; i < incidents->count; i++) {
		const struct incident *incident = &incidents->item[i];

		if (incident_is_ready(incident) && !has_name(&upload->refused, incident->name) &&
		    !(upload->options.webhook &&
		      upload_is_older(incident->path, upload_place_name(upload->place))) &&
		    !incident_is_uploaded(incident->path, upload_place_name(upload->place)))
			add_name(&upload->waiting, incident->name);
	}
	pthread_mutex_lock(&upload->lock);
	upload->counts.removed += removed;
	upload->counts.waiting = upload->waiting.count;
	pthread_mutex_unlock(&upload->lock);
}

static void no_more_waiting(struct upload *upload, const char *name)
{
	for (unsigned i = 0; i < upload->waiting.count; i++)
		if (!strcmp(upload->waiting.item[i].text, name))
			upload->waiting.item[i--] = upload->waiting.item[--upload->waiting.count];
}

/* ---- sending ---- */

static void count(struct upload *upload, enum upload_result result,
		  const struct upload_report *report)
{
	pthread_mutex_lock(&upload->lock);
	upload->counts.sent_bytes += report->bytes;
	upload->counts.sent += result == UPLOAD_SENT;
	upload->counts.refused += result == UPLOAD_NEVER;
	upload->counts.failures += result != UPLOAD_SENT;
	upload->counts.waiting = upload->waiting.count;
	if (result == UPLOAD_SENT)
		upload->counts.last_ns = clock_now_ns(CLOCK_REALTIME);
	pthread_mutex_unlock(&upload->lock);
}

/* Once when it begins to fail, and once when it works again. */
static void tell(struct upload *upload, const char *name, enum upload_result result,
		 const struct upload_report *report)
{
	char text[600];

	if (result == UPLOAD_NEVER) {
		say(upload, name, report->err.text);
	} else if (result != UPLOAD_SENT) {
		snprintf(text, sizeof(text), "%.500s; incidents wait", report->err.text);
		if (!upload->failing)
			say(upload, "", text);
		upload->failing = true;
	} else {
		if (upload->failing)
			say(upload, "", "incidents arrive again");
		upload->failing = false;
		snprintf(text, sizeof(text),
			 "left out %u files with names that are too long there; the first is %s",
			 report->left_out, report->first);
		if (report->left_out)
			say(upload, name, text);
	}
}

/* Return: false: try again later. */
static bool send_one(struct upload *upload, const struct incident *incident)
{
	struct upload_report report;
	const enum upload_result result = upload_incident(upload->place, incident, &report);

	if (result == UPLOAD_BUSY || result == UPLOAD_GONE)
		return true; /* the next look counts it */
	if (result != UPLOAD_SENT && atomic_load(&upload->stop))
		return false;
	if (result == UPLOAD_NEVER)
		add_name(&upload->refused, incident->name);
	if (result == UPLOAD_NEVER || result == UPLOAD_SENT)
		no_more_waiting(upload, incident->name);
	count(upload, result, &report);
	tell(upload, incident->name, result, &report);
	return result == UPLOAD_NEVER || result == UPLOAD_SENT;
}

/* Return: 0; -1 with @err. */
static int leave_out_older(struct upload *upload, const struct incidents *incidents,
			   struct kymo_err *err)
{
	char text[128];

	if (!upload->options.webhook)
		return 0;
	if (upload_leave_out_older(&upload->older, upload->options.incidents,
				   upload_place_name(upload->place), incidents, err))
		return -1;
	snprintf(text, sizeof(text), "gets incidents from now on; %u from before are not posted",
		 upload->older.count);
	if (upload->older.count)
		say(upload, "", text);
	upload->older.count = 0;
	return 0;
}

/* Return: false: it failed. */
static bool look(struct upload *upload)
{
	struct incidents incidents;
	struct kymo_err err;
	bool works = true;

	if (incidents_read(upload->options.incidents, &incidents, &err) ||
	    leave_out_older(upload, &incidents, &err)) {
		if (!upload->failing)
			say(upload, "", err.text);
		upload->failing = true;
		works = false;
	} else {
		list_waiting(upload, &incidents);
	}
	for (unsigned i = 0; works && i < incidents.count && !atomic_load(&upload->stop); i++)
		if (has_name(&upload->waiting, incidents.item[i].name))
			works = send_one(upload, &incidents.item[i]);
	incidents_free(&incidents);
	return works;
}

static void wait_ms(struct upload *upload, unsigned ms)
{
	struct timespec until;

	clock_gettime(CLOCK_MONOTONIC, &until);
	until.tv_sec += ms / 1000;
	until.tv_nsec += (long)(ms % 1000) * 1000000;
	until.tv_sec += until.tv_nsec / 1000000000;
	until.tv_nsec %= 1000000000;
	pthread_mutex_lock(&upload->lock);
	while (!atomic_load(&upload->stop) &&
	       !pthread_cond_timedwait(&upload->changed, &upload->lock, &until))
		;
	pthread_mutex_unlock(&upload->lock);
}

static void *work(void *context)
{
	struct upload *upload = context;
	unsigned failures = 0;

	while (!atomic_load(&upload->stop)) {
		failures = look(upload) ? 0 : failures + 1;
		wait_ms(upload, failures ? backoff_ms(failures) : LOOK_MS);
	}
	return NULL;
}

bool upload_counts(struct upload *upload, struct upload_counts *counts)
{
	if (!upload)
		return false;
	pthread_mutex_lock(&upload->lock);
	*counts = upload->counts;
	pthread_mutex_unlock(&upload->lock);
	return true;
}

/* ---- life cycle ---- */

/* Return: 0, with upload->place NULL if there is none; -1 with @err. */
static int open_place(struct upload *upload, struct kymo_err *err)
{
	const struct config *config = upload->options.config;

	if (upload->options.webhook)
		return upload_webhook_open(&upload->place, config, &upload->stop, err);
	return *config->upload.url ? upload_place_open(&upload->place, config, &upload->stop, err)
				   : 0;
}

static void free_upload(struct upload *upload)
{
	upload_place_close(upload->place);
	pthread_mutex_destroy(&upload->lock);
	pthread_cond_destroy(&upload->changed);
	free(upload->waiting.item);
	free(upload->refused.item);
	free(upload);
}

int upload_begin(struct upload **out, const struct upload_options *options, struct kymo_err *err)
{
	struct upload *upload;
	pthread_condattr_t monotonic;
	int status;

	*out = NULL;
	if (!options->incidents)
		return 0;
	upload = calloc(1, sizeof(*upload));
	if (!upload)
		return err_no_memory(err);
	upload->options = *options;
	pthread_mutex_init(&upload->lock, NULL);
	pthread_condattr_init(&monotonic);
	pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
	pthread_cond_init(&upload->changed, &monotonic);
	pthread_condattr_destroy(&monotonic);
	status = open_place(upload, err);
	if (status || !upload->place) {
		free_upload(upload);
		return status;
	}
	if (pthread_create(&upload->thread, NULL, work, upload)) {
		free_upload(upload);
		return err_no_memory(err);
	}
	*out = upload;
	return 0;
}

void upload_end(struct upload *upload)
{
	if (!upload)
		return;
	atomic_store(&upload->stop, true);
	pthread_mutex_lock(&upload->lock);
	pthread_cond_signal(&upload->changed);
	pthread_mutex_unlock(&upload->lock);
	(void)pthread_join(upload->thread, NULL);
	free_upload(upload);
}
