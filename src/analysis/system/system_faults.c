/* SPDX-License-Identifier: Apache-2.0 */
/* Page faults, by thread; see system_faults.h. */
#include "analysis/system/system_faults.h"
#include "base/array.h"

/* A longer time between two faults contains other work. */
#define AROUND_MAX_NS 3000
#define AROUND_QUANTILE 0.25

struct faults_thread {
	struct fault fault;		/* the fault that the thread is in */
	bool in_fault;
	int64_t over_ns;		/* end of its latest fault; 0: none yet, or unknown */
};

void faults_init(struct faults *faults, void (*take)(void *context, const struct fault *fault),
		 void *context)
{
	*faults = (struct faults){ .take = take, .context = context};
}

void faults_free(struct faults *faults)
{
	map_free_all(&faults->threads);
	map_free(&faults->latest);
	histogram_free(&faults->around);
}

enum { ENTRY, MINOR, MAJOR };
static const struct kymo_ctf_bind wanted[] = {
	[ENTRY] = { "x86_exceptions_page_fault_user", { "address", "tid" } },
	[MINOR] = { "minor-faults", { "address" } },
	[MAJOR] = { "major-faults", { "address" } },
};

const struct kymo_ctf_bind *faults_bind(unsigned *count)
{
	*count = COUNT_OF(wanted);
	return wanted;
}

static struct faults_thread *thread_of(struct faults *faults, uint32_t host, int32_t tid)
{
	struct faults_thread *thread =
		tid > 0 ? map_at(&faults->threads, (uint32_t)tid, host, sizeof(*thread)) : NULL;

	faults->failed |= tid > 0 && !thread;
	if (thread) {
		thread->fault.host = host;
		thread->fault.tid = tid;
	}
	return thread;
}

static void tell(struct faults *faults, struct faults_thread *thread)
{
	if (thread->in_fault)
		faults->take(faults->context, &thread->fault);
	thread->in_fault = false;
}

static void begin(struct faults_thread *thread, int64_t ns, uint64_t address)
{
	struct fault *fault = &thread->fault;

	fault->start_ns = fault->end_ns = ns;
	fault->address = address;
	fault->is_handled = fault->is_major = false;
	thread->in_fault = true;
}

void faults_entry(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns,
		  uint64_t address)
{
	struct faults_thread *thread = thread_of(faults, host, tid);

	if (!thread)
		return;
	if (cpu >= 0 && map_put(&faults->latest, (uint32_t)cpu, host, (void *)(intptr_t)tid))
		faults->failed = true;
	tell(faults, thread);
	if (thread->over_ns && ns > thread->over_ns && ns - thread->over_ns <= AROUND_MAX_NS &&
	    histogram_add(&faults->around, (uint64_t)(ns - thread->over_ns)))
		faults->failed = true;
	thread->over_ns = 0;
	begin(thread, ns, address);
}

void faults_handled(struct faults *faults, uint32_t host, int32_t cpu, int32_t tid, int64_t ns,
		    uint64_t address, bool is_major)
{
	struct faults_thread *thread;
	bool is_whole;

	if (tid <= 0 && cpu >= 0)
		tid = (int32_t)(intptr_t)map_get(&faults->latest, (uint32_t)cpu, host);
	thread = thread_of(faults, host, tid);
	if (!thread)
		return;
	/* The second event has no address if the kernel does not know it. */
	is_whole = thread->in_fault && (!address || thread->fault.address == address) &&
		   ns > thread->fault.start_ns;
	if (!is_whole) {
		tell(faults, thread);
		begin(thread, ns, address);
	}
	thread->fault.end_ns = ns;
	thread->fault.is_handled = true;
	thread->fault.is_major = is_major;
	thread->over_ns = is_whole ? ns : 0;
	tell(faults, thread);
}

int32_t faults_whose(const struct kymo_ctf_event *event, unsigned first)
{
	if (event->bound < 0 || (unsigned)event->bound != first + ENTRY)
		return 0;
	return event->value[1].present ? (int32_t)event->value[1].i : event->vtid;
}

int faults_event(struct faults *faults, const struct kymo_ctf_event *event, unsigned first,
		 uint32_t host, int32_t on_cpu)
{
	const struct kymo_ctf_value *value = event->value;
	int32_t tid = faults_whose(event, first);

	if (event->bound < 0 || (unsigned)event->bound < first)
		return 0;
	switch ((unsigned)event->bound - first) {
	case ENTRY:
		faults_entry(faults, host, event->cpu, tid > 0 ? tid : on_cpu, event->ns,
			     value[0].u);
		break;
	case MINOR:
	case MAJOR:
		faults_handled(faults, host, event->cpu, event->vtid > 0 ? event->vtid : on_cpu,
			       event->ns, value[0].u, (unsigned)event->bound - first == MAJOR);
		break;
	}
	return faults->failed ? -1 : 0;
}

void faults_finish(struct faults *faults)
{
	const struct map_slot *slot;

	for (size_t at = 0; (slot = map_next(&faults->threads, &at));)
		tell(faults, slot->value);
}

int64_t faults_around_ns(const struct faults *faults)
{
	return faults->around.count ? (int64_t)histogram_quantile(&faults->around, AROUND_QUANTILE)
				    : 0;
}
