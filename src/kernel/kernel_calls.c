/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls. The kernel has one event for the entry of any call and one for the exit, with the number of the call. The trace has
 * events of each call, as LTTng's, with ids after those of the table: entry, exit, entry of the next call, ...
 */
#include "base/syscalls.h"
#include "kernel/kernel_format.h"

#define NUMBER_FIELD 0		/* of both, the first */
#define NUMBER_SIZE 4u		/* in the trace */

bool calls_is_one(unsigned event)
{
	return event == KEVENT_ID_syscall_entry_unknown || event == KEVENT_ID_syscall_exit_unknown;
}

unsigned calls_id(unsigned number, bool exit)
{
	return KEVENT_ID_COUNT + 2 * number + exit;
}

unsigned calls_class(unsigned event, const struct kformat *format, const struct krecord *record, unsigned *skip)
{
	const int64_t number = record_integer(record, &format->place[NUMBER_FIELD]);

	*skip = 0;
	if (!calls_is_one(event) || !syscall_name(number))
		return event;
	*skip = NUMBER_SIZE;
	return calls_id((unsigned)number, event == KEVENT_ID_syscall_exit_unknown);
}

void calls_leave_out(struct kformat *format)
{
	format[KEVENT_ID_syscall_entry_unknown].id = 0;
	format[KEVENT_ID_syscall_exit_unknown].id = 0;
}
