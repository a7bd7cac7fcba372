/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One mapped region file, checked. Everything in it is untrusted: the identity is copied out once,
 * and region_page() checks page numbers against the mapping at every use.
 */
#ifndef KYMO_RECORDER_REGION_H
#define KYMO_RECORDER_REGION_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "abi/region.h"
#include "base/err.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/rundir.h"

#define REGION_NAME_MAX 96
/* 2048 rings of 16 MiB, and the init log: a larger file is not a region. */
#define REGION_SIZE_MAX (40ull << 30)

struct region {
	int fd;
	uint8_t *base;
	uint64_t pages;			/* mapped */
	char name[REGION_NAME_MAX];	/* of the file */
	uid_t uid;			/* who owns the file */
	uint32_t pid;			/* in its own namespace */
	uint64_t start_time, pid_ns, time_ns, birth_ns, tag;
	uint32_t ros_domain;		/* KYMO_ROS_..., below 256 */
	char procname[KYMO_NAME_MAX + 1];
	char exe[257];
};

/** region_is_name() - whether a file name is that of a finished region file. */
bool region_is_name(const char *name);

/* Of region_open(): the same may succeed later. */
#define REGION_LATER (-2)

/**
 * region_open() - open, check and map region file @name of @dir
 * @writable: map it for writing too (a recorder); else only for looking (status)
 *
 * Return: 0; 1 when the file is gone; -1 with @err: refused, and why; REGION_LATER with @err: too
 * many files are open now. Context: blocks.
 */
int region_open(struct region *region, const struct rundir *dir, const char *name, bool writable,
		struct kymo_err *err);

/**
 * region_alive() - whether the process of @region still runs
 * @host_pid: set to its pid in our namespace, 0 when it is not found
 *
 * By its pid, where that can be looked up; else, for a process in a container, by the lock that it
 * holds.
 * Context: as alive_find().
 */
enum alive region_alive(const struct region *region, int *host_pid);

/** region_is_left() - its process has no part of it mapped any more: it died, or called exec.
 * Return: false also if the process could not lock it. Context: at most a system call. */
bool region_is_left(const struct region *region);

/**
 * region_has_name() - whether @glob matches the name of the process
 * @glob: as fnmatch() has it, for the name of the main thread or of the program's file
 */
bool region_has_name(const struct region *region, const char *glob);

/**
 * region_owner() - whether the process that created region file @name still runs, by the name alone
 * @host_pid: its pid in our namespace, 0 when it is not found
 *
 * For files that cannot be opened as regions. Return: ALIVE_UNKNOWN also when the name has another
 * form. Context: as alive_find().
 */
enum alive region_owner(const char *name, int *host_pid);

/** region_close() - unmap and close. Closed or zeroed with fd -1 is fine. Context: system calls. */
void region_close(struct region *region);

/**
 * region_grow() - map what the process has added since
 * Return: 0; -1 when the file is shorter than its header says. Context: wait-free unless it grew.
 */
int region_grow(struct region *region);

/** region_intact() - false when somebody has shortened the file below the mapping, also for a
 * moment. Context: at most a system call. */
bool region_intact(const struct region *region);

/** region_page() - address of @count pages from @page on; NULL outside of the mapping. Context:
 * wait-free. */
static inline void *region_page(const struct region *region, uint64_t page, uint64_t count)
{
	if (page >= region->pages || count > region->pages - page)
		return NULL;
	return region->base + page * KYMO_PAGE;
}

/** region_has_ring() - whether a ring of these sizes at @page is possible, and within the mapping.
 * Context: wait-free. */
bool region_has_ring(const struct region *region, uint32_t page, uint64_t block_size,
		     uint64_t block_count);

/**
 * region_block_page() - the page of block @number of a ring at @page that region_has_ring()
 *
 * @ring: the ring's first page, or a copy of it. The result is within the mapping, but whether the
 * block is there must be checked. Context: wait-free.
 */
uint64_t region_block_page(const struct region *region, const struct kymo_ring *ring, uint32_t page,
			   uint64_t number, uint32_t block_size, uint32_t block_count);

/** region_room() - the most bytes of a ring that can be unread. Context: wait-free. */
uint64_t region_room(const struct region *region, uint32_t block_size, uint32_t block_count);

static inline struct kymo_region *region_header(const struct region *region)
{
	return (struct kymo_region *)region->base;
}

/** region_recorded_itself() - whether the process was its own recorder, and did not end that. */
static inline bool region_recorded_itself(const struct region *region)
{
	const struct kymo_region *header = region_header(region);

	return __atomic_load_n(&header->recorder_pid, __ATOMIC_RELAXED) == region->pid &&
	       __atomic_load_n(&header->owed, __ATOMIC_ACQUIRE);
}

#endif
