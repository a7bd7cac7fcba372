/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The machine code for page 0 of the scratch (abi/attach.h), and the registers of a stopped thread.
 * Private to src/attach.
 *
 * Context of all functions: they only read and change their arguments; no system call.
 */
#ifndef KYMO_ATTACH_CODE_H
#define KYMO_ATTACH_CODE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/user.h>

#define ATTACH_VECTORS_MAX 16384 /* bytes of the vector registers, with the widest of x86 */

/* All registers of a stopped thread, and its signal mask. */
struct registers {
	struct user_regs_struct general;
	size_t vectors_size;
	uint8_t vectors[ATTACH_VECTORS_MAX];
	uint64_t mask;
};

extern const uint8_t attach_code[], attach_code_run[], attach_code_end[];

/* Offsets in the code: where a thread of the program begins, and the instruction at which it stops
 * again. */
#define ATTACH_CODE_SIZE ((size_t)(attach_code_end - attach_code))
#define ATTACH_CODE_RUN ((size_t)(attach_code_run - attach_code))

/* ---- the parts that depend on the machine ---- */

#define ATTACH_NO_CALL (-1L)

uint64_t registers_pc(const struct registers *registers);
uint64_t registers_sp(const struct registers *registers);

/** registers_call() - the system call in which the thread was stopped; ATTACH_NO_CALL: in none.
 * @code: the 8 bytes around pc - 4. */
long registers_call(const struct registers *registers, const uint8_t code[8]);

/** registers_argument() - argument @index, 0 or 1, of that system call. */
uint64_t registers_argument(const struct registers *registers, unsigned index);

/** registers_interrupted() - the call returned EINTR only because we stopped the thread: let it be
 * made again. */
void registers_interrupted(struct registers *registers);

/** registers_set_call() - make the system call @number at @instruction. */
void registers_set_call(struct registers *registers, uint64_t instruction, long number,
			const uint64_t argument[6]);

/** registers_result() - what a system call returned. */
int64_t registers_result(const struct registers *registers);

/** registers_set_code() - run the code at @code on the stack below @stack, with @block. */
void registers_set_code(struct registers *registers, uint64_t code, uint64_t stack, uint64_t block);

/** code_is_call() - do the 8 bytes before a return address end with an instruction that calls? */
bool code_is_call(const uint8_t before[8]);

/** code_is_signal_return() - do the bytes begin the code to which a signal handler returns? */
bool code_is_signal_return(const uint8_t code[12]);

#endif
