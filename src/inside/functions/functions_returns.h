/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where functions that were built with -pg or -mfentry return to: a copy of each thread's stack,
 * at a constant distance, that has the return addresses which functions_pg.c has replaced.
 */
#ifndef KYMO_FUNCTIONS_RETURNS_H
#define KYMO_FUNCTIONS_RETURNS_H

#include <stdbool.h>
#include <stdint.h>

/* Literal, because assembler reads them, too: bytes from the last word of a function's frame down
 * to its original return address, and down to the address of the function. On aarch64, a process
 * may have 512 GiB of addresses in all. */
#ifdef __aarch64__
#define FUNCTIONS_RETURN_BELOW 0x2000000000
#define FUNCTIONS_NAME_BELOW 0x4000000000
#else
#define FUNCTIONS_RETURN_BELOW 0x200000000000
#define FUNCTIONS_NAME_BELOW 0x400000000000
#endif

/* The part of this thread's stack that has a copy. */
struct functions_stack {
	uintptr_t begin, end;
	bool is_known; /* it was looked for; without a copy, begin is end */
};

extern __thread struct functions_stack functions_stack;

/** functions_find_stack() - the slow path of functions_has_copy(). Context: system calls; waits for
 * other threads that begin, for a second at most; no cancellation point, no memory of libc. */
void functions_find_stack(uintptr_t address);

/** functions_has_copy() - does the place @address on the stack have a copy? Context: wait-free but
 * for the first call of a thread. */
static inline bool functions_has_copy(uintptr_t address)
{
	if (!functions_stack.is_known)
		functions_find_stack(address);
	return address >= functions_stack.begin && address < functions_stack.end;
}

/** functions_stacks_in_child() - after fork(), in the child: the thread that had the lock may not
 * be there. */
void functions_stacks_in_child(void);

static inline uintptr_t *functions_return_of(uintptr_t address)
{
	return (uintptr_t *)(address - FUNCTIONS_RETURN_BELOW);
}

static inline uintptr_t *functions_name_of(uintptr_t address)
{
	return (uintptr_t *)(address - FUNCTIONS_NAME_BELOW);
}

#endif
