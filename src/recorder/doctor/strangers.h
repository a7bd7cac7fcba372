/* SPDX-License-Identifier: Apache-2.0 */
/* Processes that come from a command that is recorded, and are not traced: why not? */
#ifndef KYMO_RECORDER_STRANGERS_H
#define KYMO_RECORDER_STRANGERS_H

#include <stdbool.h>

struct stranger {
	bool calls;		/* it has libtracetools, so it was meant to be traced */
	char text[512];		/* which process, and why; empty: none was seen */
	char remedy[512];
};

/**
 * strangers_look() - look at the descendants of process @command, and at itself
 * @stranger: zeroed, or as an earlier look left it: one that has libtracetools replaces one that has not
 *
 * Context: blocks: reads /proc and the files of programs. Some milliseconds for each process; at most 256 of them.
 */
void strangers_look(int command, struct stranger *stranger);

#endif
