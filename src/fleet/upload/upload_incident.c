/* SPDX-License-Identifier: Apache-2.0 */
/* An incident with all its files. Their names are not trusted: commands of users write them, and
 * programs that were traced. */
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "base/array.h"
#include "base/json_get.h"
#include "base/text.h"
#include "fleet/upload/upload_internal.h"

#define LAST "incident.json"
#define KEY_ROOM (4 * PATH_MAX) /* each byte may become four */

/* Paths below the incident's directory, in order; LAST is not one of them. */
struct names {
	char **item;
	unsigned count, room;
};

/* ---- which files ---- */

static void free_names(struct names *names)
{
	for (unsigned i = 0; i < names->count; i++)
		free(names->item[i]);
	free(names->item);
}

static int by_bytes(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_name(struct names *names, const char *name, struct kymo_err *err)
{
	if (!strcmp(name, LAST) || !strcmp(name, LAST ".part") || !strcmp(name, INCIDENT_UPLOADED))
		return 0;
	if (!ARRAY_ROOM(names->item, names->count, names->room))
		return err_no_memory(err);
	names->item[names->count] = strdup(name);
	return names->item[names->count] && ++names->count ? 0 : err_no_memory(err);
}

static int list_names(const char *directory, struct names *names, struct kymo_err *err)
{
	char *roots[] = { (char *)directory, NULL };
	const size_t root = strlen(directory) + 1;
	FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR, NULL);
	const FTSENT *entry;
	int status = 0;

	if (!tree)
		return err_no_memory(err);
	while (!status && (entry = fts_read(tree))) {
		if (entry->fts_info == FTS_DNR || entry->fts_info == FTS_ERR)
			status = err_set(err, KYMO_EXIT_FAILED, "cannot read %.600s: %s",
					 entry->fts_path, strerror(entry->fts_errno));
		else if (entry->fts_info == FTS_F)
			status = add_name(names, entry->fts_path + root, err);
	}
	(void)fts_close(tree);
	if (names->count)
		qsort(names->item, names->count, sizeof(*names->item), by_bytes);
	return status;
}

/* ---- what they are called there ---- */

/* UTF-8 that every program prints; other bytes, and backslashes, become \xNN: different names stay
 * different. */
static void put_clean(char *out, const char *name)
{
	static const char digits[] = "0123456789abcdef";
	size_t left = strlen(name);

	while (left) {
		size_t length;
		uint32_t code;
		const bool plain =
			text_step(name, left, &length, &code) == TEXT_PLAIN && *name != '\\';

		for (size_t i = 0; i < length; i++) {
			const unsigned char c = (unsigned char)name[i];

			if (plain) {
				*out++ = name[i];
				continue;
			}
			*out++ = '\\';
			*out++ = 'x';
			*out++ = digits[c >> 4];
			*out++ = digits[c & 15];
		}
		name += length;
		left -= length;
	}
	*out = 0;
}

/* The day of UTC on which it happened; of one that does not say it, the day in its name. */
static void put_date(char date[16], const struct incident *incident)
{
	const uint64_t ns = json_get_u64(incident->json, "at_ns");
	const time_t at = (time_t)(ns / 1000000000);
	struct tm tm;

	if (ns && ns < INT64_MAX && gmtime_r(&at, &tm))
		(void)strftime(date, 16, "%Y-%m-%d", &tm);
	else
		(void)snprintf(date, 16, "%.4s-%.2s-%.2s", incident->name, incident->name + 4,
			       incident->name + 6);
}

static void put_prefix(const struct upload_place *place, const struct incident *incident, char *out,
		       size_t size)
{
	const char *robot = json_get_text(incident->json, "robot");
	char word[256], date[16];

	text_path_word(word, sizeof(word), robot ? robot : place->config->robot);
	put_date(date, incident);
	snprintf(out, size, "robot=%s/date=%s/%s/", word, date, incident->name);
}

/* ---- sending ---- */

struct sending {
	struct upload_place *place;
	const struct incident *incident;
	struct upload_report *report;
	char key[KEY_ROOM + 512];
	size_t prefix; /* bytes of @key */
};

static void leave_out(struct sending *s, const char *name)
{
	if (!s->report->left_out++)
		put_clean(s->report->first,
			  strlen(name) * 4 < sizeof(s->report->first) ? name : "(a long name)");
}

