/* SPDX-License-Identifier: Apache-2.0 */
/* kymo.json beside the trace: host, clocks, processes, and where every event went. */
#include <errno.h>
#include <fcntl.h>
#include <json-c/json.h>
#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>
#include <unistd.h>

#include "recorder/session_internal.h"

#define ACCOUNTS_FORMAT 1

static uint64_t clock_ns(clockid_t clock)
{
	struct timespec now = { 0 };

	(void)clock_gettime(clock, &now);	/* every kernel has these clocks */
	return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

uint64_t session_now(void)
{
	return clock_ns(CLOCK_MONOTONIC);
}

static uint64_t cpu_counter(void)
{
#if defined(__x86_64__)
	return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
	uint64_t value;

	__asm__ volatile("mrs %0, cntvct_el0" : "=r"(value));
	return value;
#else
	return 0;
#endif
}

/* MONOTONIC is read before and after; the tightest of a few tries counts. */
static struct clock_snapshot snapshot(void)
{
	struct clock_snapshot best = { 0 };
	uint64_t best_width = UINT64_MAX;

	for (int i = 0; i < 5; i++) {
		struct clock_snapshot now;
		uint64_t after;

		now.monotonic = clock_ns(CLOCK_MONOTONIC);
		now.realtime = clock_ns(CLOCK_REALTIME);
		now.boottime = clock_ns(CLOCK_BOOTTIME);
		now.tai = clock_ns(CLOCK_TAI);
		now.counter = cpu_counter();
		after = clock_ns(CLOCK_MONOTONIC);
		if (after - now.monotonic < best_width) {
			best_width = after - now.monotonic;
			now.monotonic += best_width / 2;
			best = now;
		}
	}
	return best;
}

void session_snapshot_clocks(struct session *session)
{
	if (session->clock_count == CLOCKS_MAX) {	/* keep every second one, half as often from now on */
		for (unsigned i = 0; i < CLOCKS_MAX / 2; i++)
			session->clock[i] = session->clock[2 * i];
		session->clock_count = CLOCKS_MAX / 2;
		session->clock_period_ns *= 2;
	}
	session->clock[session->clock_count++] = snapshot();
}

/* ---- json ---- */

static void put_u64(struct json_object *object, const char *key, uint64_t value)
{
	json_object_object_add(object, key, json_object_new_uint64(value));
}

static void put_text(struct json_object *object, const char *key, const char *value)
{
	json_object_object_add(object, key, json_object_new_string(value));
}

static struct json_object *host(void)
{
	struct json_object *object = json_object_new_object();
	char boot_id[64] = "";
	struct utsname name;
	FILE *file = fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file && fgets(boot_id, sizeof boot_id, file))
		boot_id[strcspn(boot_id, "\n")] = 0;
	if (file)
		(void)fclose(file);
	if (uname(&name) == 0) {
		put_text(object, "hostname", name.nodename);
		put_text(object, "kernel", name.release);
		put_text(object, "machine", name.machine);
	}
	put_text(object, "boot_id", boot_id);
	return object;
}

static struct json_object *clocks(const struct session *session)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < session->clock_count; i++) {
		const struct clock_snapshot *clock = &session->clock[i];
		struct json_object *object = json_object_new_object();

		put_u64(object, "monotonic_ns", clock->monotonic);
		put_u64(object, "realtime_ns", clock->realtime);
		put_u64(object, "boottime_ns", clock->boottime);
		put_u64(object, "tai_ns", clock->tai);
		put_u64(object, "counter", clock->counter);
		json_object_array_add(array, object);
	}
	return array;
}

static struct json_object *threads(const struct process *process)
{
	struct json_object *array = json_object_new_array();

	for (unsigned i = 0; i < process->thread_count; i++) {
		const struct thread_account *thread = &process->thread[i];
		struct json_object *object = json_object_new_object();

		json_object_object_add(object, "tid", json_object_new_int(thread->tid));
		put_text(object, "name", thread->name);
		put_u64(object, "recorded", thread->recorded);
		put_u64(object, "dropped", thread->dropped);
		put_u64(object, "bytes", thread->bytes);
		json_object_array_add(array, object);
	}
	return array;
}

static const char *end_name(const struct process *process)
{
	static const char *const name[] = {
		[PROCESS_RUNS] = "running", [PROCESS_EXITED] = "exited",
		[PROCESS_KILLED] = "killed", [PROCESS_REPLACED] = "replaced",
	};

	return name[process->end];
}

