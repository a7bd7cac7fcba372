/* SPDX-License-Identifier: Apache-2.0 */
/*
 * --rename: compare entities whose names differ between the sides.
 *
 * A name has parts: the name of a callback has a node and a topic, the name of a chain has all its
 * steps. If a node is renamed, the names of its callbacks and of all chains through it change. So
 * --rename names a part, and every name with this part is changed.
 *
 * kymo never renames by a guess: compare() only lists likely renames (struct compare_likely), and
 * compare_rename() changes the names of the base side as the user asked.
 *
 * Context of all functions: not thread-safe; they allocate and do not block.
 */
#ifndef KYMO_COMPARE_RENAME_H
#define KYMO_COMPARE_RENAME_H


#include "base/err.h"
#include "summary/summary.h"

#define COMPARE_RENAMES_MAX 64u

/* The user's renames: @old is a part of names of the base side, @new of the new side. */
struct compare_renames {
	char *old[COMPARE_RENAMES_MAX], *new[COMPARE_RENAMES_MAX];
	unsigned count;
};

/**
 * compare_renames_add() - read "OLD=NEW"
 *
 * Return: 0; -1 with @err: another form, too many, or OLD or NEW was given before.
 */
int compare_renames_add(struct compare_renames *renames, const char *text, struct kymo_err *err);
void compare_renames_free(struct compare_renames *renames);

/**
 * compare_rename() - replace OLD with NEW in all names of @summary
 *
 * All renames happen at once, so /a may become /b while /b becomes /a. Return: 0; -1 with @err.
 */
int compare_rename(struct summary *summary, const struct compare_renames *renames,
		   struct kymo_err *err);

/**
 * compare_renames_check() - do the runs have the names of all renames? Before compare_rename().
 * @base, @new: the runs of the sides
 *
 * Return: 0; -1 with @err: no base run has OLD, no new run has NEW, or the base side has NEW, too.
 */
int compare_renames_check(const struct compare_renames *renames, const struct summary *const *base,
			  unsigned bases, const struct summary *const *new, unsigned news,
			  struct kymo_err *err);

#endif
