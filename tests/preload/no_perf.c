/* SPDX-License-Identifier: Apache-2.0 */
/*
 * LD_PRELOAD: perf_event_open(2) as a user has it who may do less. KYMO_TEST_PERF=none: nothing, as
 * with kernel.perf_event_paranoid of 3 on Debian; user: without the kernel's part, as with 2.
 */
#include <dlfcn.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#define ARGUMENTS 6

static bool is_refused(const struct perf_event_attr *attr)
{
	const char *may = getenv("KYMO_TEST_PERF");

	return may && (strcmp(may, "none") == 0 || !attr->exclude_kernel);
}

long syscall(long number, ...)
{
	static long (*next)(long, ...);
	long argument[ARGUMENTS];
	va_list list;

	va_start(list, number);
	for (unsigned i = 0; i < ARGUMENTS; i++)
		argument[i] = va_arg(list, long);
	va_end(list);
	if (number == SYS_perf_event_open &&
	    is_refused((const struct perf_event_attr *)(uintptr_t)argument[0])) {
		errno = EACCES;
		return -1;
	}
	if (!next)
		*(void **)&next = dlsym(RTLD_NEXT, "syscall");
	return next(number, argument[0], argument[1], argument[2], argument[3], argument[4],
		    argument[5]);
}
