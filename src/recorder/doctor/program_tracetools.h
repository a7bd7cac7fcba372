/* SPDX-License-Identifier: Apache-2.0 */
/* Which version is the file libtracetools.so? The preload library asks the same in the running process: abi/tracetools.h. */
#ifndef KYMO_RECORDER_TRACETOOLS_H
#define KYMO_RECORDER_TRACETOOLS_H

#include "base/elf.h"

struct tracetools_facts {
	char version[64];	/* "8.2.2", or a range "8.0 to 8.4" */
	unsigned from, to;	/* the same as KYMO_V(); unknown: 0 and KYMO_V_LAST */
	const char *evidence;	/* "by its symbols" */
	bool guessed;		/* Iron or Jazzy, and nothing tells them apart */
	bool lttng;		/* built with LTTng */
};

/** program_tracetools() - fill @facts from the open file @elf at @path. Context: blocks. */
void program_tracetools(const struct elf *elf, const char *path, struct tracetools_facts *facts);

#endif
