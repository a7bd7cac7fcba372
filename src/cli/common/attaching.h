/* SPDX-License-Identifier: Apache-2.0 */
/* What `kymo attach`, `kymo detach` and the option --attach of other verbs share. */
#ifndef KYMO_CLI_ATTACHING_H
#define KYMO_CLI_ATTACHING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/opt.h"

struct attaching {
	struct opt_list who; /* pids and names */
	bool all;            /* all that have libtracetools.so */
	bool quiet;
	bool bare;          /* without the line "Record with" */
	int64_t max_pause;  /* ns; 0: no limit */
	uint64_t ring_size; /* bytes; 0: as usual */
};

/**
 * attaching_on() - attach to what @attaching names, and print one line for each process
 * @verb: for errors
 *
 * Goes on after a process that refused, and prints why to stderr. Return: 0; -1 with @err, whose
 * text is empty if all errors were printed. Context: blocks.
 */
int attaching_on(const char *verb, const struct attaching *attaching, struct kymo_err *err);

/** attaching_off() - detach likewise; @all: from all to which kymo is attached. */
int attaching_off(const char *verb, const struct attaching *attaching, struct kymo_err *err);

#define ATTACHING_HINT_MAX 160

/**
 * attaching_hint() - name the programs that kymo could be attached to
 * @text: set to "3 ROS 2 programs run without kymo (driver, control, ...)"; "": none
 *
 * Return: their number. Context: allocates, blocks: reads /proc.
 */
unsigned attaching_hint(char text[ATTACHING_HINT_MAX]);

#endif
