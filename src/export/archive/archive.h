/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Several traces as one archive (.tar) of Perfetto files, with a manifest that names their hosts.
 *
 *   archive_create(&archive, paths, count, &err);
 *   archive_begin(archive, fd, &err);
 *   for each trace:
 *       archive_member_begin(archive, i, &member, &err);
 *       ... write the trace to member.fd, with member.machine and member.offset_ns ...
 *       archive_member_end(archive, &err);
 *   archive_end(archive, &err);
 *   archive_free(archive);
 *
 * Each host has a number of its own, and all files have the clock of the host that booted first. So
 * readers that know nothing of the manifest keep hosts apart and aligned, too.
 *
 * Context: of all functions: allocate and block; one thread.
 */
#ifndef KYMO_EXPORT_ARCHIVE_H
#define KYMO_EXPORT_ARCHIVE_H

#include <stdint.h>

#include "base/err.h"

struct archive;

/* Where a trace goes. */
struct archive_member {
	const char *name;		/* of the trace in the archive */
	const char *file;		/* the same with its suffix */
	int fd;				/* of the archive */
	uint32_t machine;		/* number of the trace's first host */
	int64_t offset_ns;		/* epoch minus the clock of all files */
};

/** archive_create() - open each trace once, for its hosts and clocks. Return: 0; -1 with @err. */
int archive_create(struct archive **archive, const char *const *path, unsigned count,
		   struct kymo_err *err);
void archive_free(struct archive *archive);

/** archive_begin() - write the manifest. @fd: a file that can be written again, the caller's.
 * Return: 0; -1 with @err. */
int archive_begin(struct archive *archive, int fd, struct kymo_err *err);

/** archive_member_begin() - begin the file of the trace with number @index. Return: 0; -1 with
 * @err. */
int archive_member_begin(struct archive *archive, unsigned index, struct archive_member *member,
			 struct kymo_err *err);
int archive_member_end(struct archive *archive, struct kymo_err *err);

/** archive_end() - after the last member. Return: 0; -1 with @err. */
int archive_end(struct archive *archive, struct kymo_err *err);

#endif
