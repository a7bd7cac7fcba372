/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tracetools is this libtracetools.so? The same questions that the preload library asks
 * in the running process, asked of the file.
 */
#ifndef KYMO_RECORDER_TRACETOOLS_H
#define KYMO_RECORDER_TRACETOOLS_H

#include "base/elf.h"

/* Versions, comparable: 8.2 is 802. */
#define TRACETOOLS_NUMBER(major, minor) (100u * (major) + ((minor) > 99 ? 99 : (minor)))
#define TRACETOOLS_LAST (~0u)

struct tracetools_facts {
	char version[64];	/* "8.2.2", or a range "8.0 to 8.4" */
	unsigned from, to;	/* the same as TRACETOOLS_NUMBER(); unknown: 0 and TRACETOOLS_LAST */
	const char *evidence;	/* what says so */
	bool guessed;		/* Iron or Jazzy, and nothing tells them apart */
	bool lttng;		/* built with LTTng */
};

/** tracetools_look() - fill @facts from the open file @elf at @path. Context: blocks. */
void tracetools_look(const struct elf *elf, const char *path, struct tracetools_facts *facts);

#endif
