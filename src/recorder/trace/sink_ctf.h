/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that is a trace directory on disk:
 *
 *   DIR/ust/              the processes without events of their own, one trace
 *   DIR/<pid>-<ordinal>/  one for each process that declared events: their ids are its own
 *   DIR/kymo.json         the accounts
 *   DIR/archives/...      with chunks (chunks.h): ust/ and the others, complete in each
 *
 * A packet is one writev() straight from shared memory. A trace that contains no event and no loss
 * at the end is removed again.
 */
#ifndef KYMO_RECORDER_SINK_CTF_H
#define KYMO_RECORDER_SINK_CTF_H

#include "recorder/drain/sink.h"
#include "recorder/trace/sink_files.h"

/**
 * sink_ctf_create() - create the directory @path, or use it if it is empty
 * @version: of kymo, "0.1.0"
 * @monotonic, @realtime: the two clocks at one moment, ns
 * @files: how it is kept; NULL: one trace that grows
 *
 * sink->name is the absolute path.
 * Return: 0 and *@sink; -1 with @err. Context: session's thread; allocates, blocks.
 */
int sink_ctf_create(const char *path, const char *version, uint64_t monotonic, uint64_t realtime,
		    const struct sink_files *files, struct sink **sink, struct kymo_err *err);

#endif
