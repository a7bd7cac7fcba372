/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Errors for humans. A function that can fail for a reason a user should read takes a struct err,
 * fills it where the failure is known best, and returns a negative value. Callers add context
 * with err_wrap() or pass it on; only the command line prints. Untouched on success.
 */
#ifndef KYMO_BASE_ERR_H
#define KYMO_BASE_ERR_H

/* Exit status of every verb; also the class of an error. */
enum kymo_exit {
	EXIT_OK = 0,
	EXIT_FAILED = 1,	/* something went wrong at run time */
	EXIT_USAGE = 2,		/* the command line is wrong */
	EXIT_INPUT = 3,		/* a file or trace is missing or invalid */
	EXIT_LOSS = 4,		/* events were lost, under --strict */
	EXIT_BUDGET = 5,	/* a budget is violated */
	EXIT_EMPTY = 6,		/* there was nothing to trace or to show */
};

struct err {
	enum kymo_exit status;
	char text[1024];	/* complete sentence(s): what, where, what to do; no newline at the end */
};

/**
 * err_set() - fill @err with @status and a formatted text
 * @err: may be NULL: then nothing is kept
 *
 * Context: no allocation; not for the traced process.
 * Return: -1, so that `return err_set(...)` reads well.
 */
__attribute__((format(printf, 3, 4)))
int err_set(struct err *err, enum kymo_exit status, const char *format, ...);

/** err_wrap() - put "formatted text: " in front of what @err already says. Return: -1. */
__attribute__((format(printf, 2, 3)))
int err_wrap(struct err *err, const char *format, ...);

#endif
