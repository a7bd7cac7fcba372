/* SPDX-License-Identifier: Apache-2.0 */
/* The file of a region: tracer_region_file.c knows its place, tracer_region.c what is in it. */
#ifndef KYMO_TRACER_REGION_FILE_H
#define KYMO_TRACER_REGION_FILE_H

#include <stdbool.h>

struct kymo_process;

/* Sets process->directory, which is created if need be. Return: 0; -errno as
 * kymo_region_create(). */
int kymo_region_find_directory(struct kymo_process *process);

/* Sets process->path, of a file that does not exist. */
void kymo_region_choose_path(struct kymo_process *process);

/* The mapping keeps the open file description, and so the lock, until the process ends. */
void kymo_region_lock_alive(int fd);

/* Whether the lock still exists after close(): emulators and other kernels may release it with the
 * descriptor. */
bool kymo_region_holds_lock(const char *path);

#endif
