/* SPDX-License-Identifier: Apache-2.0 */
/* The kind of a file, as far as `kymo open` must know it: by its first bytes, not by its name. */
#ifndef KYMO_CLI_OPEN_KIND_H
#define KYMO_CLI_OPEN_KIND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum open_kind {
	OPEN_PERFETTO,		/* packets, deflated or not */
	OPEN_JSON,		/* Chrome's */
	OPEN_ARCHIVE,		/* tar or zip */
	OPEN_COMPRESSED,	/* gzip, of any of these */
	/* What the UI does not load. */
	OPEN_EMPTY,
	OPEN_CTF,		/* a stream or the metadata of a CTF trace */
	OPEN_SQLITE,
	OPEN_UNKNOWN,
};

/* So many bytes are enough, or fewer if the file is shorter. */
#define OPEN_HEAD_BYTES 512

/** open_kind() - of a file that begins with the @size bytes at @head. Context: wait-free. */
enum open_kind open_kind(const uint8_t *head, size_t size);

/** open_is_loadable() - by the UI. Context: wait-free. */
static inline bool open_is_loadable(enum open_kind kind)
{
	return kind <= OPEN_COMPRESSED;
}

/**
 * open_remedy() - the words after the name of a file: of which kind it is, and what to do instead.
 * Context: wait-free.
 */
const char *open_remedy(enum open_kind kind);

#endif
