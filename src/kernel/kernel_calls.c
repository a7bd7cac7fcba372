/* SPDX-License-Identifier: Apache-2.0 */
/*
 * System calls. The kernel has one event for all of them that begin and one for all that end, with the number; in the trace they are
 * events of each call, as LTTng's, numbered behind those of the table: entry, exit, entry of the next one, ...
 */
#include "base/syscalls.h"
#include "kernel/kernel_internal.h"

#define NUMBER_FIELD 0		/* of both, the first */
#define NUMBER_SIZE 4u		/* in the trace */

bool calls_is_one(unsigned event)
{
	return event == KEVENT_ID_syscall_entry_unknown || event == KEVENT_ID_syscall_exit_unknown;
}

unsigned calls_class(unsigned event, const struct kformat *format, const struct krecord *record, unsigned *skip)
{
	const int64_t number = record_integer(record, &format->place[NUMBER_FIELD]);

	*skip = 0;
	if (!calls_is_one(event) || !syscall_name(number))
		return event;
	*skip = NUMBER_SIZE;
	return KEVENT_ID_COUNT + 2 * (unsigned)number + (event == KEVENT_ID_syscall_exit_unknown);
}

void calls_metadata(FILE *out, unsigned stream)
{
	char name[80];

	for (unsigned i = 0; i < syscall_count(); i++) {
		if (!syscall_name(i))
			continue;
		(void)snprintf(name, sizeof(name), "syscall_entry_%s", syscall_name(i));
		trace_put_event(out, stream, KEVENT_ID_COUNT + 2 * i, name, kevents[KEVENT_ID_syscall_entry_unknown].field + 1);
		(void)snprintf(name, sizeof(name), "syscall_exit_%s", syscall_name(i));
		trace_put_event(out, stream, KEVENT_ID_COUNT + 2 * i + 1, name, kevents[KEVENT_ID_syscall_exit_unknown].field + 1);
	}
}

void calls_leave_out(struct kformat *format)
{
	format[KEVENT_ID_syscall_entry_unknown].id = 0;
	format[KEVENT_ID_syscall_exit_unknown].id = 0;
}
