/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a robot is expected to do, as a file says it, and whether it did: the validations of
 * caret_report, out of its own lists, and bounds of response times. docs/validation.md defines them.
 *
 * Context of all functions: not thread-safe; allocate; expectations_read() blocks.
 */
#ifndef KYMO_REPORT_EXPECT_H
#define KYMO_REPORT_EXPECT_H

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

/** expectations_broken() - how many were FAILED or NOT_MEASURED in the report that was made. */
unsigned expectations_broken(const struct expectations *expectations);

#endif
