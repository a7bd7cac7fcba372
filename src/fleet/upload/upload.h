/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Incidents go to a bucket (S3) or to a directory, by hand or by a thread of kymo serve; their
 * incident.json also to a webhook, by another thread:
 *
 *   TO/robot=r2d2/date=2026-11-24/20261124-031244/trace/...  page.html  summary  why.json
 *                                                 incident.json   the last one: all is there
 *
 * An incident has a mark (incident.h) of each place that has it, so it goes there once. One that
 * failed is sent again, by the same process from the file on that failed. Only regular files are
 * sent; no symbolic link is followed.
 *
 *   upload_begin(&upload, &options, &err);    of kymo serve: a thread looks for incidents
 *   upload_end(upload);
 *
 *   upload_place_open(&place, ...);           by hand
 *   upload_incident(place, incident, &report);
 *   upload_place_close(place);
 *
 * Context of all functions: allocate; block as the disk does. A place belongs to one thread;
 * upload_incident() blocks for the network.
 */
#ifndef KYMO_FLEET_UPLOAD_H
#define KYMO_FLEET_UPLOAD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "config/config.h"
#include "incident/incident.h"

/* ---- by hand ---- */

struct upload_place;

/**
 * upload_place_open() - the place that upload.to of @config names, and its credentials
 * @stop: what is under way ends soon after it becomes true; NULL: never
 *
 * Return: 0; -1 with @err. @config and @stop must stay valid.
 */
int upload_place_open(struct upload_place **place, const struct config *config,
		      const atomic_bool *stop, struct kymo_err *err);
void upload_place_close(struct upload_place *place);

/** upload_check() - would upload_place_open() accept @config, apart from variables with the access
 * key? @key: of kymo.yaml that an error is about. Return: 0; -1 with @err. */
int upload_check(const struct config *config, const char **key, struct kymo_err *err);

/**
 * upload_webhook_open() - the webhook of @config, to which upload_incident() posts incident.json
 *
 * Return: 0, with *@place NULL if neither webhook.url nor webhook.url-file is set; -1 with @err.
 */
int upload_webhook_open(struct upload_place **place, const struct config *config,
			const atomic_bool *stop, struct kymo_err *err);

/** upload_webhook_check() - the same as upload_check(), of the webhook. */
int upload_webhook_check(const struct config *config, const char **key, struct kymo_err *err);

/** upload_place_name() - as marks have it: upload.to without a slash at its end. */
const char *upload_place_name(const struct upload_place *place);

enum upload_result {
	UPLOAD_SENT,
	UPLOAD_BUSY,  /* another process writes or uploads it */
	UPLOAD_GONE,  /* it was removed meanwhile */
	UPLOAD_AGAIN, /* the place failed, and may work later */
	UPLOAD_WRONG, /* the place refuses everything until somebody changes something */
	UPLOAD_NEVER, /* this incident cannot be sent, others can */
};

#define UPLOAD_ADDRESS_MAX 2048u

struct upload_report {
	char to[UPLOAD_ADDRESS_MAX]; /* where the incident is then */
	uint64_t bytes;              /* that were sent by this call */
	unsigned left_out;           /* files whose names are too long for the place */
	char first[256];             /* the first of them */
	struct kymo_err err;         /* unless it was sent */
};

/** upload_incident() - send it, and mark it. */
enum upload_result upload_incident(struct upload_place *place, const struct incident *incident,
				   struct upload_report *report);

/* ---- by a thread ---- */

struct upload;

struct upload_options {
	const struct config *config; /* must stay valid */
	const char *incidents;       /* directory; NULL: none are uploaded */
	bool webhook;                /* to the webhook, rather than to upload.to */
	/* A sentence for people: what fails, and that it works again. Called by the thread. */
	void (*say)(void *context, const char *text);
	void *context;
};

/** upload_begin() - Return: 0, with *@upload NULL if the place is not set; -1 with @err. */
int upload_begin(struct upload **upload, const struct upload_options *options,
		 struct kymo_err *err);

/** upload_end() - no request goes on for longer than a second. NULL is fine. */
void upload_end(struct upload *upload);

struct upload_counts {
	uint64_t sent, refused, removed; /* incidents; removed before they were sent */
	uint64_t waiting;
	uint64_t sent_bytes;
	uint64_t failures; /* attempts to send an incident */
	int64_t last_ns;   /* epoch, of the latest success; 0: none */
};

/** upload_counts() - Return: false: nothing is uploaded. */
bool upload_counts(struct upload *upload, struct upload_counts *counts);

#endif
