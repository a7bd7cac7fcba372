/* SPDX-License-Identifier: Apache-2.0 */
/* A place to upload to, for the files of this room. */
#ifndef KYMO_FLEET_UPLOAD_INTERNAL_H
#define KYMO_FLEET_UPLOAD_INTERNAL_H

#include "fleet/push/post.h"
#include "fleet/upload/upload.h"

#define UPLOAD_PLACE_MAX 1024u /* bytes of its name */
#define UPLOAD_KEY_MAX 1024u   /* bytes of the name of an object, as S3 has it */
#define UPLOAD_SECRET_MAX 256u
#define UPLOAD_SESSION_MAX 8192u

struct upload_place {
	const struct config *config;
	char name[UPLOAD_PLACE_MAX];
	bool is_bucket, is_webhook;
	const char *path; /* in @name: of the directory; of the bucket, behind the host */
	char base[3 * UPLOAD_PLACE_MAX]; /* of a bucket: its address, encoded */
	char signature[128], user[UPLOAD_SECRET_MAX], secret[UPLOAD_SECRET_MAX],
		session[UPLOAD_SESSION_MAX];
	struct post_options options;
	struct post *post;
	atomic_bool unset; /* the @stop of one that cannot be stopped */
	/* The incident that is under way: how many files it has, and how many of them arrived. */
	char incident[INCIDENT_NAME_MAX];
	unsigned files, done;
};

struct upload_file {
	const char *key;  /* below the place */
	const char *name; /* for messages */
	int fd;
	uint64_t size;
};

/* The access key, from the environment or the file. Return: 0, or -1 with @err. */
int upload_credentials(struct upload_place *place, struct kymo_err *err);

/* @text as a part of an address: all but letters, digits, "-._~/" becomes %XX. Return: false: @size
 * is not enough. */
bool upload_encode(char *out, size_t size, const char *text);

/* Send a file. UPLOAD_GONE: its name is too long for the place. @err: set unless it was sent. */
enum upload_result upload_to_bucket(struct upload_place *place, const struct upload_file *file,
				    struct kymo_err *err);
enum upload_result upload_to_directory(struct upload_place *place, const struct upload_file *file,
				       struct kymo_err *err);

/* POST @incident to a webhook; sets the report's address, bytes and error. */
enum upload_result upload_to_webhook(struct upload_place *place, const struct incident *incident,
				     struct upload_report *report);

/* upload_older.c: a webhook gets no incidents from before it was set. */
struct upload_older {
	bool known;     /* which ones these are */
	bool is_new;    /* the directory of incidents: it did not exist */
	unsigned count; /* that were left out just now */
};

/* Mark what is older, once for each webhook. Return: 0; -1 with @err. */
int upload_leave_out_older(struct upload_older *older, const char *directory, const char *webhook,
			   const struct incidents *incidents, struct kymo_err *err);

/* Was the incident at @path marked as older than @webhook? */
bool upload_is_older(const char *path, const char *webhook);

#endif
