/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The copies of stacks; see functions_returns.h.
 *
 * A copy has room for the whole stack of a thread, and memory only where the stack was used. It is
 * mapped at a fixed distance, which the unwinder knows (functions_pg.c). Copies are never unmapped:
 * a thread that gets the stack of one that has ended gets its copy, too.
 *
 * Only the stack of a thread itself has a copy, not others that a program made for signal handlers
 * or coroutines: functions that run there have no end in the trace.
 */
#include "inside/functions/functions_returns.h"

#if defined(__x86_64__) || defined(__aarch64__)

#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_lock.h"

#define COPIES_MAX 4096u      /* functions on further stacks have no end */
#define MAIN_MAX (64ul << 20) /* bytes of the first thread's stack */
#define STACK_MAX (1ul << 30) /* a larger mapping is not a thread's stack */
#define PAGE 4096ul

__thread struct functions_stack functions_stack;

static struct {
	uintptr_t begin, end;
} copies[COPIES_MAX];
static unsigned copy_count;
static struct kymo_lock copies_lock;

/* ---- where a stack is ---- */

/* The lines of /proc/self/maps; used with copies_lock. */
static struct {
	int fd;
	char text[4096];
	size_t at, size;
} maps;

/* Return: -1: the end. */
static int next_char(void)
{
	ssize_t got;

	if (maps.at == maps.size) {
		got = read(maps.fd, maps.text, sizeof(maps.text));
		if (got <= 0)
			return -1;
		maps.size = (size_t)got;
		maps.at = 0;
	}
	return (unsigned char)maps.text[maps.at++];
}

/* @end: set to the character behind the number. */
static uintptr_t read_hex(int *end)
{
	uintptr_t value = 0;

	for (;;) {
		const int c = *end = next_char();

		if (c >= '0' && c <= '9')
			value = value << 4 | (uintptr_t)(c - '0');
		else if (c >= 'a' && c <= 'f')
			value = value << 4 | (uintptr_t)(c - 'a' + 10);
		else
			return value;
	}
}

/* "7ffc00000000-7ffc00021000 rw-p ...   [stack]". Return: whether @address is in a mapping. */
static bool find_mapping(uintptr_t address, uintptr_t *begin, uintptr_t *end)
{
	bool found = false;
	int c = 0;

	maps.fd = open("/proc/self/maps", O_RDONLY | O_CLOEXEC);
	maps.at = maps.size = 0;
	if (maps.fd < 0)
		return false;
	while (!found && c != -1) {
		*begin = read_hex(&c);
		*end = c == '-' ? read_hex(&c) : 0;
		found = address >= *begin && address < *end;
		while (c != '\n' && c != -1)
			c = next_char();
	}
	(void)close(maps.fd);
	return found;
}

/* The first thread's stack grows; the others' are what they are. */
static bool find_bounds(uintptr_t address, uintptr_t *begin, uintptr_t *end)
{
	struct rlimit limit;
	uintptr_t most = MAIN_MAX;

	if (!find_mapping(address, begin, end))
		return false;
	if (getpid() != gettid())
		return *end - *begin <= STACK_MAX;
	if (getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur < most)
		most = limit.rlim_cur / PAGE * PAGE;
	if (*end - most < *begin)
		*begin = *end - most;
	return true;
}

/* ---- copies ---- */

/* Memory of a program that locks its memory (mlockall) would be there at once, all of it. */
static bool map_at(uintptr_t begin, uintptr_t end)
{
	void *const want = (void *)begin;
	const size_t size = end - begin;
	void *got = mmap(want, size, PROT_NONE,
			 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);

	if (got == MAP_FAILED)
		return false;
	if (got == want && munlock(got, size) == 0 &&
	    mprotect(got, size, PROT_READ | PROT_WRITE) == 0) {
		(void)madvise(got, size, MADV_NOHUGEPAGE);
		return true;
	}
	(void)munmap(got, size);
	return false;
}

static bool is_copied(uintptr_t begin, uintptr_t end)
{
	for (unsigned i = 0; i < copy_count; i++)
		if (copies[i].begin <= begin && end <= copies[i].end)
			return true;
	return false;
}

static bool copy(uintptr_t begin, uintptr_t end)
{
	if (is_copied(begin, end))
		return true;
	if (copy_count == COPIES_MAX || end <= begin || begin < FUNCTIONS_NAME_BELOW + PAGE ||
	    !map_at(begin - FUNCTIONS_RETURN_BELOW, end - FUNCTIONS_RETURN_BELOW))
		return false;
	if (!map_at(begin - FUNCTIONS_NAME_BELOW, end - FUNCTIONS_NAME_BELOW)) {
		(void)munmap((void *)(begin - FUNCTIONS_RETURN_BELOW), end - begin);
		return false;
	}
	copies[copy_count].begin = begin;
	copies[copy_count++].end = end;
	return true;
}

void functions_find_stack(uintptr_t address)
{
	struct functions_stack stack = { 0, 0, true };
	struct kymo_calm calm;

	kymo_calm_begin(&calm);
	/* An open() or mmap() of the program may come here, too: it has no end. */
	functions_stack = stack;
	if (kymo_lock_take(&copies_lock, kymo_own_tid(), KYMO_LOCK_TRIES)) {
		if (!find_bounds(address, &stack.begin, &stack.end) ||
		    !copy(stack.begin, stack.end))
			stack.begin = stack.end = 0;
		kymo_lock_release(&copies_lock);
	}
	functions_stack = stack;
	kymo_calm_end(&calm);
}

void functions_stacks_in_child(void)
{
	kymo_lock_release(&copies_lock);
}

#else

void functions_stacks_in_child(void)
{
}

#endif
