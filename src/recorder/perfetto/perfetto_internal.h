/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the events of a Perfetto file share. Private to this folder.
 *
 * Context of all functions: the thread that writes the file.
 */
#ifndef KYMO_RECORDER_PERFETTO_INTERNAL_H
#define KYMO_RECORDER_PERFETTO_INTERNAL_H

#include <pthread.h>

#include "base/map.h"
#include "export/pft/pft.h"
#include "kymo/sink.h"

/* What is in a map: tracks, by kind and pid, and a number. */
enum perfetto_key { PERFETTO_PROCESS, PERFETTO_THREAD, PERFETTO_TRACK, PERFETTO_COUNTER };

struct perfetto_file {
	struct kymo_sink *sink;
	struct pft *pft;
	struct map tracks; /* struct pft_track */
	char *path;
	int fd;
	bool begun;
	pthread_t thread;
	uint64_t flushed_ns;
};

/** perfetto_packet() - write the events of @packet. */
void perfetto_packet(struct perfetto_file *file, const struct kymo_sink_packet *packet);

#endif
