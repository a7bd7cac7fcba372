/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Entry and exit of functions, in programs that were built with -finstrument-functions: the
 * compiler calls the two functions of this file at the begin and end of each function. For -pg see
 * functions_pg.c. Names and fields of the events are those of LTTng's
 * liblttng-ust-cyg-profile.so.
 *
 * An address has a name only together with the file that it belongs to. So before the first
 * function of a file is recorded, the init log gets the fact where that file was loaded;
 * functions_files.c.
 *
 * Context: that of the traced function, and of kymo__reserve(): wait-free but for a thread's first
 * event and the first function of a file.
 */
#include "abi/points.h"
#include "inside/functions/functions_files.h"
#include "inside/functions/functions_pg.h"
#include "inside/tracer/tracer_guest.h"

__thread struct kymo_guest functions_guest;

KYMO_EXPORT void __cyg_profile_func_enter(void *function, void *site);
KYMO_EXPORT void __cyg_profile_func_exit(void *function, void *site);

KYMO_EXPORT void __cyg_profile_func_enter(void *function, void *site)
{
	const struct functions_call call = { (uintptr_t)function, (uintptr_t)site };

	if (!kymo_unlikely(kymo_enable_byte(KYMO_POINT_func_entry)) ||
	    !kymo_guest_may_emit(&functions_guest, false))
		return;
	functions_know_file(&functions_guest, function);
	kymo_guest_emit(&functions_guest, KYMO_POINT_func_entry, &call, sizeof(call));
}

KYMO_EXPORT void __cyg_profile_func_exit(void *function, void *site)
{
	const struct functions_call call = { (uintptr_t)function, (uintptr_t)site };

	if (kymo_unlikely(kymo_enable_byte(KYMO_POINT_func_exit)) &&
	    kymo_guest_may_emit(&functions_guest, false))
		kymo_guest_emit(&functions_guest, KYMO_POINT_func_exit, &call, sizeof(call));
}

KYMO_GUEST_CHECKS_LAYOUT()

/* A program that was started with this library is traced even if it has no other events: the fact
 * about its file registers it. */
__attribute__((constructor(102))) static void load(void)
{
	functions_pg_begin();
	functions_begin(&functions_guest);
}
