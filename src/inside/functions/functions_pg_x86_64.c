/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler calls at the begin of functions, and where they return to, on x86-64;
 * functions_pg.c.
 *
 * Arguments and results may be in any register that the calling convention has for them, so all of
 * these are saved.
 */
#ifdef __x86_64__

#include "inside/functions/functions_pg.h"

#include <cpuid.h>

#include "inside/functions/functions_returns.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

void kymo_pg_entered(uintptr_t *place, uintptr_t function)
	__attribute__((visibility("hidden"), used));

/* How wide the vector registers are: 0: xmm, 1: ymm, 2: ask the CPU which are in use. */
uint8_t kymo_pg_vectors __attribute__((visibility("hidden"), used));

/* @place: of the return address, which is the last word of the frame. */
void kymo_pg_entered(uintptr_t *place, uintptr_t function)
{
	kymo_pg_enter((uintptr_t)place, place, function);
}

/*
 * Save and restore vector registers 0 to 7, or 0 and 1, below the aligned stack pointer. Only as
 * wide as is in use: else each instruction for the lower halves alone, as compilers write them,
 * costs a hundred cycles from then on. That is asked once (xgetbv, which needs rax, rcx, rdx), and
 * kept in the word at @kept.
 */
#define VECTORS_8(move, insn) \
	move(0, insn) move(1, insn) move(2, insn) move(3, insn) \
	move(4, insn) move(5, insn) move(6, insn) move(7, insn)
#define VECTORS_2(move, insn) move(0, insn) move(1, insn)

#define SAVE_X(n, insn) insn " %xmm" #n ", " #n "*16(%rsp)\n"
#define LOAD_X(n, insn) insn " " #n "*16(%rsp), %xmm" #n "\n"
#define SAVE_Y(n, insn) insn " %ymm" #n ", " #n "*32(%rsp)\n"
#define LOAD_Y(n, insn) insn " " #n "*32(%rsp), %ymm" #n "\n"
#define SAVE_Z(n, insn) insn " %zmm" #n ", " #n "*64(%rsp)\n"
#define LOAD_Z(n, insn) insn " " #n "*64(%rsp), %zmm" #n "\n"

#define IN_USE_AVX "4"
#define IN_USE_AVX512 "0x40"

#define ASK_WIDTH(kept)                                \
	"movzbl kymo_pg_vectors(%rip), %eax\n"         \
	"shll $2, %eax\n" /* 1: IN_USE_AVX */          \
	"cmpl $8, %eax\n"                              \
	"jne 9f\n"                                     \
	"movl $1, %ecx\n"                              \
	"xgetbv\n"                                     \
	"9: movl %eax, " kept "(%rbp)\n"

/* @all: VECTORS_8 or VECTORS_2; @x, @y, @z: what to do with each. */
#define MOVE_VECTORS(kept, all, x, y, z)               \
	"testb $" IN_USE_AVX512 ", " kept "(%rbp)\n"   \
	"jnz 2f\n"                                     \
	"testb $" IN_USE_AVX ", " kept "(%rbp)\n"      \
	"jnz 1f\n"                                     \
	all(x, "movups") "jmp 3f\n"                    \
	"1:\n" all(y, "vmovups") "jmp 3f\n"           \
	"2:\n" all(z, "vmovups") "3:\n"

/* General registers: arguments, the number of vector arguments (rax), the static chain (r10), and
 * r11, which some thunks use. Results of functions are in rax and rdx, but some conventions
 * (preserve_most of clang) want all others to be kept. */
#define SAVE_GENERAL                                                                   \
	"pushq %rax\n pushq %rcx\n pushq %rdx\n pushq %rsi\n pushq %rdi\n"             \
	"pushq %r8\n pushq %r9\n pushq %r10\n pushq %r11\n"
#define LOAD_GENERAL                                                                   \
	"leaq -72(%rbp), %rsp\n"                                                       \
	"popq %r11\n popq %r10\n popq %r9\n popq %r8\n"                                \
	"popq %rdi\n popq %rsi\n popq %rdx\n popq %rcx\n popq %rax\n"                  \
	"popq %rbp\n"

