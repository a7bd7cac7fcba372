/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See attach_inject.h. One thread of the process is borrowed for a fraction of a millisecond: it
 * maps the scratch, creates a thread, and is let go as it was. The new thread loads the library
 * while all threads of the program run.
 */
#include "attach/attach_inject.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "attach/attach_code.h"
#include "attach/attach_safe.h"
#include "attach/attach_stop.h"
#include "base/array.h"
#include "base/now.h"
#include "base/text.h"

#define FIND_NS 10000000000 /* for a thread at a safe place */
#define ANSWER_NS 30000000000
#define END_NS 1000000000 /* for the end of the new thread */
#define SEARCH_BYTES 64

static void nap(long ns)
{
	const struct timespec time = { 0, ns };

	(void)nanosleep(&time, NULL);
}

/* ---- what is in the process ---- */

/* A symbol of libc; libraries of their own before glibc 2.34. */
static uint64_t of_libc(const struct maps *maps, const char *name)
{
	static const char *const library[] = { "libc.so.6",    "libc-2",     "libpthread.so.0",
					       "libpthread-2", "libdl.so.2", "libdl-2" };
	uint64_t found = 0;

	for (unsigned i = 0; i < COUNT_OF(library) && !found; i++)
		found = maps_symbol(maps, maps_object(maps, library[i]), name, NULL);
	return found;
}

int injection_open(struct injection *injection, const struct attach_process *process,
		   struct kymo_err *err)
{
	uint64_t at;

	*injection = (struct injection){ .process = process };
	if (maps_read(&injection->maps, process->pid, err) < 0)
		return -1;
	if (process_suits(process, &injection->maps, err) < 0) {
		injection_close(injection);
		return -1;
	}
	maps_find_allocators(&injection->maps);
	injection->library = maps_object(&injection->maps, "libkymo-ros2.so");
	at = maps_symbol(&injection->maps, injection->library, KYMO_ATTACH_HELD, NULL);
	if (at)
		(void)memory_read(process->pid, at, &injection->held, sizeof injection->held);
	at = maps_symbol(&injection->maps, injection->library, KYMO_ATTACH_SCRATCH, NULL);
	if (at)
		(void)memory_read(process->pid, at, &injection->scratch, sizeof injection->scratch);
	return 0;
}

void injection_close(struct injection *injection)
{
	maps_free(&injection->maps);
}

/* ---- the thread that carries out the order ---- */

/* The thread that the process itself calls @tid; 0: it has ended. In a container the numbers
 * differ. */
static unsigned thread_called(unsigned pid, unsigned tid)
{
	const struct dirent *entry;
	char path[300], line[256];
	unsigned found = 0;
	DIR *dir;

	(void)snprintf(path, sizeof path, "/proc/%u/task", pid);
	dir = opendir(path);
	while (dir && !found && (entry = readdir(dir))) {
		FILE *file;

		(void)snprintf(path, sizeof path, "/proc/%u/task/%s/status", pid, entry->d_name);
		file = *entry->d_name == '.' ? NULL : fopen(path, "re");
		while (file && fgets(line, sizeof line, file)) {
			const char *last = strrchr(line, '\t');

			if (!strncmp(line, "NSpid:", 6) && last && strtoul(last, NULL, 10) == tid)
				found = (unsigned)strtoul(entry->d_name, NULL, 10);
		}
		if (file)
			(void)fclose(file);
	}
	if (dir)
		(void)closedir(dir);
	return found;
}

/* The new thread has the priority of the borrowed one. Its work is not urgent. */
static void calm_down(const struct injection *injection, unsigned tid)
{
	const struct sched_param none = { 0 };
	const unsigned thread = tid ? thread_called(injection->process->pid, tid) : 0;

	if (injection->realtime && thread)
		(void)sched_setscheduler((pid_t)thread, SCHED_OTHER, &none);
}

static int wait_answer(struct injection *injection, struct kymo_attach_block *block,
		       struct kymo_err *err)
{
	const struct attach_process *process = injection->process;
	const uint64_t at = injection->scratch + KYMO_ATTACH_PAGE;
	const int64_t until = now_ns() + ANSWER_NS;
	bool calmed = false;

	while (now_ns() < until) {
		if (!memory_read(process->pid, at, block, sizeof *block))
			return err_set(err, KYMO_EXIT_INPUT, "%s (%u) ended meanwhile",
				       process->name, process->pid);
		if (!calmed && block->tid)
			calm_down(injection, block->tid);
		calmed = block->tid != 0;
		if (block->state == KYMO_ATTACH_ANSWERED || block->state == KYMO_ATTACH_NOT_LOADED)
			break;
		nap(500000);
	}
	if (block->state == KYMO_ATTACH_RUNNING)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"%s (%u) has not loaded the library within 30 s: its dynamic linker is "
			"busy, or the program is stopped; it is done as soon as the linker is free",
			process->name, process->pid);
	for (const int64_t end = now_ns() + END_NS;
	     now_ns() < end && thread_called(process->pid, block->tid);)
		nap(500000);
	return 0;
}

