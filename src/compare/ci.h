/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Verdicts in the forms that CI services show: JUnit XML, annotations of GitHub, a report of code
 * quality for GitLab.
 *
 * Context of all functions: not thread-safe; they allocate, and block as the files do.
 */
#ifndef KYMO_COMPARE_CI_H
#define KYMO_COMPARE_CI_H

#include <stdbool.h>
#include <stdio.h>

#include "base/err.h"
#include "base/pool.h"

enum ci_result { CI_PASSED, CI_FAILED, CI_SKIPPED };

struct ci_case {
	enum ci_result result;
	const char *group, *name; /* "callback /planner /scan", "duration p99" */
	const char *message;      /* "": nothing to say */
	unsigned line;            /* of the suite's file; 0: none */
};

struct ci_suite {
	const char *name; /* "kymo diff" */
	const char *file; /* what @line counts in; what the verdicts are about */
	struct ci_case *item;
	unsigned count, capacity;
	unsigned results[CI_SKIPPED + 1];
	struct pool pool;
	bool failed; /* memory ran out */
};

/* How to annotate; the options' choices are CI_CHOICES. */
enum ci_service { CI_NONE, CI_GITHUB, CI_GITLAB };
#define CI_CHOICES "never|github|gitlab"
/* Where the report for GitLab goes, as its jobs name it. */
#define CI_GITLAB_FILE "gl-code-quality-report.json"

/** ci_add() - one more verdict; the texts are copied. */
__attribute__((format(printf, 6, 7))) void ci_add(struct ci_suite *suite, enum ci_result result,
						  const char *group, const char *name,
						  unsigned line, const char *message, ...);
void ci_free(struct ci_suite *suite);

/** ci_put_junit() - as JUnit XML. */
void ci_put_junit(const struct ci_suite *suite, FILE *out);

/** ci_put_github() - what failed, as workflow commands: GitHub reads them from a job's output. */
void ci_put_github(const struct ci_suite *suite, FILE *out);

/** ci_put_gitlab() - what failed, as a report of code quality. */
void ci_put_gitlab(const struct ci_suite *suite, FILE *out);

/**
 * ci_write() - all that was asked for
 * @junit: a file for JUnit XML; NULL: none
 *
 * Annotations of GitHub go to standard output, the report of GitLab into CI_GITLAB_FILE.
 * Return: 0; -1 with @err.
 */
int ci_write(const struct ci_suite *suite, const char *junit, enum ci_service service,
	     struct kymo_err *err);

#endif
