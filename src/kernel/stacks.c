/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Samples of call stacks; see stacks.h.
 *
 * Perf's events of a thread are inherited by what it creates. A thread that is created while the
 * threads of its process are being opened may inherit them and be opened as well: from then on,
 * only the samples of one of the two are recorded.
 *
 * A thread that leaves its CPU has a sample, too. The event about it is recorded when the thread is
 * back, with the stack of that moment and the time between the two.
 */
#include "kernel/stacks.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/now.h"
#include "kernel/kernel_format.h"
#include "kernel/stacks_internal.h"

#define POLL_MS 50
#define FLUSH_NS 1000000000u
#define LOOKS_MAX 8         /* at processes that create threads meanwhile */
#define SETTLED_NS 2000000u /* a CPU may still be writing a record of this time */

/* ---- processes ---- */

/* "7f00-7f10 r-xp 0001000 08:01 1234    /lib/x.so" */
static void read_maps(struct stacks *stacks, int pid, uint64_t ns)
{
	char path[64], line[4352];
	unsigned long long begin, end, offset;
	const struct stacks_file *file;
	FILE *maps;
	char how[5];
	int name;

	(void)snprintf(path, sizeof(path), "/proc/%d/maps", pid);
	maps = fopen(path, "re");
	while (maps && fgets(line, sizeof(line), maps)) {
		line[strcspn(line, "\n")] = '\0';
		name = 0;
		if (sscanf(line, "%llx-%llx %4s %llx %*s %*s %n", &begin, &end, how, &offset,
			   &name) < 4 ||
		    !name || how[2] != 'x')
			continue;
		file = stacks_files_mapped(&stacks->files, pid, begin, end - begin, offset,
					   line + name);
		if (file)
			stacks_put_file(stacks, 0, ns, file);
	}
	if (maps)
		(void)fclose(maps);
}

/* Return: 1: it is new; 0; -errno. */
static int follow_thread(struct stacks *stacks, int pid, int32_t tid)
{
	const struct stacks_thread *thread = stacks_find(stacks, tid);
	const uint64_t now = (uint64_t)now_ns();
	int opened;

	if (thread && thread->has_events)
		return 0;
	opened = stacks_rings_add(&stacks->rings, tid);
	if (opened < 0)
		return opened == -ESRCH ? 0 : opened;
	return stacks_add(stacks, pid, tid, (unsigned)opened, now) ? 1 : -ENOMEM;
}

/* Return: 1: some are new; 0; -errno. */
static int look(struct stacks *stacks, int pid)
{
	char path[32];
	const struct dirent *entry;
	int rc = 0, one;
	DIR *dir;

	(void)snprintf(path, sizeof(path), "/proc/%d/task", pid);
	dir = opendir(path);
	while (dir && rc >= 0 && (entry = readdir(dir))) {
		const long tid = strtol(entry->d_name, NULL, 10);

		one = tid > 0 ? follow_thread(stacks, pid, (int32_t)tid) : 0;
		rc = one < 0 || one > rc ? one : rc;
	}
	if (dir)
		(void)closedir(dir);
	return rc;
}

int stacks_follow(struct stacks *stacks, int pid, struct kymo_err *err)
{
	/* What is read later is later than this. */
	const uint64_t now = (uint64_t)now_ns() - SETTLED_NS;
	int rc = 1;

	stacks_read(stacks, now);
	for (unsigned i = 0; rc > 0 && i < LOOKS_MAX; i++)
		rc = look(stacks, pid);
	read_maps(stacks, pid, now); /* the first sample of its threads is later */
	if (rc >= 0)
		return 0;
	if (rc == -EMFILE || rc == -ENFILE)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"no call stacks of some threads of process %d: each needs two open files for each "
			"CPU; raise the limit (ulimit -n), or record the command that starts them",
			pid);
	return err_set(err, KYMO_EXIT_FAILED, "no call stacks of some threads of process %d: %s",
		       pid,
		       rc == -EACCES || rc == -EPERM ? "it belongs to another user; record as root"
						     : strerror(-rc));
}

/* ---- beginning and end ---- */

