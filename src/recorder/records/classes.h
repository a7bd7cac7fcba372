/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The event classes of one process: those of the table, and those that the process declared itself
 * in its init log (struct kymo_declaration). Declarations are untrusted; their texts are changed to
 * what TSDL allows.
 */
#ifndef KYMO_RECORDER_CLASSES_H
#define KYMO_RECORDER_CLASSES_H

#include <stddef.h>
#include <stdint.h>

#include "abi/points.h"

struct classes {
	struct {
		struct kymo_point *point; /* NULL: none was declared */
		int32_t fixed;            /* classes_fixed() of it - CLASSES_UNKNOWN */
	} * own;                          /* by id - KYMO_POINTS_TABLE */
	unsigned room;
	unsigned count;			/* declared so far */
};

/** classes_get() - description of event @id, NULL: no such event. Context: wait-free. */
const struct kymo_point *classes_get(const struct classes *classes, unsigned id);

#define CLASSES_VARIABLE	(-1)
#define CLASSES_UNKNOWN		(-2)

/** classes_table_fixed() - classes_fixed() of an event of the table. Context: wait-free. */
long classes_table_fixed(unsigned id);

/**
 * classes_fixed() - bytes of the payload of runtime event @id
 * Return: CLASSES_VARIABLE: call walk_payload(); CLASSES_UNKNOWN: no such event. Context:
 * wait-free.
 */
static inline long classes_fixed(const struct classes *classes, unsigned id)
{
	if (id < KYMO_POINTS_TABLE)
		return classes_table_fixed(id);
	id -= KYMO_POINTS_TABLE;
	return id < classes->room ? classes->own[id].fixed + CLASSES_UNKNOWN : CLASSES_UNKNOWN;
}

/**
 * classes_declare() - enter a declaration; the same id again is ignored
 * Return: 0; -EINVAL: it is invalid; -ENOMEM. Context: allocates.
 */
int classes_declare(struct classes *classes, const uint8_t *payload, size_t size);

void classes_free(struct classes *classes);

#endif
