/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A thread can be borrowed to call pthread_create() if it is not itself in the middle of what
 * pthread_create() uses: malloc(), the list of stacks, the thread-local storage of the dynamic
 * linker. Locks that other threads have are harmless: these threads run on, and unlock them.
 *
 * Two kinds of places are certain:
 *
 *   - The thread waits in a system call that none of these functions makes: for events, for time,
 *     for data, on a condition variable. A mutex is not on the list: malloc() waits for mutexes.
 *   - The thread runs, or makes a short system call, in an object that is neither libc, nor the
 *     dynamic linker, nor one that defines malloc().
 *
 * In both cases the stack must not show that the thread is inside a signal handler, or in an
 * allocator that is not libc's. The stack is read as it is, word by word: a word counts as a return
 * address if an instruction that calls stands before it. Old words on the stack can make a good
 * place look bad, never the other way round. Then another thread or another moment is tried.
 *
 * The dynamic linker runs code of others only as constructors and the like. It holds its lock then,
 * which is recursive; so the borrowed thread does not wait for it, and the new thread does, with
 * nothing stopped.
 */
#include "attach/attach_safe.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>

#define STACK_MAX (256u << 10) /* bytes of a stack that are read */
#define FUTEX_COMMAND 0x7f
#define FUTEX_OF_CONDITIONS 9 /* FUTEX_WAIT_BITSET */

static bool waits_safely(long call, uint64_t second)
{
	switch (call) {
#ifdef SYS_poll
	case SYS_poll:
	case SYS_select:
	case SYS_epoll_wait:
	case SYS_pause:
#endif
#ifdef SYS_epoll_pwait2
	case SYS_epoll_pwait2:
#endif
	case SYS_ppoll:
	case SYS_pselect6:
	case SYS_epoll_pwait:
	case SYS_nanosleep:
	case SYS_clock_nanosleep:
	case SYS_read:
	case SYS_recvfrom:
	case SYS_recvmsg:
	case SYS_recvmmsg:
	case SYS_accept:
	case SYS_accept4:
	case SYS_rt_sigtimedwait:
	case SYS_rt_sigsuspend:
	case SYS_wait4:
	case SYS_waitid:
	case SYS_semop:
	case SYS_semtimedop:
		return true;
	case SYS_futex:
		return (second & FUTEX_COMMAND) == FUTEX_OF_CONDITIONS;
	default:
		return false;
	}
}

/* Short calls, at whose return a busy thread is met. */
static bool is_harmless(long call)
{
	switch (call) {
	case SYS_sched_yield:
	case SYS_write:
	case SYS_writev:
	case SYS_sendto:
	case SYS_sendmsg:
	case SYS_getpid:
	case SYS_gettid:
	case SYS_getppid:
	case SYS_kill:
	case SYS_tgkill:
	case SYS_clock_gettime:
		return true;
	default:
		return false;
	}
}

/* ---- candidates ---- */

static bool read_text(const char *path, char *text, size_t size)
{
	FILE *file = fopen(path, "re");
	size_t got;

	if (!file)
		return false;
	got = fread(text, 1, size - 1, file);
	(void)fclose(file);
	text[got] = 0;
	return got > 0;
}

/* Fields 3 and 41 of the thread's stat: state and policy. */
static bool read_candidate(unsigned pid, unsigned tid, struct candidate *candidate)
{
	char path[64], text[1024], *at, state;
	unsigned long second = 0;
	long call = -1;
	int policy = 0;

	(void)snprintf(path, sizeof path, "/proc/%u/task/%u/stat", pid, tid);
	if (!read_text(path, text, sizeof text) || !(at = strrchr(text, ')')) || strlen(at) < 3)
		return false;
	state = at[2];
	for (int field = 2; at && field < 41; field++)
		at = strchr(at + 1, ' ');
	if (at)
		policy = atoi(at);
	if (state != 'S' && state != 'R')
		return false;
	(void)snprintf(path, sizeof path, "/proc/%u/task/%u/syscall", pid, tid);
	if (!read_text(path, text, sizeof text))
		return false;
	if (sscanf(text, "%ld 0x%*x 0x%lx", &call, &second) < 1)
		call = -1; /* "running" */
	*candidate = (struct candidate){ tid, state == 'S' && waits_safely(call, second),
					 policy == 1 || policy == 2 || policy == 6 };
	return candidate->waits || state == 'R';
}

