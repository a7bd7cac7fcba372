/* SPDX-License-Identifier: Apache-2.0 */
/* Names of traces and streams in a directory, from names that came from the network: safe, and no
 * two the same. */
#include <stdio.h>
#include <string.h>

#include "live/copydir_internal.h"

/* A safe relative path for @from, which comes from the network; if it is unsafe, one from
 * @otherwise. */
static void safe_path(char out[STORE_PATH_MAX], const char *from, const char *otherwise)
{
	size_t used = 0;

	for (; *from && used + 1 < STORE_PATH_MAX; from++)
		if (*from != '/' || (used && out[used - 1] != '/'))
			out[used++] = *from;
	while (used && out[used - 1] == '/')
		used--;
	out[used] = 0;
	if (!store_path_is_safe(out) || out[0] == '.')
		(void)snprintf(out, STORE_PATH_MAX, "%s", otherwise);
}

static bool path_is_taken(const struct copydir *copydir, const char *path)
{
	for (const struct copydir_trace *trace = copydir->traces; trace; trace = trace->next)
		if (!strcmp(trace->path, path))
			return true;
	return false;
}

char *copydir_name_trace(const struct copydir *copydir, const char *from)
{
	char path[STORE_PATH_MAX], numbered[STORE_PATH_MAX + 16];
	unsigned number = 1;

	safe_path(path, from, "trace");
	(void)snprintf(numbered, sizeof(numbered), "%s", path);
	while (path_is_taken(copydir, numbered))
		(void)snprintf(numbered, sizeof(numbered), "%s-%u", path, ++number);
	return strdup(numbered);
}

static bool name_is_taken(const struct copydir_trace *trace, const char *path)
{
	for (const struct copydir_stream *stream = trace->streams; stream; stream = stream->next)
		if (!strcmp(stream->file->path, path))
			return true;
	return false;
}

/* Names with a meaning in a trace directory. */
static bool name_is_special(const char *name)
{
	return strchr(name, '/') || !strcmp(name, "metadata") || !strcmp(name, "index") || !strcmp(name, "kymo.json");
}

void copydir_name_stream(const struct copydir_trace *trace, const char *channel,
			 char out[2 * STORE_PATH_MAX])
{
	char name[STORE_PATH_MAX];
	unsigned number = 1;

	safe_path(name, channel, "stream");
	if (name_is_special(name))
		(void)snprintf(name, sizeof(name), "stream");
	(void)snprintf(out, 2 * STORE_PATH_MAX, "%s/%s", trace->path, name);
	while (name_is_taken(trace, out))
		(void)snprintf(out, 2 * STORE_PATH_MAX, "%s/%s-%u", trace->path, name, ++number);
}
