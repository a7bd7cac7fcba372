/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot is expected to do, as a file says it, and whether it did: the validations of
 * caret_report, out of its own lists, and bounds of response times. docs/answers/validation.md
 * defines them.
 *
 * Context of all functions: not thread-safe; allocate; expectations_read() blocks.
 */
#ifndef KYMO_REPORT_EXPECT_H
#define KYMO_REPORT_EXPECT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"

struct expectations;

/**
 * expectations_read() - add what @file expects
 * @expectations: NULL at first; to be freed, also after an error
 *
 * Return: 0, or -1 with @err filled (KYMO_EXIT_INPUT), which names file and line.
 */
int expectations_read(struct expectations **expectations, const char *file, struct kymo_err *err);
void expectations_free(struct expectations *expectations);

/**
 * expectations_line() - the line of the file that expectation @at, from 0, is of
 * @text: set to that line; NULL: it expects nothing
 *
 * Return: 0: behind the last one.
 */
unsigned expectations_line(const struct expectations *expectations, unsigned at, const char **text);

/* What the report that was made found about an expectation: of each object that it is about. */
struct expect_verdict {
	unsigned line;
	bool is_kept, is_measured;
	const char *what, *unit; /* "callback frequency", "Hz" */
	char object[200];        /* the node, "/from -> /to", the path; "": not known */
	double mean, outside;    /* outside: share of the values that are out of bounds */
	uint64_t count;          /* of values */
};

/** expectations_verdict() - by number, from 0; NULL behind the last one. Valid until the next
 * report. */
const struct expect_verdict *expectations_verdict(const struct expectations *expectations,
						  unsigned at);

/** expectations_broken() - how many were FAILED or NOT_MEASURED in the report that was made. */
unsigned expectations_broken(const struct expectations *expectations);

#endif
