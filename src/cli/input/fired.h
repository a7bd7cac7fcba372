/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a trigger of the flight recorder fired on, as `kymo why` and the page find it in the
 * snapshot.
 */
#ifndef KYMO_CLI_INPUT_FIRED_H
#define KYMO_CLI_INPUT_FIRED_H

#include <stdbool.h>
#include <stdint.h>

#include "accounts/accounts.h"
#include "report/why/report_why.h"

#define FIRED_NAME_MAX 1024

struct fired {
	char name[FIRED_NAME_MAX];	/* a chain, or a glob of callbacks, a loop or a span; "": the trigger is about no instance */
	bool is_chain;
	int64_t took_ns; /* of a chain, with the callback that received its last message; 0: not
			    known */
	int64_t at_ns;			/* when the instance is under way, since 1970 */
	/* or: it begins in the time of this length before at_ns; 0: not so */
	int64_t window_ns;
};

/**
 * fired_of() - the instance that a trigger fired on
 * @trigger: as it was written; NULL: none fired. @what, @value: of the hit, NULL and 0: not known.
 *   @at_ns: of the hit, since 1970
 *
 * Context: no allocation.
 */
void fired_of(struct fired *fired, const char *trigger, const char *what, uint64_t value,
	      int64_t at_ns);

/** fired_ask() - into @why: explain the instance that @fired is about. @fired must stay valid. */
void fired_ask(const struct fired *fired, struct why_options *why);

/**
 * fired_read() - the same of a snapshot. Return: false: @accounts are of no snapshot. Context: no
 * allocation.
 */
bool fired_read(struct fired *fired, const struct accounts *accounts);

#endif
