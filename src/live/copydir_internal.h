/* SPDX-License-Identifier: Apache-2.0 */
/* The directory of a viewer: copydir.c writes its files, copydir_names.c names them. */
#ifndef KYMO_LIVE_COPYDIR_INTERNAL_H
#define KYMO_LIVE_COPYDIR_INTERNAL_H

#include "live/copydir.h"
#include "relay/store/store.h"

#define COPYDIR_MARKS	16u		/* with more, the distance between marks grows */

struct copydir_place {
	uint64_t offset, end;
};

struct copydir_stream {
	struct copydir_stream *next;
	struct store_file *file;
	uint64_t size;			/* of complete packets */
	bool partial;			/* followed by a part of a packet */
	/* positions in the file that are not freed yet */
	struct copydir_place mark[COPYDIR_MARKS];
	unsigned marks;
	uint64_t marked;		/* offset of the last mark */
};

struct copydir_trace {
	struct copydir_trace *next;
	struct copydir_stream *streams;
	struct store_file *metadata;
	uint64_t size;			/* of the metadata */
	char *path;			/* below the root */
	char *whole;			/* the same, with the root */
};

struct copydir {
	struct store store;
	struct copydir_trace *traces;
	char *path;
	bool own;			/* a temporary directory, to be removed */
	bool news;
	bool failed;
	char why[1024];
};

/* The path of a new trace, below the root. Return: to be freed; NULL: no memory. */
char *copydir_name_trace(const struct copydir *copydir, const char *from);
/* The path of a new stream of @trace. */
void copydir_name_stream(const struct copydir_trace *trace, const char *channel,
			 char out[2 * STORE_PATH_MAX]);

#endif
