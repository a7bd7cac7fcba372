/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entities whose names changed from one side to the other.
 *
 * A name is made of parts: that of a callback of a node and a topic, that of a chain of all its
 * steps. Who renames a node changes the names of its callbacks and of all chains through it. So
 * what was renamed is a part, and all names with this part follow.
 *
 * Nothing is matched by a guess: compare() lists what looks like a new name (struct
 * compare_likely), and compare_rename() gives the base side the names that the user said.
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_RENAME_H
#define KYMO_COMPARE_RENAME_H

#include <stdbool.h>

#include "base/err.h"
#include "summary/summary.h"

#define COMPARE_RENAMES_MAX 64u

/* What the user said, of all names: what the base side calls it, and what the new side does. */
struct compare_renames {
	char *old[COMPARE_RENAMES_MAX], *new[COMPARE_RENAMES_MAX];
	unsigned count;
};

/** compare_renames_add() - read "OLD=NEW". Return: 0; -1 with @err. */
int compare_renames_add(struct compare_renames *renames, const char *text, struct kymo_err *err);
void compare_renames_free(struct compare_renames *renames);

/**
 * compare_rename() - give each name of @summary its new parts
 *
 * All renames at once: /a may become /b and /b become /a. Return: 0; -1 with @err.
 */
int compare_rename(struct summary *summary, const struct compare_renames *renames,
		   struct kymo_err *err);

/**
 * compare_renames_check() - before compare_rename(): does each say what happened?
 * @base, @new: the runs of the sides
 *
 * Return: 0; -1 with @err: no base run has OLD, no new run has NEW, or the base side has NEW, too.
 */
int compare_renames_check(const struct compare_renames *renames, const struct summary *const *base,
			  unsigned bases, const struct summary *const *new, unsigned news,
			  struct kymo_err *err);

#endif