static int better_first(const void *a, const void *b)
{
	const struct candidate *left = a, *right = b;

	if (left->waits != right->waits)
		return left->waits ? -1 : 1;
	if (left->realtime != right->realtime)
		return left->realtime ? 1 : -1;
	return left->tid > right->tid ? -1 : 1; /* the main thread last */
}

unsigned safe_candidates(unsigned pid, struct candidate candidate[CANDIDATES_MAX], unsigned turn)
{
	const struct dirent *entry;
	unsigned count = 0, waiting = 0;
	char path[64];
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%u/task", pid);
	dir = opendir(path);
	if (!dir)
		return 0;
	while (count < CANDIDATES_MAX && (entry = readdir(dir)))
		if (*entry->d_name != '.' &&
		    read_candidate(pid, (unsigned)strtoul(entry->d_name, NULL, 10),
				   &candidate[count]))
			count++;
	(void)closedir(dir);
	qsort(candidate, count, sizeof *candidate, better_first);
	while (waiting < count && candidate[waiting].waits)
		waiting++;
	if (count > waiting + 1) {
		const struct candidate first = candidate[waiting + turn % (count - waiting)];

		candidate[waiting + turn % (count - waiting)] = candidate[waiting];
		candidate[waiting] = first;
	}
	return count;
}

/* ---- the place where a thread stopped ---- */

/* Return: whether the word on the stack speaks against this place. */
static bool is_bad_word(const struct maps *maps, uint64_t word, const char *program)
{
	const struct attach_map *map = word > 4096 ? maps_at(maps, word) : NULL;
	uint8_t code[8 + 12] = { 0 };

	if (!map || !map->execute)
		return false;
	if (!memory_read(maps->pid, word - 8, code, sizeof code) &&
	    !memory_read(maps->pid, word - 8, code, 9))
		return false;
	if (code_is_signal_return(code + 8))
		return true;
	/* A program that has its own malloc() is in itself on every stack; it is only asked while
	 * it waits. */
	return map->kind == OBJECT_ALLOCATOR && strcmp(maps_path(maps, map), program) &&
	       code_is_call(code);
}

static bool stack_is_good(const struct stopped *stopped, const struct maps *maps)
{
	const uint64_t from = registers_sp(&stopped->before) & ~7ull;
	const struct attach_map *map = maps_at(maps, from);
	const char *program = maps->program;
	static uint64_t word[STACK_MAX / 8];
	size_t size;

	if (!map)
		return false; /* a stack that was mapped after maps were read */
	size = map->to - from < sizeof word ? map->to - from : sizeof word;
	if (!memory_read(stopped->pid, from, word, size))
		return false;
	for (size_t i = 0; i < size / 8; i++)
		if (is_bad_word(maps, word[i], program))
			return false;
	return true;
}

bool is_safe(const struct stopped *stopped, const struct maps *maps)
{
	const long call = registers_call(&stopped->before, stopped->code);
	const struct attach_map *map = maps_at(maps, registers_pc(&stopped->before));

	if (!map || map->kind == OBJECT_LINKER || map->kind == OBJECT_NONE ||
	    (map->kind == OBJECT_ALLOCATOR && strcmp(maps_path(maps, map), maps->program)))
		return false;
	if (call != ATTACH_NO_CALL && waits_safely(call, registers_argument(&stopped->before, 1)))
		return stack_is_good(stopped, maps);
	if (call != ATTACH_NO_CALL ? !is_harmless(call) : map->kind != OBJECT_FILE)
		return false;
	return map->kind != OBJECT_ALLOCATOR && stack_is_good(stopped, maps);
}
