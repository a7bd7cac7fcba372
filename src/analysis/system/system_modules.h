/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which files a process has loaded, and what function an address of it is in: from LTTng's
 * lttng_ust_statedump (what was loaded when recording began), lttng_ust_lib and lttng_ust_dl, and the symbol
 * tables of the files as they are on this machine. A file whose build id is not the recorded one is
 * another program: it gives no names.
 *
 * Context: not thread-safe; allocates; the first name of a file reads it.
 */
#ifndef KYMO_ANALYSIS_MODULES_H
#define KYMO_ANALYSIS_MODULES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/elf.h"
#include "base/pool.h"
#include "ctf/read/reader.h"

/* A file in the memory of a process. */
struct module {
	uint32_t host;			/* trace of the process */
	int32_t pid;
	uint64_t base, size;
	const char *path;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	unsigned build_id_size;		/* 0: not in the trace */
	struct module_file *file;	/* NULL: not looked at yet */
};

struct modules {
	struct module *module;
	uint32_t count, room;
	struct pool pool;
	struct module_file *files;
	uint32_t changed, missing;	/* files that are not what was recorded, or not here */
	bool failed;
};

#define MODULES_MAX 1000000u

void modules_free(struct modules *modules);

/* Rows for kymo_ctf_bind(), to be put into a table of one's own; MODULES_BINDS of them. */
extern const struct kymo_ctf_bind modules_bind[];
#define MODULES_BINDS 7u

/** modules_event() - an event bound by row @row of modules_bind. Without memory failed is set. */
void modules_event(struct modules *modules, unsigned row, const struct kymo_ctf_event *event);

/**
 * modules_name() - the function that @address is in
 * @file: set to the last part of the path of its file, NULL when no file is known there
 *
 * Return: its name, readable (demangled where libstdc++ is there); NULL: not known. Valid until
 * modules_free().
 */
const char *modules_name(struct modules *modules, uint32_t trace, int32_t pid, uint64_t address,
			 const char **file);

#endif
