/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A sink that is a trace directory on disk:
 *
 *   DIR/ust/              the processes without events of their own, one trace
 *   DIR/<pid>-<ordinal>/  a process that declared events: ids mean something only within it
 *   DIR/kymo.json         the accounts
 *   DIR/archives/...      with chunks (chunks.h): ust/ and the others, complete in each
 *
 * A packet is one writev straight from shared memory. One that holds nothing at the end, no event
 * and no loss, is removed again.
 */
#ifndef KYMO_RECORDER_SINK_CTF_H
#define KYMO_RECORDER_SINK_CTF_H

#include "recorder/drain/sink.h"
#include "recorder/trace/sink_files.h"

/**
 * sink_ctf_create() - make the directory @path, which must not exist or be empty
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
