/* SPDX-License-Identifier: Apache-2.0 */
/* A file of a spool: see backlog.h. What is read is not trusted. */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zstd.h>

#include "base/file.h"
#include "base/io.h"
#include "base/json_get.h"
#include "base/json_text.h"
#include "fleet/push/backlog_internal.h"
#include "summary/summary_file.h"

#define FILE_MAX (64u << 20)
#define TEXT_MAX (256u << 20) /* of the JSON */
#define LEVEL 3

int backlog_lock(struct backlog *spool, struct kymo_err *err)
{
	struct flock all = { .l_type = F_WRLCK, .l_whence = SEEK_SET };
	char path[PATH_MAX];

	snprintf(path, sizeof(path), "%s/lock", spool->directory);
	spool->lock_fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600);
	if (spool->lock_fd < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write into the spool %s: %s",
			       spool->directory, strerror(errno));
	/* Not flock(): what the process forks would keep it. */
	if (fcntl(spool->lock_fd, F_SETLK, &all))
		return err_set(err, KYMO_EXIT_FAILED,
			       "the spool %s belongs to another kymo serve that runs; set "
			       "spool.directory in kymo.yaml",
			       spool->directory);
	return 0;
}

/* ---- write ---- */

static char *put_text(const struct window_source *of, const struct summary *summary, size_t *size)
{
	struct json_text json = { .one_line = true };
	char *body;
	size_t length;

	json_text_open(&json, NULL, '{');
	json_text_string(&json, "robot", of->robot);
	json_text_string(&json, "boot", of->boot);
	json_text_string(&json, "software", of->software);
	json_text_string(&json, "labels", of->labels);
	json_text_close(&json, '}');
	json_text_raw(&json, "\n", 1);
	body = summary_put_exact(summary, &length);
	if (body)
		json_text_raw(&json, body, length);
	if (!body || json.failed) {
		free(json.text);
		json.text = NULL;
	}
	free(body);
	*size = json.size;
	return json.text;
}

/* Return: 0, or -errno. */
static int put_file(const char *path, const void *data, size_t size, bool aside)
{
	char next[PATH_MAX + 8];
	int fd, status;

	snprintf(next, sizeof(next), "%s" BACKLOG_ASIDE, path);
	fd = open(next, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	if (fd < 0)
		return -errno;
	status = write_all(fd, data, size);
	if (!status && fdatasync(fd))
		status = -errno;
	if (close(fd) && !status)
		status = -errno;
	if (!status && !aside && rename(next, path))
		status = -errno;
	if (status)
		(void)unlink(next);
	return status;
}

int backlog_show(const struct backlog *spool, const struct backlog_item *item)
{
	char path[PATH_MAX], next[PATH_MAX + 8];

	snprintf(next, sizeof(next), "%s" BACKLOG_ASIDE, backlog_path(spool, item, path));
	return rename(next, path) ? -1 : 0;
}

int backlog_write(struct backlog *spool, struct backlog_item *item, const struct window_source *of,
		  const struct summary *summary, bool aside, struct kymo_err *err)
{
	size_t length, size, room;
	char path[PATH_MAX], *text = put_text(of, summary, &length);
	void *packed = NULL;
	int status = -ENOMEM;

	if (text) {
		room = ZSTD_compressBound(length);
		packed = malloc(room);
	}
	if (packed) {
		size = ZSTD_compress(packed, room, text, length, LEVEL);
		item->bytes = size;
		if (!ZSTD_isError(size))
			status = put_file(backlog_path(spool, item, path), packed, size, aside);
	}
	free(packed);
	free(text);
	if (!status)
		return 0;
	return err_set(err, KYMO_EXIT_FAILED, "cannot write into the spool %s: %s",
		       spool->directory, strerror(-status));
}

/* ---- read ---- */

/* Return: text with NUL behind it; NULL: it is damaged. */
static char *unpack(const void *packed, size_t size)
{
	const unsigned long long length = ZSTD_getFrameContentSize(packed, size);
	char *text;
	size_t got;

	if (length == ZSTD_CONTENTSIZE_ERROR || length == ZSTD_CONTENTSIZE_UNKNOWN ||
	    length > TEXT_MAX)
		return NULL;
	text = malloc((size_t)length + 1);
	if (!text)
		return NULL;
	got = ZSTD_decompress(text, (size_t)length, packed, size);
	if (ZSTD_isError(got) || got != length) {
		free(text);
		return NULL;
	}
	text[got] = 0;
	return text;
}

static void get_source(struct backlog_window *window, struct json_object *object)
{
	struct summary *summary = window->summary;

	window->of = (struct window_source){
		.robot = summary_text(summary, json_get_text(object, "robot")),
		.boot = summary_text(summary, json_get_text(object, "boot")),
		.software = summary_text(summary, json_get_text(object, "software")),
		.labels = summary_text(summary, json_get_text(object, "labels")),
	};
}

int backlog_read(const struct backlog *spool, const struct backlog_item *item,
	       struct backlog_window *window)
{
	char path[PATH_MAX], *packed, *text, *body;
	struct json_object *head;
	struct kymo_err unused;
	size_t size;

	*window = (struct backlog_window){ 0 };
	if (file_load(backlog_path(spool, item, path), FILE_MAX, &packed, &size, &unused))
		return -1;
	text = unpack(packed, size);
	free(packed);
	body = text ? strchr(text, '\n') : NULL;
	if (body) {
		*body++ = 0;
		window->summary = summary_get_exact(body);
	}
	if (window->summary) {
		head = json_tokener_parse(text);
		get_source(window, head);
		json_object_put(head);
	}
	free(text);
	return window->summary ? 0 : -1;
}

void backlog_unload(struct backlog_window *window)
{
	summary_free(window->summary);
	window->summary = NULL;
}

bool backlog_same(const struct window_source *a, const struct window_source *b)
{
	return !strcmp(a->robot, b->robot) && !strcmp(a->boot, b->boot) &&
	       !strcmp(a->software, b->software) && !strcmp(a->labels, b->labels);
}
