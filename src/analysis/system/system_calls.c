/* SPDX-License-Identifier: Apache-2.0 */
/* System calls, by thread; see system_calls.h. */
#include "analysis/system/system_calls.h"
#include "base/array.h"

#include <string.h>

struct calls_thread {
	struct system_call call;		/* the call that the thread is in */
	bool in_call;
};

struct calls_loss {
	bool is_known;
	int64_t to_ns;
};

enum { ENTRY, EXIT, COMPAT_ENTRY, COMPAT_EXIT };
enum { TID, RET };
static const struct kymo_ctf_bind wanted[] = {
	[ENTRY] = { "syscall_entry_*", { "tid" } },
	[EXIT] = { "syscall_exit_*", { "tid", "ret" } },
	[COMPAT_ENTRY] = { "compat_syscall_entry_*", { "tid" } },	/* LTTng's, of 32-bit programs */
	[COMPAT_EXIT] = { "compat_syscall_exit_*", { "tid", "ret" } },
};
#define WANTED (COUNT_OF(wanted))

void calls_init(struct calls *calls, void (*take)(void *context, const struct system_call *call),
		void *context)
{
	*calls = (struct calls){ .take = take, .context = context };
}

void calls_free(struct calls *calls)
{
	map_free_all(&calls->threads);
	map_free_all(&calls->lost_to);
}

const struct kymo_ctf_bind *calls_bind(unsigned *count)
{
	*count = WANTED;
	return wanted;
}

static size_t prefix_of(unsigned row)
{
	return strlen(wanted[row].event) - strlen("*");
}

bool calls_are_there(const struct kymo_ctf_reader *reader)
{
	for (unsigned row = 0; row < WANTED; row++)
		if (reader_declares(reader, wanted[row].event))
			return true;
	return false;
}

static struct calls_thread *thread_of(struct calls *calls, uint32_t host, int32_t tid)
{
	struct calls_thread *thread =
		tid > 0 ? map_at(&calls->threads, (uint32_t)tid, host, sizeof(*thread)) : NULL;

	calls->failed |= tid > 0 && !thread;
	return thread;
}

static void tell(struct calls *calls, struct calls_thread *thread, int64_t ns)
{
	thread->call.told_ns = ns;
	if (thread->in_call)
		calls->take(calls->context, &thread->call);
	thread->in_call = false;
}

void calls_entry(struct calls *calls, uint32_t host, int32_t tid, int64_t ns, const char *name)
{
	struct calls_thread *thread = thread_of(calls, host, tid);

	if (!thread)
		return;
	tell(calls, thread, ns);
	thread->in_call = true;
	thread->call = (struct system_call){ .host = host,
					     .tid = tid,
					     .name = name,
					     .start_ns = ns,
					     .end_ns = ns,
					     .is_begun = true };
}

/* Did a loss of events of @trace end at @from_ns or later? */
static bool was_loss(const struct calls *calls, uint32_t trace, int64_t from_ns)
{
	const struct calls_loss *loss = map_get(&calls->lost_to, trace, 0);

	return loss && loss->to_ns >= from_ns;
}

/*
 * Does an exit @name end @call? A return from a signal handler has no number any more when it ends:
 * x86 gives the program's registers back, and the kernel reports the exit of no call.
 */
static bool is_end_of(const struct system_call *call, const char *name)
{
	return strcmp(call->name, name) == 0 ||
	       (strcmp(name, "unknown") == 0 && strcmp(call->name, "rt_sigreturn") == 0);
}

void calls_exit(struct calls *calls, uint32_t host, int32_t tid, uint32_t trace, int64_t ns,
		const char *name, int64_t ret)
{
	struct calls_thread *thread = thread_of(calls, host, tid);
	struct system_call *call = thread ? &thread->call : NULL;

	if (!call)
		return;
	if (!thread->in_call || !is_end_of(call, name) || ns < call->start_ns) {
		tell(calls, thread, ns);
		*call = (struct system_call){
			.host = host, .tid = tid, .name = name, .start_ns = ns, .end_ns = ns,
			.is_ended = true,
		};
		thread->in_call = true;
	} else if (ns - call->start_ns <= CALLS_SURE_NS ||
		   !was_loss(calls, trace, call->start_ns)) {
		call->end_ns = ns;
		call->is_ended = true;
	}
	call->ret = ret;
	call->has_ret = true;
	tell(calls, thread, ns);
}

void calls_lost(struct calls *calls, uint32_t trace, int64_t to_ns)
{
	struct calls_loss *loss = map_at(&calls->lost_to, trace, 0, sizeof(*loss));

	calls->failed |= !loss;
	if (!loss)
		return;
	if (!loss->is_known || to_ns > loss->to_ns)
		loss->to_ns = to_ns;
	loss->is_known = true;
}

/*
 * A loss is reported at the begin of the packet that reveals it; the lost events may be as late as
 * the end of that packet.
 */
static void on_loss(struct calls *calls, const struct kymo_ctf_event *event)
{
	int64_t after;

	if (__builtin_sub_overflow(event->loss_end_ns, event->clock_ns, &after) || after < 0 ||
	    __builtin_add_overflow(event->ns, after, &after))
		after = event->ns;
	calls_lost(calls, event->trace, after);
}

int calls_event(struct calls *calls, const struct kymo_ctf_event *event, unsigned first,
		uint32_t host, int32_t on_cpu)
{
	const struct kymo_ctf_value *value = event->value;
	const char *name;
	int32_t tid;
	unsigned row;

	if (event->bound == KYMO_CTF_LOSS)
		on_loss(calls, event);
	if (event->bound < 0 || (unsigned)event->bound < first ||
	    (unsigned)event->bound - first >= WANTED)
		return calls->failed ? -1 : 0;
	row = (unsigned)event->bound - first;
	name = event->class->name + prefix_of(row);
	tid = value[TID].present ? (int32_t)value[TID].i : event->vtid > 0 ? event->vtid : on_cpu;
	if (row == ENTRY || row == COMPAT_ENTRY)
		calls_entry(calls, host, tid, event->ns, name);
	else
		calls_exit(calls, host, tid, event->trace, event->ns, name,
			   value[RET].present ? value[RET].i : 0);
	return calls->failed ? -1 : 0;
}

void calls_finish(struct calls *calls)
{
	const struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&calls->threads, &at));)
		tell(calls, slot->value, INT64_MAX);
}
