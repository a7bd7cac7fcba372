/* SPDX-License-Identifier: Apache-2.0 */
/* A session from begin to end; discover.c, drain.c and initlog.c do the work. */
#include "recorder/session.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "recorder/session_internal.h"

#define MS 1000000ull
#define ALIVE_PERIOD_NS		(100 * MS)
#define SCAN_PERIOD_NS		(1000 * MS)	/* besides inotify and the directory's mtime */
#define ACCOUNTS_PERIOD_NS	(1000 * MS)
#define CLOCK_PERIOD_NS		(10000 * MS)
#define RETRY_PERIOD_NS		(100 * MS)	/* while the disk takes nothing */
#define PATIENCE_NS		(100 * MS)
#define STREAMS_PER_PATIENCE	100		/* many streams: fewer, larger packets each */
#define PERIOD_MIN_MS		1
#define PERIOD_MAX_MS		4	/* a large ring lasts 4.8 ms at 3 M events/s of 8 B */

/* ---- the trace directory ---- */

static bool is_empty(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;
	bool empty = true;

	if (!dir)
		return false;
	while (empty && (entry = readdir(dir)))
		empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
	(void)closedir(dir);
	return empty;
}

static int make_output(struct session *session, struct err *err)
{
	const char *path = session->options.output;
	char ust[PATH_MAX];

	if (strlen(path) > PATH_MAX - 64)
		return err_set(err, EXIT_FAILED, "the path of the trace is too long");
	if (mkdir(path, 0755) < 0) {
		if (errno == EEXIST && !is_empty(path))
			return err_set(err, EXIT_FAILED, "%s exists already and is no empty directory; "
				       "name another place with -o DIR", path);
		if (errno != EEXIST)
			return err_set(err, EXIT_FAILED, "cannot make the trace directory %s: %s; name "
				       "another place with -o DIR", path, strerror(errno));
	}
	session->output = realpath(path, NULL);
	(void)snprintf(ust, sizeof ust, "%s/ust", path);
	if (!session->output || mkdir(ust, 0755) < 0)
		return err_set(err, EXIT_FAILED, "cannot write to %s: %s; name another place with "
			       "-o DIR", path, strerror(errno));
	return 0;
}

/* What make_output() made, as far as nothing is in it. */
static void remove_output(const struct session *session)
{
	char ust[PATH_MAX];

	if (!session->output)
		return;
	(void)snprintf(ust, sizeof ust, "%s/ust", session->output);
	(void)rmdir(ust);
	(void)rmdir(session->output);
}

static void read_boot_id(char boot_id[64])
{
	int fd = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC);
	ssize_t got = fd < 0 ? 0 : read(fd, boot_id, 63);

	boot_id[got > 0 ? got : 0] = 0;
	boot_id[strcspn(boot_id, "\n")] = 0;
	if (fd >= 0)
		(void)close(fd);
}

static int begin_trace(struct session *session, struct err *err)
{
	struct ctf_trace_desc *desc = &session->desc;
	char dir[PATH_MAX + 8];
	const char *slash;

	*desc = (struct ctf_trace_desc){
		.hostname = session->hostname, .boot_id = session->boot_id, .uid = geteuid(),
		.clock_offset_ns = (int64_t)(session->clock[0].realtime - session->clock[0].monotonic),
		.created_s = (int64_t)(session->clock[0].realtime / 1000000000u),
	};
	read_boot_id(session->boot_id);
	(void)gethostname(session->hostname, sizeof session->hostname - 1);	/* then it stays empty */
	(void)sscanf(session->options.version, "%u.%u", &desc->version_major, &desc->version_minor);
	slash = strrchr(session->output, '/');
	desc->name = slash ? slash + 1 : session->output;
	(void)snprintf(dir, sizeof dir, "%s/ust", session->output);
	return ctf_writer_create(dir, desc, &session->drain.writer, err);
}

/* Beside ust/, as LTTng's per-process buffers have it: <pid>-<ordinal>/. */
static int make_own_writer(void *context, struct process *process)
{
	struct session *session = context;
	char dir[PATH_MAX + 32];

	(void)snprintf(dir, sizeof dir, "%s/%u-%u", session->output, process->region.pid,
		       process->ordinal);
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	if (ctf_writer_create(dir, &session->desc, &process->own_writer, NULL) < 0)
		return -EIO;
	return 0;
}

/* ---- begin ---- */

static uint64_t random_tag(void)
{
	uint64_t tag = 0;

	if (getrandom(&tag, sizeof tag, 0) != sizeof tag || !tag)
		tag = (uint64_t)getpid() << 32 | 1;
	return tag;
}

static struct session *session_new(const struct session_options *options)
{
	struct session *session = calloc(1, sizeof *session);

