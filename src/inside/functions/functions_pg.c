/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and exit of functions in programs that were built with -pg or -mfentry: the compiler calls
 * mcount(), _mcount() or __fentry__() at the begin of each function, and nothing at its end.
 *
 *   the stack                        its copy
 *   ...                              ...
 *   return address ──▶ landing       original return address
 *   ...                              ...
 *
 * The idea: the entry puts the address of `landing` in the place of the return address. When the
 * function returns, it comes there; landing records the exit, and goes on to the original address.
 * That is in the copy of the stack, at a constant distance from the place on the stack
 * (functions_returns.c). So nothing has to be searched, and there is no order that a long jump or
 * an exception could break: what these leave behind in the copy is never used.
 *
 * The constant distance is also what the unwinder needs: the unwind table of landing says that the
 * return address is there. So exceptions, pthread_exit(), cancellation, backtrace() and debuggers
 * pass through functions whose return address is replaced, and see the original callers.
 *
 * A function that ends with a jump to another one (a tail call) leaves landing as return address to
 * it: the first one ends where the second one begins.
 *
 * The code in assembler is that of the machine: functions_pg_x86_64.c, functions_pg_aarch64.c.
 */
#include "inside/functions/functions_pg.h"

#include "abi/points.h"
#include "inside/functions/functions_files.h"
#include "inside/functions/functions_returns.h"

static void put(enum kymo_point_id point, uintptr_t function, uintptr_t caller)
{
	const struct functions_call call = { function, caller };

	if (kymo_unlikely(kymo_enable_byte(point)) && kymo_guest_may_emit(&functions_guest, false))
		kymo_guest_emit(&functions_guest, point, &call, sizeof(call));
}

void kymo_pg_enter(uintptr_t at, uintptr_t *place, uintptr_t function)
{
	const uintptr_t landing = (uintptr_t)kymo_pg_landing;
	const bool is_tail = place && *place == landing;
	uintptr_t caller = place ? *place : 0;
	bool ends;

	if (!functions_pg_records())
		return;
	functions_know_file(&functions_guest, (const void *)function);
	if (is_tail) {
		caller = *functions_return_of(at);
		put(KYMO_POINT_func_exit, *functions_name_of(at), caller);
	}
	/* Before the event: the thread's first function does not take as long as the mapping. */
	ends = is_tail || (place && at % sizeof(at) == 0 && functions_has_copy(at));
	put(KYMO_POINT_func_entry, function, caller);
	if (!ends)
		return;
	*functions_return_of(at) = caller;
	*functions_name_of(at) = function;
	/* A signal handler may run between any two of these: its own places are elsewhere. */
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
	*place = landing;
}

uintptr_t kymo_pg_returned(uintptr_t at)
{
	const uintptr_t caller = *functions_return_of(at);

	put(KYMO_POINT_func_exit, *functions_name_of(at), caller);
	return caller;
}

#if !defined(__x86_64__) && !defined(__aarch64__)
void functions_pg_begin(void)
{
}
#endif
