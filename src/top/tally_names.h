/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The names of the spans that a running program declared (KYMO_LOG_DECLARE of abi/region.h), by the
 * numbers of their events.
 */
#ifndef KYMO_TOP_TALLY_NAMES_H
#define KYMO_TOP_TALLY_NAMES_H

#include <stdbool.h>

#include "recorder/runtime/region_view.h"
#include "top/tallies.h"

struct tally_names;

/** tally_names_read() - those of @region now. Return: NULL: no memory. Context: allocates. */
struct tally_names *tally_names_read(const struct region *region);

/** tally_names_free() - NULL is fine. */
void tally_names_free(struct tally_names *names);

/**
 * tally_names_find() - set category and name of @of, whose address is the number of an event; valid
 * as long as @names
 *
 * Return: false: it is not known. The sleep of a loop is known, but stays without a name: it is no
 * work.
 */
bool tally_names_find(const struct tally_names *names, struct tally_of *of);

#endif