	if (!session)
		return NULL;
	session->options = *options;
	session->dir.fd = -1;
	session->domain.fd = -1;
	session->period_ms = PERIOD_MIN_MS;
	session->clock_period_ns = CLOCK_PERIOD_NS;
	session->clock = calloc(CLOCKS_MAX, sizeof *session->clock);
	session->drain.scratch = malloc(DRAIN_SCRATCH);
	session->drain.say = options->say;
	session->drain.context = options->context;
	session->drain.patience_ns = PATIENCE_NS;
	session->drain.make_own_writer = make_own_writer;
	session->drain.maker = session;
	if (session->clock && session->drain.scratch)
		return session;
	session_free(session);
	return NULL;
}

int session_begin(const struct session_options *options, struct session **result, struct err *err)
{
	struct session *session = session_new(options);

	if (!session)
		return err_set(err, EXIT_FAILED, "out of memory");
	if (rundir_open(&session->dir, options->runtime_dir, true, err) < 0 ||
	    (!options->frozen && domain_claim(&session->domain, &session->dir, err) < 0))
		goto fail;
	session_snapshot_clocks(session);
	session->started_ns = session->clock[0].monotonic;
	session->started_realtime_ns = (int64_t)session->clock[0].realtime;
	session->drain.start_ns = session->drain.now_ns = session->started_ns;
	if (make_output(session, err) < 0 || begin_trace(session, err) < 0) {
		remove_output(session);
		goto fail;
	}
	/* Named or dead processes only: a tag that nobody has keeps newcomers out. */
	session->domain_tag = options->pid_count || options->only_dead ? random_tag() : options->tag;
	if (!options->frozen)
		domain_announce(&session->domain, session->domain_tag, session->started_ns, session->output);
	session_scan(session);
	if (options->frozen)
		frozen_begin(session);
	session->clock_at = session->started_ns + session->clock_period_ns;
	*result = session;
	return 0;
fail:
	session_free(session);
	return -1;
}

/* ---- poll ---- */

void session_notice(struct session *session)
{
	session->noticed = true;
}

const char *session_runtime_dir(const struct session *session)
{
	return session->dir.path;
}

const char *session_output(const struct session *session)
{
	return session->output;
}

void session_write_error(struct session *session, int rc)
{
	if (rc == 0 && session->writing_fails) {
		session->writing_fails = false;
		drain_say(&session->drain, "%s can be written again; what the programs had no room "
			  "for meanwhile is counted as dropped", session->output);
	}
	if (rc >= 0)
		return;
	session->retry_at = session->drain.now_ns + RETRY_PERIOD_NS;
	if (!session->writing_fails)
		drain_say(&session->drain, "cannot write to %s: %s; make room: the traced programs go "
			  "on, their buffers fill, and what finds no room is counted", session->output,
			  strerror(-rc));
	if (!session->write_failed)
		(void)snprintf(session->write_error, sizeof session->write_error, "%s", strerror(-rc));
	session->writing_fails = session->write_failed = true;
}

static bool directory_changed(struct session *session)
{
	struct stat st;

	if (fstat(session->dir.fd, &st) < 0)
		return false;
	if (st.st_mtim.tv_sec == session->dir_mtime.tv_sec &&
	    st.st_mtim.tv_nsec == session->dir_mtime.tv_nsec)
		return false;
	session->dir_mtime = st.st_mtim;
	return true;
}

static void drain_all(struct session *session)
{
	unsigned rings = 0;
	int rc = 0;

	session->drain.fullest = 0;
	session->drain.grown = 0;
	for (unsigned i = 0; rc == 0 && i < session->process_count; i++) {
		struct process *process = session->process[i];

		if (process->finished)
			continue;
		rc = session_drain_process(session, process);
		rings += process->ring_count;
	}
	session_write_error(session, rc);
	session->drain.patience_ns = PATIENCE_NS * (1 + rings / STREAMS_PER_PATIENCE);
}

/* Housekeeping that needs no millisecond. Return: -1 when the trace is gone. */
static int keep_house(struct session *session, struct err *err)
{
	uint64_t now = session->drain.now_ns;
	int rc;

	if (session->noticed || now >= session->scan_at || directory_changed(session)) {
		session->noticed = false;
		session->scan_at = now + SCAN_PERIOD_NS;
		session_scan(session);
	}
	if (now >= session->alive_at && !session->writing_fails) {
		session->alive_at = now + ALIVE_PERIOD_NS;
		session_check_alive(session);
	}
	if (now >= session->clock_at) {
		session->clock_at = now + session->clock_period_ns;
		session_snapshot_clocks(session);
	}
	if (now < session->accounts_at)
		return 0;
	rc = session_write_accounts(session);
	/* With very many threads it takes long; not more than 2 % of the time. */
	session->accounts_at = now + ACCOUNTS_PERIOD_NS + 50 * (session_now() - now);
	if (rc == -ENOENT || rc == -ENOTDIR)
		return err_set(err, EXIT_FAILED, "the trace directory %s was removed while recording; "
			       "what was recorded is lost with it", session->output);
	return 0;
}