/* ---- the borrowed thread ---- */

/* A system call instruction of libc. Return: 0: not found. */
static uint64_t call_instruction(const struct maps *maps)
{
#if defined(__x86_64__)
	static const uint8_t wanted[] = { 0x0f, 0x05 };
#else
	static const uint8_t wanted[] = { 0x01, 0x00, 0x00, 0xd4 };
#endif
	const uint64_t from = of_libc(maps, "getpid");
	uint8_t code[SEARCH_BYTES];
	const uint8_t *at;

	if (!from || !memory_read(maps->pid, from, code, sizeof code))
		return 0;
	at = memmem(code, sizeof code, wanted, sizeof wanted);
	return at ? from + (uint64_t)(at - code) : 0;
}

static int64_t map_scratch(struct injection *injection, struct stopped *stopped,
			   uint64_t instruction)
{
	const uint64_t map[6] = { 0,
				  KYMO_ATTACH_BYTES,
				  PROT_READ | PROT_WRITE,
				  MAP_PRIVATE | MAP_ANONYMOUS,
				  (uint64_t)-1,
				  0 };
	int64_t at = stop_call(stopped, instruction, SYS_mmap, map), error;

	if (at < 0 && at > -4096)
		return at;
	const uint64_t protect[6] = { (uint64_t)at, KYMO_ATTACH_PAGE, PROT_READ | PROT_EXEC };

	error = memory_write(stopped->pid, (uint64_t)at, attach_code, ATTACH_CODE_SIZE)
			? stop_call(stopped, instruction, SYS_mprotect, protect)
			: -EFAULT;
	injection->scratch = (uint64_t)at;
	return error;
}

static void unmap_scratch(struct injection *injection, struct stopped *stopped,
			  uint64_t instruction)
{
	const uint64_t unmap[6] = { injection->scratch, KYMO_ATTACH_BYTES };

	if (injection->scratch)
		(void)stop_call(stopped, instruction, SYS_munmap, unmap);
	injection->scratch = 0;
}

static void complete(const struct injection *injection, struct kymo_attach_block *block)
{
	const uint64_t stacks =
		injection->scratch + 2 * KYMO_ATTACH_PAGE + KYMO_ATTACH_CALLER_STACK;

	block->self = injection->scratch;
	block->run = injection->scratch + ATTACH_CODE_RUN;
	block->memory = stacks;
	block->bytes = KYMO_ATTACH_THREAD_STACK;
	block->state = KYMO_ATTACH_RUNNING;
	block->created = -1;
	block->tid = 0;
}

/* In the stopped thread. Return: 0; 1: it would last too long; -errno. Afterwards the order runs,
 * or nothing has changed. */
static int borrow(struct injection *injection, struct stopped *stopped,
		  struct kymo_attach_block *block, uint64_t instruction)
{
	const bool fresh = !injection->scratch;
	int64_t error;

	error = stop_save(stopped);
	if (error)
		return (int)error;
	if (fresh)
		error = map_scratch(injection, stopped, instruction);
	complete(injection, block);
	if (!error && !memory_write(stopped->pid, injection->scratch + KYMO_ATTACH_PAGE, block,
				    sizeof *block))
		error = -EFAULT;
	if (!error && injection->max_pause && now_ns() - stopped->since > injection->max_pause)
		error = 1;
	if (!error)
		error = stop_run(stopped, injection->scratch, block->memory,
				 injection->scratch + KYMO_ATTACH_PAGE);
	if (error != -ESRCH &&
	    !memory_read(stopped->pid, injection->scratch + KYMO_ATTACH_PAGE, block,
			 sizeof *block) &&
	    !error)
		error = -EFAULT;
	if (!error && block->created)
		error = -block->created;
	if (error && fresh)
		unmap_scratch(injection, stopped, instruction);
	return (int)error;
}

static int too_long(const struct injection *injection, struct kymo_err *err)
{
	char limit[TEXT_QUANTITY_MAX], pause[TEXT_QUANTITY_MAX];

	return err_set(err, KYMO_EXIT_FAILED,
		       "gave up: a thread of %s (%u) would have been stopped for longer than %s "
		       "(so far %s); the program is as it was",
		       injection->process->name, injection->process->pid,
		       text_ns(limit, injection->max_pause), text_ns(pause, injection->pause));
}

/* Return: 0: the order runs; 1: not here, try again; -1 with @err. */
static int try_thread(struct injection *injection, const struct candidate *candidate,
		      struct kymo_attach_block *block, uint64_t instruction, struct kymo_err *err)
{
	static struct stopped stopped;
	bool safe;
	int64_t pause;
	int error = stop_thread(&stopped, injection->process->pid, candidate->tid);