static enum upload_result send_open(struct sending *s, const char *name, const char *path, int fd,
				    uint64_t size)
{
	const struct upload_file file = { s->key, path, fd, size };
	enum upload_result result;

	put_clean(s->key + s->prefix, name);
	result = s->place->is_bucket ? upload_to_bucket(s->place, &file, &s->report->err)
				     : upload_to_directory(s->place, &file, &s->report->err);
	if (result == UPLOAD_SENT)
		s->report->bytes += size;
	return result;
}

/* A file that is gone is not missed, as long as the incident exists; LAST is. */
static enum upload_result send_name(struct sending *s, const char *name)
{
	char path[INCIDENT_PATH_MAX + PATH_MAX];
	enum upload_result result = UPLOAD_NEVER;
	struct stat status;
	int fd;

	(void)snprintf(path, sizeof(path), "%s/%s", s->incident->path, name);
	fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);
	if (fd < 0) {
		(void)err_set(&s->report->err, KYMO_EXIT_FAILED, "cannot read %.800s: %s", path,
			      strerror(errno));
		if (errno == ENAMETOOLONG)
			leave_out(s, name);
		else if (errno != ENOENT && errno != ELOOP)
			return UPLOAD_NEVER;
		return access(s->incident->path, F_OK) || !strcmp(name, LAST) ? UPLOAD_GONE
									      : UPLOAD_SENT;
	}
	if (fstat(fd, &status) || !S_ISREG(status.st_mode)) {
		(void)err_set(&s->report->err, KYMO_EXIT_FAILED, "%.800s: not a regular file",
			      path);
		result = strcmp(name, LAST) ? UPLOAD_SENT : UPLOAD_NEVER;
	} else {
		result = send_open(s, name, path, fd, (uint64_t)status.st_size);
		if (result == UPLOAD_GONE) {
			leave_out(s, name);
			result = strcmp(name, LAST) ? UPLOAD_SENT : UPLOAD_NEVER;
		}
	}
	(void)close(fd);
	return result;
}

/* What arrived before a failure is not sent again, if it is still the same incident. */
static enum upload_result send_all(struct sending *s, const struct names *names)
{
	struct upload_place *place = s->place;
	enum upload_result result = UPLOAD_SENT;

	if (strcmp(place->incident, s->incident->name) != 0 || place->files != names->count)
		place->done = 0;
	(void)snprintf(place->incident, sizeof(place->incident), "%s", s->incident->name);
	place->files = names->count;
	while (place->done < names->count) {
		result = send_name(s, names->item[place->done]);
		if (result != UPLOAD_SENT)
			return result;
		place->done++;
	}
	result = send_name(s, LAST);
	if (result == UPLOAD_SENT)
		place->done = 0;
	return result;
}

static enum upload_result send_held(struct sending *s)
{
	struct upload_place *place = s->place;
	struct names names = { 0 };
	enum upload_result result = UPLOAD_NEVER;

	if (place->is_webhook)
		return upload_to_webhook(place, s->incident, s->report);
	put_prefix(place, s->incident, s->key, sizeof(s->key));
	s->prefix = strlen(s->key);
	(void)snprintf(s->report->to, sizeof(s->report->to), "%s/%.*s", place->name,
		       (int)s->prefix - 1, s->key);
	if (place->is_bucket && upload_credentials(place, &s->report->err))
		result = UPLOAD_WRONG;
	else if (!list_names(s->incident->path, &names, &s->report->err))
		result = send_all(s, &names);
	free_names(&names);
	return result;
}

enum upload_result upload_incident(struct upload_place *place, const struct incident *incident,
				   struct upload_report *report)
{
	struct sending *s = calloc(1, sizeof(*s));
	enum upload_result result = UPLOAD_BUSY;
	int hold;

	*report = (struct upload_report){ 0 };
	(void)err_set(&report->err, KYMO_EXIT_FAILED,
		      "another program writes or uploads it; try again later");
	if (!s) {
		(void)err_no_memory(&report->err);
		return UPLOAD_AGAIN;
	}
	*s = (struct sending){ .place = place, .incident = incident, .report = report };
	hold = incident_hold(incident->path); /* the quota does not remove it meanwhile */
	if (hold >= 0) {
		result = send_held(s);
	} else if (errno != EBUSY) {
		result = errno == ENOENT ? UPLOAD_GONE : UPLOAD_NEVER;
		(void)err_set(&report->err, KYMO_EXIT_FAILED, "cannot open %.800s: %s",
			      incident->path, strerror(errno));
	}
	if (result == UPLOAD_SENT &&
	    incident_set_uploaded(incident->path, place->name, &report->err)) {
		(void)err_wrap(&report->err, "it was sent, but will be again");
		result = UPLOAD_NEVER;
	}
	incident_let_go(hold);
	free(s);
	return result;
}
