/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to which time the streams of a session can be merged: no stream will bring an earlier event. A
 * stream that was silent for a while is not waited for; events that it brings later are shown late.
 */
#ifndef KYMO_LIVE_BOUND_H
#define KYMO_LIVE_BOUND_H

#include "ctf/read/reader.h"
#include "live/copydir.h"

/**
 * bound_until() - up to which time @reader may give events of what @client received
 * @silent: set to the number of streams that are not waited for
 *
 * Return: epoch ns, for kymo_ctf_until(); INT64_MIN: nothing is certain yet.
 * Context: no allocation.
 */
int64_t bound_until(const struct client *client, const struct kymo_ctf_reader *reader,
		    int64_t now_ns, unsigned *silent);

/**
 * bound_forget() - @reader has given all events up to @until: earlier packets are not needed any
 * more
 *
 * Only in a temporary directory of @copydir, see copydir_mark(). Context: system calls.
 */
void bound_forget(const struct client *client, const struct copydir *copydir,
		  const struct kymo_ctf_reader *reader, int64_t until);

#endif
