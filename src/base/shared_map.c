/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The list of mappings is read by the handler of SIGBUS at any moment. So its parts are never freed
 * or moved: one store to `to` makes an entry free or used, and the list only grows.
 */
#include "base/shared_map.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define PART 256

struct mapping {
	uintptr_t from, to; /* to is 0: free */
	bool torn;
};

static struct part {
	struct mapping mapping[PART];
	struct part *next;
} first;

static pthread_mutex_t lock =
	PTHREAD_MUTEX_INITIALIZER; /* of those who change the list; the handler never waits */
static uintptr_t page_size = 4096;

/* Return: the mapping that contains @at; NULL. Context: async-signal-safe. */
static struct mapping *find(uintptr_t at)
{
	for (struct part *part = &first; part;
	     part = __atomic_load_n(&part->next, __ATOMIC_ACQUIRE))
		for (unsigned i = 0; i < PART; i++) {
			struct mapping *mapping = &part->mapping[i];
			const uintptr_t to = __atomic_load_n(&mapping->to, __ATOMIC_ACQUIRE);
			const uintptr_t from = __atomic_load_n(&mapping->from, __ATOMIC_ACQUIRE);

			/* The second look at `to`: between two stores of place() the two are of
			 * different mappings. */
			if (at < to && at >= from &&
			    __atomic_load_n(&mapping->to, __ATOMIC_RELAXED) == to)
				return mapping;
		}
	return NULL;
}

static struct mapping *find_free(void)
{
	struct part *last = &first, *next;

	for (struct part *part = &first; part; part = part->next) {
		for (unsigned i = 0; i < PART; i++)
			if (!part->mapping[i].to)
				return &part->mapping[i];
		last = part;
	}
	next = calloc(1, sizeof *next);
	__atomic_store_n(&last->next, next, __ATOMIC_RELEASE);
	return next ? next->mapping : NULL;
}

static void place(struct mapping *mapping, const void *base, size_t bytes)
{
	__atomic_store_n(&mapping->to, 0, __ATOMIC_RELEASE);
	__atomic_store_n(&mapping->from, (uintptr_t)base, __ATOMIC_RELEASE);
	__atomic_store_n(&mapping->to, bytes ? (uintptr_t)base + bytes : 0, __ATOMIC_RELEASE);
}

static bool enter(const void *base, size_t bytes)
{
	struct mapping *mapping;

	(void)pthread_mutex_lock(&lock);
	mapping = find_free();
	if (mapping) {
		mapping->torn = false;
		place(mapping, base, bytes);
	}
	(void)pthread_mutex_unlock(&lock);
	return mapping;
}

void *shared_map(int fd, size_t bytes, bool writable)
{
	void *base =
		mmap(NULL, bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);

	if (base == MAP_FAILED)
		return NULL;
	/* A forked child's mapping would keep the file open, and with it locks on that file. */
	(void)madvise(base, bytes, MADV_DONTFORK);
	if (enter(base, bytes))
		return base;
	(void)munmap(base, bytes);
	errno = ENOMEM;
	return NULL;
}

void *shared_map_grow(void *base, size_t before, size_t bytes)
{
	struct mapping *mapping = find((uintptr_t)base);
	void *grown;

	/* After a fault the mapping consists of two, which cannot move together. */
	if (!mapping || mapping->torn) {
		errno = EFAULT;
		return NULL;
	}
	grown = mremap(base, before, bytes, MREMAP_MAYMOVE);
	if (grown == MAP_FAILED)
		return NULL;
	place(mapping, grown, bytes);
	return grown;
}

void shared_unmap(void *base, size_t bytes)
{
	struct mapping *mapping = base ? find((uintptr_t)base) : NULL;

	if (!base)
		return;
	if (mapping)
		place(mapping, NULL, 0);
	(void)munmap(base, bytes);
}

bool shared_map_is_torn(const void *base)
{
	const struct mapping *mapping = find((uintptr_t)base);

	return mapping && __atomic_load_n(&mapping->torn, __ATOMIC_RELAXED);
}

/* Zeros from the missing page to the end of the mapping. mmap() is a plain system call, so a
 * handler may call it. */
static void on_sigbus(int number, siginfo_t *info, void *context)
{
	const uintptr_t at = (uintptr_t)info->si_addr & ~(page_size - 1);
	struct mapping *mapping = find((uintptr_t)info->si_addr);
	const int error = errno;

	(void)context;
	if (mapping &&
	    mmap((void *)at, mapping->to - at, PROT_READ | PROT_WRITE,
		 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0) != MAP_FAILED)
		__atomic_store_n(&mapping->torn, true, __ATOMIC_RELAXED);
	else
		(void)signal(number, SIG_DFL); /* it happens again, and is fatal */
	errno = error;
}

void shared_map_guard(void)
{
	struct sigaction action = { .sa_sigaction = on_sigbus, .sa_flags = SA_SIGINFO };
	const long size = sysconf(_SC_PAGESIZE);

	if (size > 0)
		page_size = (uintptr_t)size;
	(void)sigaction(SIGBUS, &action, NULL); /* cannot fail with these arguments */
}
