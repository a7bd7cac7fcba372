/* SPDX-License-Identifier: Apache-2.0 */
#include "inside/malloc/malloc_emit.h"

#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>

static __thread bool inside;		/* an event is made on this thread */
static __thread bool had_ring;
static volatile bool may_register;	/* in the constructor; volatile: the compiler takes malloc() for a leaf */
static bool in_vain;			/* an allocator that must not be watched */

/* Before registration all bytes are set, also this one, which no recorder ever sets. */
static bool is_registered(void)
{
	return !kymo_enable_byte(KYMO_POINT_MUTED);
}

/*
 * Neither a process nor a thread that ends is registered for an allocation: the one would make each child of fork() a traced
 * process, the other would keep its ring for ever.
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
 * A program that was started with this library is asked what it allocates, whether it has other events or not. Those of
 * sanitizers are left alone: they have their own malloc, and expect to be the first one.
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
