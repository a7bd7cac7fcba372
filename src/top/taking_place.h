/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the small trace of taking.h is: a directory of its own in shared memory, else in /tmp. It
 * is locked as long as the process that made it or its child lives; directories that nobody has
 * locked any more are removed when the next one is made.
 */
#ifndef KYMO_TOP_TAKING_PLACE_H
#define KYMO_TOP_TAKING_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define PLACE_NAME "/kymo-top." /* what the names of such directories begin with */

struct taking_place {
	char directory[64]; /* has the trace, and nothing else; "": there is none */
	char path[80];      /* of the trace */
	int fd;             /* of the directory: the lock; -1: none */
};

/**
 * taking_place_make() - make the directory
 * @room: set to the bytes that are free there
 *
 * Context: blocks. Return: 0; -1 with @err: no place has room.
 */
int taking_place_make(struct taking_place *place, uint64_t *room, struct kymo_err *err);

/** taking_place_remove() - remove the directory, if any; the lock stays. Context: blocks. */
void taking_place_remove(const struct taking_place *place);

/** taking_place_full() - as taking_no_room(). */
bool taking_place_full(const struct taking_place *place, char *text, size_t size);

#endif
