/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What /proc says of a traced process: whether it still runs, and its environment.
 *
 * Context of all functions: system calls, but for environment_value(). alive_find() and
 * environment_read() allocate.
 */
#ifndef KYMO_RECORDER_ALIVE_H
#define KYMO_RECORDER_ALIVE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum alive {
	ALIVE_DEAD,
	ALIVE_YES,
	/* In a pid namespace that is not visible here, or there is no descriptor to ask with:
	 * counts as alive. */
	ALIVE_UNKNOWN,
};

/**
 * alive_find() - find the process that a region header names; region_alive() also asks its lock
 * @pid, @pid_ns: as in struct kymo_region
 * @start_time: clock ticks since boot
 * @host_pid: set to its pid in our namespace, 0 when it is not found
 *
 * Context: reads /proc; all of it for a process of another pid namespace.
 */
enum alive alive_find(uint32_t pid, uint64_t pid_ns, uint64_t start_time, int *host_pid);

/** alive_check() - the same for a known @host_pid: cheap. */
enum alive alive_check(int host_pid, uint64_t start_time);

/** alive_own_pid_ns() - inode of our pid namespace, 0 when it cannot be read. */
uint64_t alive_own_pid_ns(void);

/** alive_is_ending() - whether @pid has begun to end: nothing runs in it any more, and its number
 * is still taken. */
bool alive_is_ending(int pid);

/**
 * alive_shares_clock() - whether a process has our CLOCK_MONOTONIC
 * @time_ns: as in struct kymo_region
 * @host_pid: its pid in our namespace; 0: not known
 *
 * Return: true also if nothing is known of its clock. Context: reads /proc.
 */
bool alive_shares_clock(uint64_t time_ns, int host_pid);

/** alive_start_time() - start time of @pid, 0 when no such process exists or it is a zombie. */
uint64_t alive_start_time(int pid);

/**
 * alive_read_file() - read a short file of @pid in /proc
 * @name: "comm"
 * @text: [@size] gets its content, with a NUL behind it; "" when it cannot be read
 *
 * Return: bytes read.
 */
size_t alive_read_file(int pid, const char *name, char *text, size_t size);

/** alive_read_name() - the name of the main thread of @pid; "" when it cannot be read. */
void alive_read_name(int pid, char *name, size_t size);

/** alive_inner_pid() - number of @pid in its own namespace, 0 when it cannot be read. */
uint32_t alive_inner_pid(int pid);

/* ---- the environment that a program was started with ---- */

/**
 * environment_read() - of process @pid
 * @size: its bytes
 *
 * Return: its entries, each with a NUL, malloc'ed; NULL: it cannot be read. Context: allocates,
 * reads /proc.
 */
char *environment_read(int pid, size_t *size);

/** environment_value() - of the variable @name; NULL: it is not set. @environment may be NULL. */
const char *environment_value(const char *environment, size_t size, const char *name);

#endif
