/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What running programs have counted (struct kymo_count of abi/region.h): the tables of all their
 * threads, added up, as differences from one look to the next.
 *
 * Context of all functions: not thread-safe; allocate; block for the time of some system calls.
 */
#ifndef KYMO_TOP_TALLIES_H
#define KYMO_TOP_TALLIES_H

#include <stdint.h>

#include "abi/region.h"
#include "base/err.h"

#define COUNT_KINDS 4u /* of enum kymo_count_kind */

struct tallies;

/* What one object of a process counted since the look before, by enum kymo_count_kind. */
struct tally_of {
	int32_t pid; /* in its own namespace */
	const char *process; /* its name */
	uint64_t address;    /* of a span: the number of its event */
	uint64_t more[COUNT_KINDS];
	/* Of a span of kymo.h, where more[KYMO_COUNT_NOT] is not 0; else NULL. */
	const char *category, *name;
};

/**
 * tallies_open() - of the programs of the runtime directory
 * @pid: of this process only; 0: of all
 *
 * Return: 0; -1 with @err.
 */
int tallies_open(struct tallies **tallies, int pid, struct kymo_err *err);

/** tallies_close() - NULL is fine. */
void tallies_close(struct tallies *tallies);

/**
 * tallies_read() - look at all programs
 * @each: called for each object that counted something since the last look. What programs had
 *        counted before the first look is not new.
 *
 * Return: 0; -1 with @err: no memory.
 */
int tallies_read(struct tallies *tallies, void (*each)(void *context, const struct tally_of *of),
		void *context, struct kymo_err *err);

/** tallies_programs() - how many programs run in the runtime directory. */
unsigned tallies_programs(void);

/** tallies_missed() - events that found no place in a table, since the first look. */
uint64_t tallies_missed(const struct tallies *tallies);

#endif
