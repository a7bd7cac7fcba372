/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The rules that users write: what is recorded, and what is left out.
 *
 *     node !/rviz*          topic /scan          event !rclcpp_executor_*
 *
 * A rule has one of five kinds and a glob; "!" in front of the glob leaves out what it matches. An
 * object or event is wanted if, for every kind, no "!" rule matches its name, and some rule without
 * "!" does, if there are any. What has no name of a kind (a timer has no topic) is matched by no
 * rule of that kind.
 */
#ifndef KYMO_RECORDER_FILTER_RULES_H
#define KYMO_RECORDER_FILTER_RULES_H

#include <stdbool.h>

#include "base/err.h"

enum filter_kind {
	FILTER_NODE,		/* full name of a node: "/perception/filter" */
	FILTER_TOPIC,		/* full name of a topic or service */
	FILTER_PROCESS,		/* name of the main thread, file name of the program, or number */
	FILTER_EVENT,		/* "callback_start" or "ros2:callback_start" */
	FILTER_CATEGORY,	/* the part before the colon: of kymo.h, or "ros2" */
	FILTER_KINDS
};

#define FILTER_RULES_MAX	1024
#define FILTER_TEXT_MAX		512	/* of a rule, with its NUL */

struct filter_rule {
	enum filter_kind kind;
	bool exclude;
	char *glob;
};

struct filter_rules {
	struct filter_rule *rule;
	unsigned count, room;
	unsigned has[FILTER_KINDS], includes[FILTER_KINDS];	/* how many, and how many without "!" */
};

/**
 * filter_rules_add() - one more rule
 * @text: a glob, behind "!" if what it matches is left out
 *
 * The functions that add return 0; -1 with @err (KYMO_EXIT_USAGE, or KYMO_EXIT_INPUT for a file),
 * and what is good before the mistake is added. Context: allocate.
 */
int filter_rules_add(struct filter_rules *rules, enum filter_kind kind, const char *text,
		     struct kymo_err *err);

/** filter_rules_line() - a rule as in a file, "node !/rviz*"; nothing for an empty line or a
 * comment. */
int filter_rules_line(struct filter_rules *rules, const char *line, struct kymo_err *err);

/** filter_rules_text() - rules between line ends or semicolons. */
int filter_rules_text(struct filter_rules *rules, const char *text, struct kymo_err *err);

/** filter_rules_file() - the lines of a file. @err names file and line. Context: blocks. */
int filter_rules_file(struct filter_rules *rules, const char *path, struct kymo_err *err);

/** filter_rules_copy() - @to is overwritten. Return: false without memory. */
bool filter_rules_copy(struct filter_rules *to, const struct filter_rules *from);

void filter_rules_free(struct filter_rules *rules);

/** filter_rule_text() - "node !/rviz*". Return: @text. */
char *filter_rule_text(const struct filter_rule *rule, char text[FILTER_TEXT_MAX]);

/** filter_rules_join() - all rules with "; " between them. Return: malloc'ed; NULL without
 * memory. */
char *filter_rules_join(const struct filter_rules *rules);

/**
 * filter_rules_want() - whether the rules of @kind want something of this name
 * @name: NULL: it has none; @other: another name of it, NULL: none
 */
bool filter_rules_want(const struct filter_rules *rules, enum filter_kind kind, const char *name,
		       const char *other);

/** filter_rules_want_any() - the same of a thing with @count names. */
bool filter_rules_want_any(const struct filter_rules *rules, enum filter_kind kind,
			   const char *const *name, unsigned count);

#endif
