/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of this machine by number, from <asm/unistd.h> at build time. Names are those of
 * LTTng, which are the kernel's functions: stat(2) is newstat.
 *
 * Context: any thread; nothing allocates or blocks.
 */
#ifndef KYMO_BASE_SYSCALLS_H
#define KYMO_BASE_SYSCALLS_H

#include <stdint.h>

/** syscall_count() - all numbers are below it; not every number below it is a system call. */
unsigned syscall_count(void);

/** syscall_name() - the name of system call @number. Return: NULL: unknown at build time. */
const char *syscall_name(int64_t number);

/** syscall_number() - the number of @name, as syscall_name() spells it. Return: -1: there is no
 * such system call. */
int64_t syscall_number(const char *name);

#endif
