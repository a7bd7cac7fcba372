/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files that a process has loaded, and the function at an address in them. Sources: LTTng's
 * lttng_ust_statedump (files loaded when recording began), lttng_ust_lib and lttng_ust_dl, and the
 * symbol tables of the files on this machine; kymo_stacks names functions of the kernel. If the
 * build id of a file differs from the recorded one, the file is another program and its names are
 * not used.
 *
 * Context: not thread-safe; allocates; the first name in a file reads the file.
 */
#ifndef KYMO_ANALYSIS_MODULES_H
#define KYMO_ANALYSIS_MODULES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/elf.h"
#include "base/map.h"
#include "base/pool.h"
#include "ctf/read/reader.h"

/* A function of a kernel; the recorder reports those that are in samples of call stacks. */
struct module_kernel {
	uint32_t host;
	uint64_t address, size;
	const char *name;
};

/* A file in the memory of a process. */
struct module {
	uint32_t host;			/* host of the process's trace */
	int32_t pid;
	uint64_t base, size;
	const char *path;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	unsigned build_id_size;		/* 0: not in the trace */
	struct module_file *file;	/* NULL: not opened yet */
};

struct modules {
	struct module *module;
	uint32_t count, room;
	struct module_kernel *kernel;
	uint32_t kernel_count, kernel_room;
	struct map starts; /* (address, process) -> struct module_start */
	struct pool pool;
	struct module_file *files;
	/* Files that differ from the recorded ones, or do not exist on this machine. */
	uint32_t changed, missing;
	bool failed;
};

#define MODULES_MAX 1000000u

void modules_free(struct modules *modules);

/* MODULES_BINDS rows for kymo_ctf_bind(), to be included in the caller's table. */
extern const struct kymo_ctf_bind modules_bind[];
#define MODULES_BINDS 8u

/**
 * modules_event() - process an event bound by row @row of modules_bind. Sets `failed` when out of
 * memory.
 */
void modules_event(struct modules *modules, unsigned row, const struct kymo_ctf_event *event);

/**
 * modules_name() - the function at @address
 * @file: set to the last part of the path of its file; NULL when no file is known at that address
 *
 * Return: its readable name (demangled if libstdc++ exists); NULL: unknown. Valid until
 * modules_free().
 */
const char *modules_name(struct modules *modules, uint32_t trace, int32_t pid, uint64_t address,
			 const char **file);

/**
 * modules_stack() - where the functions of a call stack begin; of one that is unknown, the address
 * @event: the sample
 * @kernel: how many of the frames are of the kernel
 * @frames: their addresses, the innermost first, at least @count
 * @start: [@count]
 *
 * An address behind a call may already belong to the next function, so that of a caller is the one
 * before. The innermost one, and the one that called the kernel, are where the thread was.
 * What a function without a frame pointer has in that register leads anywhere. So a stack ends
 * before data of a file, and with the outermost frame that is in a file, if one is.
 *
 * Return: elements of @start that are set. Context: as modules_name().
 */
uint32_t modules_stack(struct modules *modules, const struct kymo_ctf_event *event, uint64_t kernel,
		       const struct kymo_ctf_value *frames, uint32_t count, uint64_t start[]);

#endif
