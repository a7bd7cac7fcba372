/* SPDX-License-Identifier: Apache-2.0 */
/* What depends on x86-64: see attach_code.h. */
#if defined(__x86_64__)
#include "attach/attach_code.h"

#include <errno.h>
#include <string.h>

#include "abi/attach.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)
#define AT(name) TEXT(KYMO_ATTACH_AT_##name) "(%rbx)"

/*
 * The first part runs in a thread of the program: rbx is the block. It creates the new thread on
 * the stack of the block, keeps errno, and stops. The second part is the new thread.
 */
__asm__(".pushsection .rodata\n"
	".balign 16\n"
	".globl attach_code, attach_code_run, attach_code_end\n"
	"attach_code:\n"
	"	call *" AT(ERRNO) "\n"
	"	mov %rax, %r12\n"
	"	mov (%rax), %r13d\n"
	"	lea " AT(ATTRIBUTES) ", %rdi\n"
	"	call *" AT(INIT) "\n"
	"	lea " AT(ATTRIBUTES) ", %rdi\n"
	"	mov " AT(MEMORY) ", %rsi\n"
	"	mov " AT(BYTES) ", %rdx\n"
	"	call *" AT(STACK) "\n"
	"	lea " AT(ATTRIBUTES) ", %rdi\n"
	"	mov $1, %esi\n" /* PTHREAD_CREATE_DETACHED */
	"	call *" AT(DETACHED) "\n"
	"	lea " AT(THREAD) ", %rdi\n"
	"	lea " AT(ATTRIBUTES) ", %rsi\n"
	"	mov " AT(RUN) ", %rdx\n"
	"	mov %rbx, %rcx\n"
	"	call *" AT(CREATE) "\n"
	"	mov %eax, " AT(CREATED) "\n"
	"	mov %r13d, (%r12)\n"
	"	int3\n"
	"attach_code_run:\n"
	"	push %rbx\n"
	"	push %r12\n"
	"	sub $8, %rsp\n"
	"	mov %rdi, %rbx\n"
	"	mov $186, %eax\n" /* gettid */
	"	syscall\n"
	"	mov %eax, " AT(TID) "\n"
	"	mov " AT(ENTRY) ", %rax\n"
	"	test %rax, %rax\n"
	"	jnz 1f\n"
	"	lea " AT(LIBRARY) ", %rdi\n"
	"	mov $2, %esi\n" /* RTLD_NOW */
	"	call *" AT(DLOPEN) "\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"	mov %rax, %rdi\n"
	"	lea " AT(SYMBOL) ", %rsi\n"
	"	call *" AT(DLSYM) "\n"
	"	test %rax, %rax\n"
	"	jz 2f\n"
	"1:	mov %rbx, %rdi\n"
	"	call *%rax\n"
	"	movl $" TEXT(KYMO_ATTACH_ANSWERED) ", " AT(STATE) "\n"
	"	jmp 4f\n"
	"2:	call *" AT(DLERROR) "\n"
	"	test %rax, %rax\n"
	"	jz 3f\n"
	"	mov %rax, %rsi\n"
	"	lea " AT(TEXT) ", %rdi\n"
	"	mov $" TEXT(KYMO_ATTACH_TEXT_MAX) " - 1, %ecx\n"
	"5:	lodsb\n"
	"	stosb\n"
	"	test %al, %al\n"
	"	jz 3f\n"
	"	dec %ecx\n"
	"	jnz 5b\n"
	"3:	movl $" TEXT(KYMO_ATTACH_NOT_LOADED) ", " AT(STATE) "\n"
	"4:	add $8, %rsp\n"
	"	pop %r12\n"
	"	pop %rbx\n"
	"	xor %eax, %eax\n"
	"	ret\n"
	"attach_code_end:\n"
	".popsection\n");

uint64_t registers_pc(const struct registers *registers)
{
	return registers->general.rip;
}

uint64_t registers_sp(const struct registers *registers)
{
	return registers->general.rsp;
}

static bool behind_syscall(const uint8_t code[8])
{
	return code[2] == 0x0f && code[3] == 0x05;
}

long registers_call(const struct registers *registers, const uint8_t code[8])
{
	return (int64_t)registers->general.orig_rax >= 0 && behind_syscall(code)
		       ? (long)registers->general.orig_rax
		       : ATTACH_NO_CALL;
}

uint64_t registers_argument(const struct registers *registers, unsigned index)
{
	return index ? registers->general.rsi : registers->general.rdi;
}

void registers_interrupted(struct registers *registers)
{
	if ((int64_t)registers->general.rax != -EINTR)
		return;
	registers->general.rax = registers->general.orig_rax;
	registers->general.rip -= 2;
	registers->general.orig_rax = (uint64_t)-1;
}

void registers_set_call(struct registers *registers, uint64_t instruction, long number,
			const uint64_t argument[6])
{
	struct user_regs_struct *general = &registers->general;

	general->rip = instruction;
	general->rax = (uint64_t)number;
	general->orig_rax = (uint64_t)-1;
	general->rdi = argument[0];
	general->rsi = argument[1];
	general->rdx = argument[2];
	general->r10 = argument[3];
	general->r8 = argument[4];
	general->r9 = argument[5];
}

int64_t registers_result(const struct registers *registers)
{
	return (int64_t)registers->general.rax;
}

void registers_set_code(struct registers *registers, uint64_t code, uint64_t stack, uint64_t block)
{
	registers->general.rip = code;
	registers->general.rsp = stack & ~15ull;
	registers->general.rbp = 0;
	registers->general.rbx = block;
	registers->general.rax = 0;
	registers->general.orig_rax = (uint64_t)-1;
	registers->general.eflags &= ~0x400ull;	/* the direction flag: the ABI wants it clear */
}

/* E8 and four bytes, or FF /2 with any operand. */
bool code_is_call(const uint8_t before[8])
{
	if (before[3] == 0xe8)
		return true;
	for (unsigned length = 2; length <= 7; length++)
		if (before[8 - length] == 0xff && (before[9 - length] >> 3 & 7) == 2)
			return true;
	return false;
}

/* mov $15, %rax; syscall */
bool code_is_signal_return(const uint8_t code[12])
{
	static const uint8_t known[] = { 0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05 };

	return !memcmp(code, known, sizeof known);
}
#endif
