/* SPDX-License-Identifier: Apache-2.0 */
#include "inside/malloc/malloc_emit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

static __thread bool inside;		/* this thread is recording an event */
static __thread bool had_ring;
static volatile bool may_register;	/* true in the constructor; volatile: the compiler assumes that malloc() does not read it */
static bool in_vain;			/* the allocator belongs to a sanitizer: record nothing */

/* Before registration all enable bytes are set, also that of KYMO_POINT_MUTED, which no recorder ever sets. */
static bool is_registered(void)
{
	return !kymo_enable_byte(KYMO_POINT_MUTED);
}

/*
 * An allocation never registers a process: otherwise each child of fork() would become a traced process. Nor does an allocation
 * register a thread that is ending: otherwise the thread would never give its ring back.
 */
static bool may_emit(void)
{
	if (inside || in_vain || !(is_registered() || may_register))
		return false;
	if (kymo__thread->ring)
		had_ring = true;
	return kymo__thread->ring || !had_ring;
}

void malloc_emit(unsigned id, const void *payload, size_t size)
{
	struct kymo_record record;
	const int saved = errno;

	if (!may_emit())
		return;
	inside = true;
	kymo_signal_fence();
	if (kymo_try_reserve_sp(&record, id, size) || kymo__reserve(&record, id, size)) {
		memcpy(record.at, payload, size);
		kymo_commit_sp(&record);
	}
	kymo_signal_fence();
	inside = false;
	errno = saved;
}

/*
 * A program that was started with this library is traced even if it has no other events: so one allocation registers the process.
 * Programs with a sanitizer are not traced: the sanitizer has its own malloc(), and expects that malloc() to be the first.
 */
__attribute__((constructor(102)))
static void load(void)
{
	static const char *const sanitizers[] = { "__asan_init", "__tsan_init", "__hwasan_init", "__msan_init" };
	void *volatile first;

	for (unsigned i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		in_vain |= dlsym(RTLD_DEFAULT, sanitizers[i]) != NULL;
	may_register = true;
	first = malloc(1);
	free(first);
	may_register = false;
}
