/* SPDX-License-Identifier: Apache-2.0 */
/* The recordings below a directory, for `kymo ls` and `kymo rm`. */
#ifndef KYMO_CLI_LS_RECORDINGS_H
#define KYMO_CLI_LS_RECORDINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct recording {
	char *path;               /* of its directory */
	int64_t begin_ns, end_ns; /* epoch; 0: it has no events, or cannot be read */
	uint64_t events;          /* if @counted */
	uint64_t processes;       /* if @counted */
	uint64_t lost, lost_packets;
	uint64_t bytes; /* of the files with events */
	bool counted;   /* the recorder ended in order and counted; other tracers do not */
	bool complete;  /* nothing is known to be missing or damaged */
	bool running;   /* it is being recorded now */
	unsigned findings;
	char *finding, *ask; /* the first finding, and what `kymo why` takes; NULL: not known */
	char note[256]; /* what is wrong; "" if nothing is known to be */
};

struct recordings {
	struct recording *item; /* newest first */
	unsigned count, capacity;
};

/**
 * recording_is() - whether the directory @path holds a recording: kymo.json, metadata, ust, kernel,
 * archives or snapshots
 *
 * Context: blocks as the disk does.
 */
bool recording_is(const char *path);

/**
 * recording_read() - what is known of the recording @path, without reading events
 *
 * A recording that cannot be read is no error: then @recording->note says why. Return: 0, or -1
 * with
 * @err: no memory. Context: reads kymo.json and packet headers or indexes; allocates.
 */
int recording_read(struct recording *recording, const char *path, struct kymo_err *err);
void recording_free(struct recording *recording);

/**
 * recordings_find() - all recordings in and below @directory
 *
 * Directories of hosts and of days are entered, recordings are not; symbolic links are not
 * followed. Return: 0, or -1 with @err (KYMO_EXIT_INPUT): @directory cannot be read. Context: as
 * recording_read().
 */
int recordings_find(struct recordings *recordings, const char *directory, struct kymo_err *err);
void recordings_free(struct recordings *recordings);

#endif