	if (error == -EPERM)
		return process_refused(injection->process, EPERM, err);
	if (error == -EAGAIN)
		return err_set(err, KYMO_EXIT_FAILED,
			       "thread %u of %s (%u) did not stop within 5 s: it waits for a "
			       "device; the program is as it was",
			       candidate->tid, injection->process->name, injection->process->pid);
	if (error)
		return 1;
	safe = is_safe(&stopped, &injection->maps);
	error = safe ? borrow(injection, &stopped, block, instruction) : 0;
	pause = release_thread(&stopped);
	injection->pause = pause > injection->pause ? pause : injection->pause;
	if (!safe)
		return 1;
	injection->thread = candidate->tid;
	injection->realtime = candidate->realtime;
	if (error == 1)
		return too_long(injection, err);
	if (error)
		return err_set(err, KYMO_EXIT_FAILED, "cannot create a thread in %s (%u): %s",
			       injection->process->name, injection->process->pid, strerror(-error));
	return 0;
}

static int no_safe_thread(const struct injection *injection, struct kymo_err *err)
{
	return err_set(
		err, KYMO_EXIT_FAILED,
		"no thread of %s (%u) was at a safe place within 10 s: all are busy in libc or in "
		"the kernel, or the program is stopped; the program is as it was; try again",
		injection->process->name, injection->process->pid);
}

static int start(struct injection *injection, struct kymo_attach_block *block, struct kymo_err *err)
{
	static struct candidate candidate[CANDIDATES_MAX];
	const int64_t until = now_ns() + FIND_NS;
	const uint64_t instruction = call_instruction(&injection->maps);
	struct attach_process now;

	if (!instruction)
		return err_set(err, KYMO_EXIT_FAILED, "cannot find getpid() in the libc of %s (%u)",
			       injection->process->name, injection->process->pid);
	for (unsigned turn = 0; now_ns() < until; turn++) {
		const unsigned count = safe_candidates(injection->process->pid, candidate, turn);
		int result = 1;

		for (unsigned i = 0; i < count && i < 8 && result > 0; i++)
			result = try_thread(injection, &candidate[i], block, instruction, err);
		if (result <= 0)
			return result;
		if (process_read(&now, injection->process->pid, err) < 0 ||
		    process_allows(&now, err) < 0)
			return -1;
		nap(1000000 + turn * 137000 % 2000000);
	}
	return no_safe_thread(injection, err);
}

/* The functions of libc that the code calls. Return: 0, or -1 with @err. */
static int find_functions(const struct injection *injection, struct kymo_attach_block *block,
			  struct kymo_err *err)
{
	const struct {
		uint64_t *address;
		const char *name;
	} wanted[] = {
		{ &block->errno_location, "__errno_location" },
		{ &block->attr_init, "pthread_attr_init" },
		{ &block->attr_setstack, "pthread_attr_setstack" },
		{ &block->attr_setdetachstate, "pthread_attr_setdetachstate" },
		{ &block->create, "pthread_create" },
		{ &block->load, "dlopen" },
		{ &block->symbol_of, "dlsym" },
		{ &block->load_error, "dlerror" },
	};

	for (unsigned i = 0; i < COUNT_OF(wanted); i++) {
		*wanted[i].address = of_libc(&injection->maps, wanted[i].name);
		if (!*wanted[i].address)
			return err_set(
				err, KYMO_EXIT_FAILED,
				"%s (%u) has not loaded the function %s(): its libc is older than "
				"2.34, and it uses no threads or loads no libraries",
				injection->process->name, injection->process->pid, wanted[i].name);
	}
	block->entry = maps_symbol(&injection->maps, injection->library, KYMO_ATTACH_ENTRY, NULL);
	return 0;
}

/* A scratch of an earlier order. Return: 0: it is free; -1 with @err. */
static int check_scratch(const struct injection *injection, struct kymo_err *err)
{
	static struct kymo_attach_block before;
	const struct attach_process *process = injection->process;

	if (!injection->scratch)
		return 0;
	if (!memory_read(process->pid, injection->scratch + KYMO_ATTACH_PAGE, &before,
			 sizeof before))
		return process_refused(process, errno, err);
	if (before.state == KYMO_ATTACH_RUNNING || thread_called(process->pid, before.tid))
		return err_set(err, KYMO_EXIT_FAILED,
			       "an earlier attach to %s (%u) is still under way; try again",
			       process->name, process->pid);
	return 0;
}

int injection_order(struct injection *injection, struct kymo_attach_block *block,
		    struct kymo_err *err)
{
	int result;

	(void)snprintf(block->symbol, sizeof block->symbol, "%s", KYMO_ATTACH_ENTRY);
	block->version = KYMO_ATTACH_VERSION;
	if (check_scratch(injection, err) < 0 || find_functions(injection, block, err) < 0)
		return -1;
	stop_prepare();
	result = start(injection, block, err);
	stop_finish();
	return result < 0 ? -1 : wait_answer(injection, block, err);
}