static struct json_object *one_process(const struct process *process)
{
	struct json_object *object = json_object_new_object();

	put_u64(object, "pid", process->region.pid);
	put_u64(object, "host_pid", (uint64_t)process->host_pid);
	put_text(object, "procname", process->region.procname);
	put_text(object, "exe", process->region.exe);
	put_u64(object, "start_ns", process->region.birth_ns);
	put_text(object, "state", end_name(process));
	put_text(object, "tracetools", process->tracetools_version);
	put_u64(object, "recorded", process->recorded);
	put_u64(object, "dropped", process->dropped + process->dropped_no_ring);
	put_u64(object, "dropped_no_ring", process->dropped_no_ring);
	put_u64(object, "unwritten", process->unwritten);
	put_u64(object, "init_events", process->init.events);
	put_u64(object, "init_dropped", process->init_dropped);
	put_u64(object, "texts_cut", process->texts_cut);
	put_u64(object, "corrupt_bytes", process->lost_bytes);
	put_u64(object, "overwritten", process->overwritten);
	put_u64(object, "outside", process->outside);
	put_u64(object, "bytes", process->bytes);
	json_object_object_add(object, "threads", threads(process));
	return object;
}

static struct json_object *totals(const struct session *session)
{
	struct json_object *object = json_object_new_object();
	struct session_stats stats;

	session_stats(session, &stats);
	put_u64(object, "processes", stats.processes);
	put_u64(object, "threads", stats.threads);
	put_u64(object, "recorded", stats.recorded);
	put_u64(object, "dropped", stats.dropped);
	put_u64(object, "unwritten", stats.unwritten);
	put_u64(object, "init_events", stats.init_events);
	put_u64(object, "init_dropped", stats.init_dropped);
	put_u64(object, "corrupt_bytes", stats.lost_bytes);
	put_u64(object, "overwritten", stats.overwritten);
	put_u64(object, "outside", stats.outside);
	put_u64(object, "bytes", stats.bytes);
	return object;
}

static struct json_object *accounts(const struct session *session)
{
	struct json_object *root = json_object_new_object();
	struct json_object *array = json_object_new_array();
	struct session_stats stats;

	session_stats(session, &stats);
	put_text(root, "kymo", session->options.version);
	put_u64(root, "format", ACCOUNTS_FORMAT);
	put_u64(root, "generation", session->domain.generation);
	put_u64(root, "start_ns", session->drain.start_ns);
	json_object_object_add(root, "start_realtime_ns",
			       json_object_new_int64(session->started_realtime_ns));
	put_u64(root, "duration_ns", stats.duration_ns);
	json_object_object_add(root, "ended", json_object_new_boolean(session->ended));
	json_object_object_add(root, "host", host());
	json_object_object_add(root, "totals", totals(session));
	json_object_object_add(root, "clocks", clocks(session));
	for (unsigned i = 0; i < session->process_count; i++)
		json_object_array_add(array, one_process(session->process[i]));
	json_object_object_add(root, "processes", array);
	return root;
}

static int write_file(const char *path, const char *text, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644), rc = 0;

	if (fd < 0)
		return -errno;
	while (size && rc == 0) {
		ssize_t done = write(fd, text, size);

		if (done > 0) {
			text += done;
			size -= (size_t)done;
		} else if (done == 0 || errno != EINTR) {
			rc = done < 0 ? -errno : -ENOSPC;
		}
	}
	if (close(fd) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int session_write_accounts(struct session *session)
{
	struct json_object *root = accounts(session);
	const char *text = json_object_to_json_string_ext(root, JSON_C_TO_STRING_PRETTY |
							  JSON_C_TO_STRING_NOSLASHESCAPE);
	char part[4096 + 32], final[4096 + 32];
	int rc;

	(void)snprintf(part, sizeof part, "%s/kymo.json.part", session->output);
	(void)snprintf(final, sizeof final, "%s/kymo.json", session->output);
	rc = text ? write_file(part, text, strlen(text)) : -ENOMEM;
	if (rc == 0 && rename(part, final) < 0)
		rc = -errno;
	if (rc < 0)
		(void)unlink(part);	/* the last good one stays */
	json_object_put(root);
	return rc;
}
