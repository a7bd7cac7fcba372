/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls of this machine by number, from <asm/unistd.h> when it was built, with the names that LTTng gives them:
 * those of the kernel's functions, so that stat(2) is newstat.
 *
 * Context: any thread; nothing allocates or blocks.
 */
#ifndef KYMO_BASE_SYSCALLS_H
#define KYMO_BASE_SYSCALLS_H

#include <stdint.h>

/** syscall_count() - all numbers are below; some below may be none. */
unsigned syscall_count(void);

/** syscall_name() - of number @number. Return: NULL: it is none that was known when this was built. */
const char *syscall_name(int64_t number);

/** syscall_number() - of @name, as syscall_name() has it. Return: -1: there is none. */
int64_t syscall_number(const char *name);

#endif