#define ENTRY(name, find_place)                                                        \
	".globl " name "\n"                                                            \
	".type " name ", @function\n"                                                  \
	".p2align 4\n" name ":\n"                                                      \
	".cfi_startproc\n"                                                             \
	"pushq %rbp\n"                                                                 \
	".cfi_def_cfa_offset 16\n"                                                     \
	".cfi_offset %rbp, -16\n"                                                      \
	"movq %rsp, %rbp\n"                                                            \
	".cfi_def_cfa_register %rbp\n"                                                 \
	SAVE_GENERAL                                                                   \
	find_place                                                                     \
	"movq 8(%rbp), %rsi\n"                                                         \
	"subq $520, %rsp\n"                                                            \
	"andq $-64, %rsp\n"                                                            \
	ASK_WIDTH("-80")                                                               \
	MOVE_VECTORS("-80", VECTORS_8, SAVE_X, SAVE_Y, SAVE_Z)                         \
	"call kymo_pg_entered\n"                                                       \
	MOVE_VECTORS("-80", VECTORS_8, LOAD_X, LOAD_Y, LOAD_Z)                         \
	LOAD_GENERAL                                                                   \
	".cfi_def_cfa %rsp, 8\n"                                                       \
	"ret\n"                                                                        \
	".cfi_endproc\n"                                                               \
	".size " name ", .-" name "\n"

/*
 * mcount() is called behind "push %rbp; mov %rsp, %rbp", so the return address is above the frame
 * pointer; __fentry__() by the very first instruction, so it is the next one on the stack.
 *
 * landing begins with an instruction that never runs: unwinders look up the address before the one
 * to which a function returns. And its frame ends eight bytes above the place of the return
 * address, although it has nothing there: libgcc knows a frame by its end, which must not be that
 * of the function that returns.
 */
__asm__(".text\n"
	ENTRY("mcount", "movq (%rbp), %rdi\n addq $8, %rdi\n")
	ENTRY("_mcount", "movq (%rbp), %rdi\n addq $8, %rdi\n")
	ENTRY("__fentry__", "leaq 16(%rbp), %rdi\n")
	".p2align 4\n"
	".cfi_startproc\n"
	".cfi_def_cfa %rsp, 8\n"
	".cfi_escape 0x14, 7, 1\n" /* .cfi_val_offset %rsp, -8, which older clangs do not have */
	".cfi_offset %rip, -16 - " TEXT(FUNCTIONS_RETURN_BELOW) "\n"
	"nop\n"
	".hidden kymo_pg_landing\n"
	".globl kymo_pg_landing\n"
	"kymo_pg_landing:\n"
	"subq $8, %rsp\n"
	".cfi_def_cfa_offset 16\n"
	"pushq %rbp\n"
	".cfi_def_cfa_offset 24\n"
	".cfi_offset %rbp, -24\n"
	"movq %rsp, %rbp\n"
	".cfi_def_cfa_register %rbp\n"
	SAVE_GENERAL
	"leaq 8(%rbp), %rdi\n"
	"subq $136, %rsp\n"
	"andq $-64, %rsp\n"
	ASK_WIDTH("-80")
	MOVE_VECTORS("-80", VECTORS_2, SAVE_X, SAVE_Y, SAVE_Z)
	"call kymo_pg_returned\n"
	"movq %rax, 8(%rbp)\n"
	MOVE_VECTORS("-80", VECTORS_2, LOAD_X, LOAD_Y, LOAD_Z)
	LOAD_GENERAL
	".cfi_def_cfa %rsp, 16\n"
	".cfi_restore %rbp\n"
	"ret\n"
	".cfi_endproc\n");

/* Can it be asked which registers are in use (xgetbv with 1)? */
static bool can_ask(void)
{
	unsigned a = 0, b, c, d;

	return __get_cpuid_count(0xd, 1, &a, &b, &c, &d) && a & 1u << 2;
}

void functions_pg_begin(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx"))
		kymo_pg_vectors = can_ask() ? 2 : 1;
}

#endif
