/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Up to when the streams of a session can be merged by time: what is to come of any of them is not earlier. A stream of
 * which nothing was heard for a while is not waited for; what it brings later is then shown late.
 */
#ifndef KYMO_LIVE_BOUND_H
#define KYMO_LIVE_BOUND_H

#include "ctf/read/reader.h"
#include "live/copydir.h"

/**
 * bound_until() - how far @reader, of what @client brought, may give events
 * @silent: set to how many streams are not waited for
 *
 * Return: epoch ns, for kymo_ctf_until(); INT64_MIN: nothing is known for certain.
 * Context: no allocation.
 */
int64_t bound_until(const struct client *client, const struct kymo_ctf_reader *reader, int64_t now_ns, unsigned *silent);

/**
 * bound_forget() - @reader has given all events up to @until: what is before them is not needed
 *
 * Of a directory of @copydir's own, see copydir_mark(). Context: system calls.
 */
void bound_forget(const struct client *client, const struct copydir *copydir, const struct kymo_ctf_reader *reader,
		  int64_t until);

#endif
