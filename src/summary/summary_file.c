/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a summary: JSON compressed as gzip does it, read whole, and replaced when all is
 * written. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>

#include "base/array.h"
#include "base/file.h"
#include "base/io.h"
#include "summary/summary_file.h"
#include "summary/summary_internal.h"

#define BYTES_MAX (256u << 20) /* of the JSON */

static const char magic[] = "{\"kymo_summary\":";

/* A gzip file, or what is inside one. A pipe or a device is none. */
static gzFile open_file(const char *path)
{
	int fd = file_open(path);
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "rb");

	if (fd < 0)
		errno = -fd;
	return file;
}

bool summary_is_file(const char *path)
{
	char begin[sizeof(magic) - 1];
	gzFile file = open_file(path);
	bool is_one;

	if (!file)
		return false;
	is_one = gzread(file, begin, sizeof(begin)) == (int)sizeof(begin) &&
		 memcmp(begin, magic, sizeof(begin)) == 0;
	(void)gzclose(file);
	return is_one;
}

int summary_file_load(const char *path, char **text, struct kymo_err *err)
{
	gzFile file = open_file(path);
	size_t size = 0, room = 0;
	int got = 1;

	*text = NULL;
	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, file_why(-errno));
	while (got > 0 && size < BYTES_MAX) {
		if (!ARRAY_FIT(*text, size + 65537, room))
			break;
		got = gzread(file, *text + size, 65536);
		size += got > 0 ? (size_t)got : 0;
	}
	(void)gzclose(file);
	if (!got && *text) {
		(*text)[size] = '\0';
		return 0;
	}
	free(*text);
	*text = NULL;
	return err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path,
		       got < 0 ? "the file is damaged or incomplete" : "it is too large");
}

static int unwritable(const char *path, int error, struct kymo_err *err)
{
	return err_set(err, KYMO_EXIT_FAILED, "cannot write %s: %s", path,
		       error ? strerror(error) : "the disk may be full");
}

int summary_file_put(const char *path, const struct json_text *json, struct kymo_err *err)
{
	struct new_file made;
	int fd = new_file_open(&made, path), error;
	gzFile file = fd < 0 ? NULL : gzdopen(fd, "wb9");
	bool failed;

	if (!file) {
		error = fd < 0 ? -fd : ENOMEM;
		if (fd >= 0) {
			(void)close(fd);
			(void)new_file_close(&made, false);
		}
		return unwritable(path, error, err);
	}
	errno = 0;
	failed = gzwrite(file, json->text, (unsigned)json->size) != (int)json->size;
	failed |= gzclose(file) != Z_OK;
	error = errno;
	if (failed) {
		(void)new_file_close(&made, false);
		return unwritable(path, error, err);
	}
	error = new_file_close(&made, true);
	return error ? unwritable(path, -error, err) : 0;
}
