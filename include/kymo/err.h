/* SPDX-License-Identifier: Apache-2.0 */
/* How kymo's libraries tell what went wrong: a class and a text for people. */
#ifndef KYMO_ERR_H
#define KYMO_ERR_H

/* Exit status of every verb; also the class of an error. */
enum kymo_exit {
	KYMO_EXIT_OK = 0,
	KYMO_EXIT_FAILED = 1,	/* something went wrong at run time */
	KYMO_EXIT_USAGE = 2,		/* the command line is wrong */
	KYMO_EXIT_INPUT = 3,		/* a file or trace is missing or invalid */
	KYMO_EXIT_LOSS = 4,		/* events were lost, under --strict */
	KYMO_EXIT_BUDGET = 5,	/* a budget is violated */
	KYMO_EXIT_EMPTY = 6,		/* there was nothing to trace or to show */
};

struct kymo_err {
	enum kymo_exit status;
	char text[1024];	/* complete sentence(s): what, where, what to do; no newline at the end */
};

#endif
