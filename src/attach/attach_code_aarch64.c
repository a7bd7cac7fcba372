/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What depends on aarch64: see attach_code.h. Compiled, and its code disassembled; not run: the
 * emulator has no ptrace.
 */
#if defined(__aarch64__)
#include "attach/attach_code.h"

#include <errno.h>
#include <string.h>

#include "abi/attach.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define AT(name) "[x19, #" TEXT(KYMO_ATTACH_AT_##name) "]"
#define CALL(name) "	ldr x9, " AT(name) "\n	blr x9\n"
#define ADDRESS(register, name) "	add " register ", x19, #" TEXT(KYMO_ATTACH_AT_##name) "\n"

/* As on x86-64; the block is in x19. */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".globl attach_code, attach_code_run, attach_code_end\n"
	"attach_code:\n"
	CALL(ERRNO)
	"	mov x20, x0\n"
	"	ldr w21, [x0]\n"
	ADDRESS("x0", ATTRIBUTES)
	CALL(INIT)
	ADDRESS("x0", ATTRIBUTES)
	"	ldr x1, " AT(MEMORY) "\n"
	"	ldr x2, " AT(BYTES) "\n"
	CALL(STACK)
	ADDRESS("x0", ATTRIBUTES)
	"	mov w1, #1\n"
	CALL(DETACHED)
	ADDRESS("x0", THREAD)
	ADDRESS("x1", ATTRIBUTES)
	"	ldr x2, " AT(RUN) "\n"
	"	mov x3, x19\n"
	CALL(CREATE)
	"	str w0, " AT(CREATED) "\n"
	"	str w21, [x20]\n"
	"	brk #0\n"
	"attach_code_run:\n"
	"	stp x29, x30, [sp, #-32]!\n"
	"	mov x29, sp\n"
	"	str x19, [sp, #16]\n"
	"	mov x19, x0\n"
	"	mov x8, #178\n" /* gettid */
	"	svc #0\n"
	"	str w0, " AT(TID) "\n"
	"	ldr x9, " AT(ENTRY) "\n"
	"	cbnz x9, 1f\n"
	ADDRESS("x0", LIBRARY)
	"	mov w1, #2\n"
	CALL(DLOPEN)
	"	cbz x0, 2f\n"
	ADDRESS("x1", SYMBOL)
	CALL(DLSYM)
	"	cbz x0, 2f\n"
	"	mov x9, x0\n"
	"1:	mov x0, x19\n"
	"	blr x9\n"
	"	mov w1, #" TEXT(KYMO_ATTACH_ANSWERED) "\n"
	"	b 4f\n"
	"2:\n"
	CALL(DLERROR)
	"	cbz x0, 3f\n"
	ADDRESS("x2", TEXT)
	"	mov w3, #" TEXT(KYMO_ATTACH_TEXT_MAX) " - 1\n"
	"5:	ldrb w4, [x0], #1\n"
	"	strb w4, [x2], #1\n"
	"	cbz w4, 3f\n"
	"	subs w3, w3, #1\n"
	"	b.ne 5b\n"
	"3:	mov w1, #" TEXT(KYMO_ATTACH_NOT_LOADED) "\n"
	"4:	add x2, x19, #" TEXT(KYMO_ATTACH_AT_STATE) "\n"
	"	stlr w1, [x2]\n"
	"	mov x0, #0\n"
	"	ldr x19, [sp, #16]\n"
	"	ldp x29, x30, [sp], #32\n"
	"	ret\n"
	"attach_code_end:\n"
	".popsection\n");

#define SVC 0xd4000001u

static uint32_t word_at(const uint8_t *code)
{
	uint32_t word;

	memcpy(&word, code, sizeof word);
	return word;
}

uint64_t registers_pc(const struct registers *registers)
{
	return registers->general.pc;
}

uint64_t registers_sp(const struct registers *registers)
{
	return registers->general.sp;
}

/*
 * The kernel has moved pc back to the call that it will make again; a call that has returned is
 * before pc.
 */
long registers_call(const struct registers *registers, const uint8_t code[8])
{
	return word_at(code) == SVC || word_at(code + 4) == SVC ? (long)registers->general.regs[8]
								: ATTACH_NO_CALL;
}

uint64_t registers_argument(const struct registers *registers, unsigned index)
{
	return registers->general.regs[index];
}

/*
 * x0 holds the result, so the first argument is lost: the program sees EINTR, as below a debugger.
 */
void registers_interrupted(struct registers *registers)
{
	(void)registers;
}

void registers_set_call(struct registers *registers, uint64_t instruction, long number,
			const uint64_t argument[6])
{
	registers->general.pc = instruction;
	registers->general.regs[8] = (uint64_t)number;
	for (unsigned i = 0; i < 6; i++)
		registers->general.regs[i] = argument[i];
}

int64_t registers_result(const struct registers *registers)
{
	return (int64_t)registers->general.regs[0];
}

void registers_set_code(struct registers *registers, uint64_t code, uint64_t stack, uint64_t block)
{
	registers->general.pc = code;
	registers->general.sp = stack & ~15ull;
	registers->general.regs[29] = 0;
	registers->general.regs[30] = 0;
	registers->general.regs[19] = block;
}

/* bl, or blr */
bool code_is_call(const uint8_t before[8])
{
	const uint32_t word = word_at(before + 4);

	return word >> 26 == 0x25 || (word & 0xfffffc1fu) == 0xd63f0000u;
}

/* mov x8, #139; svc #0: in the vDSO */
bool code_is_signal_return(const uint8_t code[12])
{
	return word_at(code) == 0xd2801168u && word_at(code + 4) == SVC;
}
#endif
