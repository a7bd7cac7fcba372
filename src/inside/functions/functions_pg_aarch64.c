/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the compiler calls at the begin of functions, and where they return to, on aarch64;
 * functions_pg.c.
 *
 * A function calls _mcount() when it has set up its frame, and has saved its arguments as before
 * any call. It keeps its return address where it wants in its frame; the unwind table says where,
 * and where the frame ends (functions_frames.c). The end is where the stack pointer is when the
 * function has returned: so `landing` finds the original address from there.
 *
 * A return address that is signed (pointer authentication) is not replaced: the function would
 * refuse to return to another one. A CPU without such signatures ignores the instructions.
 */
#ifdef __aarch64__

#include "inside/functions/functions_pg.h"

#include <sys/auxv.h>

#include "inside/functions/functions_frames.h"
#include "inside/functions/functions_returns.h"

#define TEXT_(x) #x
#define TEXT(x) TEXT_(x)

#define CPU_HAS_SIGNATURES (1ul << 30) /* HWCAP_PACA */
#define CPU_HAS_SVE (1ul << 22)

void kymo_pg_called(uintptr_t function, uintptr_t sp, uintptr_t x29)
	__attribute__((visibility("hidden"), used));

static bool signs;

/* Have the vector registers more than 16 bytes? */
uint8_t kymo_pg_scalable __attribute__((visibility("hidden"), used));

void kymo_pg_called(uintptr_t function, uintptr_t sp, uintptr_t x29)
{
	struct functions_frame frame;
	uintptr_t end;

	if (!functions_pg_records())
		return;
	frame = functions_find_frame(function);
	end = (frame.from_x29 ? x29 : sp) + (uintptr_t)(int64_t)frame.end;
	kymo_pg_enter(end - sizeof(end),
		      frame.is_known && !(frame.is_signed && signs)
			      ? (uintptr_t *)(end + (uintptr_t)(int64_t)frame.place)
			      : NULL,
		      function);
}

/*
 * landing begins with an instruction that never runs: unwinders look up the address before the one
 * to which a function returns. And its frame ends 16 bytes above the end of the function that
 * returns, although it has nothing there: libgcc knows a frame by its end, which must not be that
 * of the function.
 *
 * Results are in x0 to x8 and v0 to v7, with SVE also in all of z0 to z7 and p0 to p3; some
 * conventions (preserve_most of clang) want x9 to x15 to be kept, too.
 */
__asm__(".text\n"
	".arch armv8-a+sve\n"
	".globl _mcount\n"
	".type _mcount, %function\n"
	".p2align 4\n"
	"_mcount:\n"
	".cfi_startproc\n"
	"mov x0, x30\n"
	"mov x1, sp\n"
	"mov x2, x29\n"
	"b kymo_pg_called\n"
	".cfi_endproc\n"
	".size _mcount, .-_mcount\n"

	".p2align 4\n"
	".cfi_startproc\n"
	".cfi_def_cfa sp, 16\n"
	".cfi_escape 0x14, 31, 2\n" /* val_offset of sp: -16 */
	".cfi_offset x30, -24 - " TEXT(
		FUNCTIONS_RETURN_BELOW) "\n"
					"nop\n"
					".hidden kymo_pg_landing\n"
					".globl kymo_pg_landing\n"
					"kymo_pg_landing:\n"
					"stp x29, x30, [sp, #-288]!\n"
					".cfi_def_cfa_offset 304\n"
					".cfi_offset x29, -304\n"
					"mov x29, sp\n"
					".cfi_def_cfa x29, 304\n"
					"stp x0, x1, [sp, #16]\n"
					"stp x2, x3, [sp, #32]\n"
					"stp x4, x5, [sp, #48]\n"
					"stp x6, x7, [sp, #64]\n"
					"stp x8, x9, [sp, #80]\n"
					"stp x10, x11, [sp, #96]\n"
					"stp x12, x13, [sp, #112]\n"
					"stp x14, x15, [sp, #128]\n"
					"str x18, [sp, #144]\n"
					"adrp x9, kymo_pg_scalable\n"
					"ldrb w9, [x9, #:lo12:kymo_pg_scalable]\n"
					"str x9, [sp, #152]\n"
					"cbnz w9, 1f\n"
					"stp q0, q1, [sp, #160]\n"
					"stp q2, q3, [sp, #192]\n"
					"stp q4, q5, [sp, #224]\n"
					"stp q6, q7, [sp, #256]\n"
					"b 2f\n"
					"1: addvl sp, sp, #-9\n"
					"str z0, [sp, #0, mul vl]\n str z1, [sp, #1, mul vl]\n"
					"str z2, [sp, #2, mul vl]\n str z3, [sp, #3, mul vl]\n"
					"str z4, [sp, #4, mul vl]\n str z5, [sp, #5, mul vl]\n"
					"str z6, [sp, #6, mul vl]\n str z7, [sp, #7, mul vl]\n"
					"str p0, [sp, #64, mul vl]\n str p1, [sp, #65, mul vl]\n"
					"str p2, [sp, #66, mul vl]\n str p3, [sp, #67, mul vl]\n"
					"2: add x0, x29, #280\n"
					"bl kymo_pg_returned\n"
					"mov x30, x0\n"
					"ldr x9, [x29, #152]\n"
					"cbnz w9, 3f\n"
					"ldp q0, q1, [sp, #160]\n"
					"ldp q2, q3, [sp, #192]\n"
					"ldp q4, q5, [sp, #224]\n"
					"ldp q6, q7, [sp, #256]\n"
					"b 4f\n"
					"3: ldr z0, [sp, #0, mul vl]\n ldr z1, [sp, #1, mul vl]\n"
					"ldr z2, [sp, #2, mul vl]\n ldr z3, [sp, #3, mul vl]\n"
					"ldr z4, [sp, #4, mul vl]\n ldr z5, [sp, #5, mul vl]\n"
					"ldr z6, [sp, #6, mul vl]\n ldr z7, [sp, #7, mul vl]\n"
					"ldr p0, [sp, #64, mul vl]\n ldr p1, [sp, #65, mul vl]\n"
					"ldr p2, [sp, #66, mul vl]\n ldr p3, [sp, #67, mul vl]\n"
					"mov sp, x29\n"
					"4: ldp x0, x1, [sp, #16]\n"
					"ldp x2, x3, [sp, #32]\n"
					"ldp x4, x5, [sp, #48]\n"
					"ldp x6, x7, [sp, #64]\n"
					"ldp x8, x9, [sp, #80]\n"
					"ldp x10, x11, [sp, #96]\n"
					"ldp x12, x13, [sp, #112]\n"
					"ldp x14, x15, [sp, #128]\n"
					"ldr x18, [sp, #144]\n"
					".cfi_def_cfa sp, 304\n"
					"ldr x29, [sp]\n"
					".cfi_restore x29\n"
					"add sp, sp, #288\n"
					".cfi_def_cfa sp, 16\n"
					"ret\n"
					".cfi_endproc\n");

void functions_pg_begin(void)
{
	const unsigned long has = getauxval(AT_HWCAP);

	signs = has & CPU_HAS_SIGNATURES;
	kymo_pg_scalable = has & CPU_HAS_SVE ? 1 : 0;
}

#endif
