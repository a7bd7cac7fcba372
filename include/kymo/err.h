/* SPDX-License-Identifier: Apache-2.0 */
/* How kymo's libraries report an error: a class, and a text for people. */
#ifndef KYMO_ERR_H
#define KYMO_ERR_H

/* The class of an error, which is also the exit status of a verb. */
enum kymo_exit {
	KYMO_EXIT_OK = 0,
	KYMO_EXIT_FAILED = 1,	/* something went wrong at run time */
	KYMO_EXIT_USAGE = 2,		/* the command line is wrong */
	KYMO_EXIT_INPUT = 3,		/* a file or trace is missing or invalid */
	KYMO_EXIT_LOSS = 4,		/* events were lost, under --strict */
	KYMO_EXIT_BUDGET = 5,	/* a budget is violated */
	KYMO_EXIT_EMPTY = 6,		/* nothing was traced, or there is nothing to show */
};

struct kymo_err {
	enum kymo_exit status;
	/* what failed, where, why, and what to do; one line without a newline */
	char text[1024];
};

#endif