static int explain_refusal(int rc, struct kymo_err *err)
{
	if (rc == -ENOSYS || rc == -ENOENT)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"--stacks needs perf_event_open(2), and this kernel, or container, does not have it");
	if (rc != -EACCES && rc != -EPERM)
		return err_set(err, KYMO_EXIT_FAILED, "cannot sample call stacks: %s",
			       strerror(-rc));
	if (!namespace_is_first("user") || geteuid() == 0)
		return err_set(
			err, KYMO_EXIT_FAILED,
			"--stacks needs perf_event_open(2), and in this container nobody may use it: record on the "
			"host, or start the container with --cap-add PERFMON (docker, podman)");
	return err_set(
		err, KYMO_EXIT_FAILED,
		"--stacks needs CAP_PERFMON, or kernel.perf_event_paranoid of at most 2: run kymo as root; or once: "
		"sudo setcap cap_perfmon+ep $(command -v kymo); or for everybody: sudo sysctl "
		"kernel.perf_event_paranoid=1");
}

int stacks_open(struct stacks **out, unsigned hz, struct kymo_err *err)
{
	struct stacks *stacks = calloc(1, sizeof(*stacks));
	int rc;

	*out = NULL;
	if (!stacks)
		return err_no_memory(err);
	rc = stacks_rings_open(&stacks->rings, hz);
	if (rc < 0) {
		free(stacks);
		return explain_refusal(rc, err);
	}
	stacks->stats.hz = hz;
	stacks->stats.user_only = stacks->rings.user_only;
	stacks->flushed_ns = (uint64_t)now_ns();
	*out = stacks;
	return 0;
}

int stacks_place(struct stacks *stacks, const char *dir, const struct ctf_trace_desc *desc,
		 struct kymo_err *err)
{
	/* What is read later is later than this. */
	const uint64_t now = (uint64_t)now_ns() - SETTLED_NS;

	if (stacks->place.dir)
		stacks_read(stacks, now);
	if (stacks_trace_into(&stacks->place, &stacks->rings, dir, desc, now, err) < 0)
		return -1;
	stacks->events_before = stacks->events;
	for (unsigned i = 0; i < stacks->files.count; i++)
		stacks_put_file(stacks, 0, now, &stacks->files.file[i]);
	for (unsigned i = 0; i < stacks->files.symbols; i++)
		stacks->files.symbol[i].told = false;
	return 0;
}

static int result(const struct stacks *stacks, struct kymo_err *err)
{
	if (stacks->failed)
		return err_no_memory(err);
	return stacks->place.rc
		       ? err_set(err, KYMO_EXIT_FAILED,
				 "cannot write call stacks: %s; the rest of them is not in the trace",
				 strerror(-stacks->place.rc))
		       : 0;
}

int stacks_poll(struct stacks *stacks, struct kymo_err *err)
{
	const uint64_t now = (uint64_t)now_ns();

	stacks_read(stacks, now - SETTLED_NS);
	if (now - stacks->flushed_ns >= FLUSH_NS) {
		stacks_trace_flush(&stacks->place, now);
		stacks->flushed_ns = now;
	}
	return result(stacks, err) < 0 ? -1 : POLL_MS;
}

void stacks_stats(const struct stacks *stacks, struct stacks_stats *stats)
{
	*stats = stacks->stats;
	stats->events = stacks->events - stacks->events_before;
	for (unsigned i = 0; i < stacks->place.streams; i++)
		stats->bytes += stacks->place.stream[i].offset + stacks->place.stream[i].size;
}

int stacks_close(struct stacks *stacks, struct stacks_stats *stats, struct kymo_err *err)
{
	const struct map_slot *slot;
	struct stacks_thread *thread;
	size_t at = 0;
	int rc;

	*stats = (struct stacks_stats){ 0 };
	if (!stacks)
		return 0;
	stacks_read(stacks, UINT64_MAX);
	stacks_stats(stacks, stats);
	stacks_trace_end(&stacks->place, (uint64_t)now_ns(), !stats->samples && !stats->waits);
	rc = result(stacks, err);
	while ((slot = map_next(&stacks->threads, &at))) {
		thread = slot->value;
		free(thread->frame);
	}
	map_free_all(&stacks->threads);
	stacks_rings_close(&stacks->rings);
	stacks_files_free(&stacks->files);
	free(stacks);
	return rc;
}
