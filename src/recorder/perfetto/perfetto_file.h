/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session's sink that writes a Perfetto file while the session runs: spans, instants, counters
 * and tracks of kymo.h, and events of ROS 2 as they are. `kymo export` of a trace directory also
 * draws what it finds out from many events, such as messages on their way.
 */
#ifndef KYMO_RECORDER_PERFETTO_FILE_H
#define KYMO_RECORDER_PERFETTO_FILE_H

#include <stdbool.h>

#include "base/err.h"

struct kymo_sink;
struct perfetto_file;

/** perfetto_file_is_meant() - whether @path ends in .pftrace or .perfetto-trace. */
bool perfetto_file_is_meant(const char *path);

/**
 * perfetto_file_create() - create the file
 * @path: must not exist
 *
 * Return: 0; -1 with @err. Context: allocates, blocks.
 */
int perfetto_file_create(const char *path, struct perfetto_file **file, struct kymo_err *err);

/** perfetto_file_sink() - the sink, which a session gets next; perfetto_file_end() frees it. */
struct kymo_sink *perfetto_file_sink(struct perfetto_file *file);

/** perfetto_file_begin() - the session has the sink: write in a thread of its own. Return: 0; -1
 * with @err: no thread. Context: allocates. */
int perfetto_file_begin(struct perfetto_file *file, struct kymo_err *err);

/**
 * perfetto_file_end() - write the rest, close the file, free @file
 * @file: no session has its sink any more; may be NULL
 * @err: NULL: the session did not begin; the file is removed
 *
 * Context: blocks until the thread has written the rest.
 * Return: 0; -1 with @err: the file could not be written all the time.
 */
int perfetto_file_end(struct perfetto_file *file, struct kymo_err *err);

#endif