/*
 * How long to sleep. What counts is how fast the fastest ring fills: one found full after a long
 * sleep may need no more than shorter ones, one found half full after none at all is urgent.
 */
static int next_wait_ms(struct session *session, uint64_t slept_ns)
{
	uint64_t per_ms = session->drain.grown * MS / (slept_ns ? slept_ns : 1);

	if (per_ms > 128)		/* more than half a ring in the shortest sleep */
		return 0;
	if (per_ms > 16 || session->drain.fullest > 128)
		session->period_ms = PERIOD_MIN_MS;
	else if (session->drain.fullest < 16 && session->period_ms < PERIOD_MAX_MS)
		session->period_ms++;
	return (int)session->period_ms;
}

int session_poll(struct session *session, struct err *err)
{
	uint64_t last_ns = session->drain.now_ns;

	session->drain.now_ns = session_now();
	if (!session->writing_fails || session->drain.now_ns >= session->retry_at)
		drain_all(session);
	if (keep_house(session, err) < 0)
		return -1;
	return next_wait_ms(session, session->drain.now_ns - last_ns);
}

/* ---- end ---- */

/*
 * The domain rests first, so that nobody enters RECORD any more; then the regions. A process that
 * read the domain a moment earlier is found by the second scan.
 */
static void end_processes(struct session *session)
{
	if (!session->options.frozen) {
		session_scan(session);
		domain_rest(&session->domain);
		session_scan(session);
	}
	session->drain.final = true;
	for (unsigned i = 0; i < session->process_count; i++)
		session_wait(session->process[i]);
	for (unsigned i = 0; i < session->process_count; i++)
		session_settle(session->process[i]);
	session->drain.now_ns = session_now();
	session->ended_ns = session->drain.now_ns;
	session_check_alive(session);
	for (unsigned i = 0; i < session->process_count; i++)
		session_finish_process(session, session->process[i]);
}

int session_end(struct session *session, struct err *err)
{
	struct session_stats stats;
	int rc;

	end_processes(session);
	session_snapshot_clocks(session);
	session->ended = true;
	rc = session_write_accounts(session);
	session->bytes = ctf_writer_bytes(session->drain.writer);
	session_stats(session, &stats);
	ctf_writer_close(session->drain.writer);
	session->drain.writer = NULL;
	domain_release(&session->domain);
	if (session->write_failed)
		return err_set(err, EXIT_FAILED, "%s could not be written all the time (%s); %llu events "
			       "were dropped and %llu not written; the trace holds the others",
			       session->output, session->write_error,
			       (unsigned long long)stats.dropped, (unsigned long long)stats.unwritten);
	if (rc < 0)
		return err_set(err, EXIT_FAILED, "cannot write %s/kymo.json: %s; the trace itself is "
			       "complete", session->output, strerror(-rc));
	return 0;
}

void session_stats(const struct session *session, struct session_stats *stats)
{
	uint64_t until = session->ended_ns ? session->ended_ns : session->drain.now_ns;

	*stats = (struct session_stats){
		.processes = session->process_count,
		.refused = session->refused_count,
		.duration_ns = until - session->started_ns,
		.bytes = session->drain.writer ? ctf_writer_bytes(session->drain.writer) : session->bytes,
		.write_failed = session->write_failed,
	};
	for (unsigned i = 0; i < session->process_count; i++) {
		const struct process *process = session->process[i];

		stats->recorded += process->recorded;
		stats->dropped += process->dropped + process->dropped_no_ring;
		stats->init_events += process->init.events;
		stats->init_dropped += process->init_dropped;
		stats->unwritten += process->unwritten;
		stats->bytes += process->own_writer ? ctf_writer_bytes(process->own_writer) : process->own_bytes;
		stats->lost_bytes += process->lost_bytes;
		stats->overwritten += process->overwritten;
		stats->outside += process->outside;
		stats->threads += process->thread_count;
		stats->alive += !process->finished || process->end == PROCESS_RUNS;
	}
}

void session_free(struct session *session)
{
	if (!session)
		return;
	for (unsigned i = 0; i < session->process_count; i++) {
		region_close(&session->process[i]->region);
		free(session->process[i]->ring);
		free(session->process[i]->thread);
		classes_free(&session->process[i]->classes);
		ctf_writer_close(session->process[i]->own_writer);
		free(session->process[i]);
	}
	ctf_writer_close(session->drain.writer);
	domain_release(&session->domain);
	rundir_close(&session->dir);
	free(session->process);
	free(session->drain.scratch);
	free(session->clock);
	free(session->output);
	free(session);
}
