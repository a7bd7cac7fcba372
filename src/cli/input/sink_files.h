/* SPDX-License-Identifier: Apache-2.0 */
/* The options that say how a trace directory is kept: in chunks, bounded, compressed. */
#ifndef KYMO_CLI_SINK_FILES_H
#define KYMO_CLI_SINK_FILES_H

#include "cli/common.h"
#include "recorder/session/session.h"

struct sink_wishes {
	uint64_t rotate_size, max_size;
	int64_t rotate_time;
	bool compress;
};

/* Rows; @member of the verb's options struct @type is a struct sink_wishes. */
#define SINK_FILES_OPTS(type, member) \
	{ "rotate-size", 0, OPT_SIZE, offsetof(type, member.rotate_size), "SIZE", \
	  "begin a new chunk in archives/ when the present one has so many bytes (64M, 1G)", NULL }, \
	{ "rotate-time", 0, OPT_TIME, offsetof(type, member.rotate_time), "TIME", \
	  "begin a new chunk when the present one is so old (10min, 1h)", NULL }, \
	{ "max-size", 0, OPT_SIZE, offsetof(type, member.max_size), "SIZE", \
	  "remove the oldest complete chunks to keep all of it below SIZE; alone it makes chunks of an eighth", NULL }, \
	{ "compress", 0, OPT_FLAG, offsetof(type, member.compress), NULL, \
	  "compress chunks when they are complete, without chunks all of it at the end", NULL }

/** sink_files_read() - from options to @files. Return: 0; -1 with @err for what cannot go together. */
int sink_files_read(const struct sink_wishes *wishes, struct sink_files *files, struct kymo_err *err);

/** sink_files_any() - is any of the options given? */
bool sink_files_any(const struct sink_wishes *wishes);

#endif
