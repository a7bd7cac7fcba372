/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by expect_read.c (the file) and expect.c (the verdicts). */
#ifndef KYMO_REPORT_EXPECT_INTERNAL_H
#define KYMO_REPORT_EXPECT_INTERNAL_H

#include <regex.h>

#include "report/sections/expect.h"
#include "report/report_internal.h"

enum expect_kind { EXPECT_TIMER, EXPECT_SUBSCRIPTION, EXPECT_TOPIC, EXPECT_PATH };

struct expectation {
	enum expect_kind kind;
	char *name;			/* a node (regular expression), a topic, or a path */
	regex_t regex;			/* of a node */
	bool has_regex;
	char *topic;			/* EXPECT_SUBSCRIPTION */
	int64_t period_ns;		/* EXPECT_TIMER */
	enum caret_case which;		/* EXPECT_PATH */
	double value;			/* Hz; EXPECT_PATH: ms; 0 or less: nothing is expected */
	bool measured;
	char *text; /* the line, as it is written */
	unsigned line;
};

struct expectations {
	struct expectation *item;
	unsigned count, room, broken;
	struct expect_verdict *verdict;
	unsigned verdicts, verdicts_size;
};

#endif
