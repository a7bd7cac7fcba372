/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session from begin to end: beginning, changing rules, ending. session_poll.c has its rounds;
 * the other files of the room do the parts.
 */
#include "recorder/session/session.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <unistd.h>

#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"

#define MS 1000000ull
#define CLOCK_PERIOD_NS		(10000 * MS)
#define LAST_TRIES		20	/* to write what could not be written, at the end */
#define LAST_TRY_US		5000

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
	session_read_machine(&session->machine);
	session->period_ms = PERIOD_MIN_MS;
	session->spare = -1;
	session->clock_period_ns = CLOCK_PERIOD_NS;
	session->clock = calloc(CLOCKS_MAX, sizeof *session->clock);
	session->drain.scratch = malloc(DRAIN_SCRATCH);
	session->drain.sayer = (struct sayer){ options->say, options->context };
	session->drain.streams = options->frozen ? STREAMS_THREAD : options->streams;
	if (session->clock && session->drain.scratch)
		return session;
	session_free(session);
	return NULL;
}

static void recorded_by_others(const struct session *session, struct kymo_err *err)
{
	struct domain_info domain = { 0 };

	if (domain_inspect(&session->home[0].dir, &domain, NULL) < 0 || !domain.active)
		(void)err_set(err, KYMO_EXIT_FAILED, "this process is being recorded already; end that session first");
	else
		(void)err_set(err, KYMO_EXIT_FAILED, "this process is being recorded already, by process %d into %s; end "
			      "that session first (kymo stop)", domain.pid, domain.trace_path);
}

static bool session_has_sink(const struct session *session, const struct sink *sink)
{
	for (unsigned i = 0; i < session->drain.sink_count; i++)
		if (session->drain.sink[i] == sink)
			return true;
	return false;
}

int session_begin(const struct session_options *options, struct session **result,
		  struct kymo_err *err)
{
	struct session *session = session_new(options);

	if (!session) {
		if (options->sink)
			options->sink->ops->close(options->sink);
		return err_no_memory(err);
	}
	if (homes_open(session, err) < 0)
		goto fail;
	session->started_ns = session->drain.now_ns = clocks_snapshot(session)->monotonic;
	if (session_begin_sinks(session, err) < 0)
		goto fail;
	session->drain.patience_ns = session_patience(session, 0);
	/*
	 * For given or dead processes only: a tag that no process has keeps new ones out. Names are
	 * not in the domain page: all new processes begin to record, and those with other names go
	 * back to WAIT when they are found.
	 */
	session_begin_state(session);
	session->spare = fcntl(session->home[0].dir.fd, F_DUPFD_CLOEXEC, 0);
	homes_announce(session, options->name_count ? 0 :
		       options->pid_count || options->only_dead ? random_tag() : options->tag);
	session_scan(session);
	if (options->only_self && session->foreign_count) {
		recorded_by_others(session, err);
		goto fail;
	}
	if (options->frozen)
		frozen_begin(session);
	session->clock_at = session->started_ns + session->clock_period_ns;
	*result = session;
	return 0;
fail:
	if (options->sink && !session_has_sink(session, options->sink))
		options->sink->ops->close(options->sink);
	session_free(session);
	return -1;
}

/* ---- what it says of itself ---- */

void session_flush(struct session *session)
{
	session->flush = true;
}

void session_notice(struct session *session)
{
	session->noticed = true;
}

const char *session_runtime_dir(const struct session *session)
{
	return session->home[0].dir.path;
}

int64_t session_clock_offset(const struct session *session)
{
	return (int64_t)(session->clock[0].realtime - session->clock[0].monotonic);
}

void session_set_kernel(struct session *session, const struct sink *sink,
			const struct kernel_stats *stats)
{
	session->kernel_sink = sink;
	session->kernel = *stats;
}

void session_set_stacks(struct session *session, const struct sink *sink,
			const struct stacks_stats *stats)
{
	session->stacks_sink = sink;
	session->stacks = *stats;
}

const char *session_output(const struct session *session)
{
	return session->output;
}

struct sink *session_sink(const struct session *session, unsigned index)
{
	return index < session->drain.sink_count ? session->drain.sink[index] : NULL;
}

const struct drained_process *session_process(const struct session *session, unsigned index)
{
	return index < session->process_count ? session->process[index] : NULL;
}

unsigned session_processes_seen(const struct session *session)
{
	return session->processes_seen;
}

const struct filter *session_filter(const struct session *session)
{
	return session->options.filter;
}

/* ---- other rules ---- */

/* Events committed before the change are judged by the old rules. */
static int before_rules(struct session *session, struct kymo_err *err)
{
	if (!session->options.filter)
		return err_set(err, KYMO_EXIT_FAILED, "this session has no filter");
	drain_update_clock(&session->drain);
	session_drain_all(session, true);
	return 0;
}

static void after_rules(struct session *session)
{
	for (unsigned i = 0; i < session->process_count; i++) {
		struct drained_process *process = session->process[i];

		if (process->finished)
			continue;
		drain_filter_changed(process, &session->drain);
		if (process->recording && process->filter)
			filter_enable(process->filter);
	}
}

int session_set_rules(struct session *session, const struct filter_rules *rules,
		      struct kymo_err *err)
{
	if (before_rules(session, err) < 0)
		return -1;
	if (!filter_set(session->options.filter, rules))
		return err_no_memory(err);
	after_rules(session);
	return 0;
}

int session_set_caret(struct session *session, const char *const *value, struct kymo_err *err)
{
	if (before_rules(session, err) < 0)
		return -1;
	if (!filter_set_caret(session->options.filter, value, session->options.say,
			      session->options.context))
		return err_set(err, KYMO_EXIT_FAILED, "this session has no regular expressions, which CARET's lists need");
	after_rules(session);
	return 0;
}

unsigned session_left_out(const struct session *session)
{
	unsigned count = 0;

	for (unsigned i = 0; i < session->process_count; i++)
		if (!session->process[i]->finished)
			count += filter_left_out(session->process[i]->filter);
	return count;
}

/* ---- end ---- */

/* The session takes what its processes still have, and is through with them. */
static void finish_processes(struct session *session)
{
	for (unsigned i = 0; i < session->process_count; i++)
		session_wait(session->process[i]);
	for (unsigned i = 0; i < session->process_count; i++)
		session_settle(session->process[i]);
	drain_update_clock(&session->drain);
	if (!session->ended_ns)
		session->ended_ns = session->drain.now_ns;
	session_pause_ended(session);
	session_check_alive(session);
	for (unsigned i = 0; i < session->process_count; i++)
		session_finish_process(session, session->process[i]);
	session_forget_ended(session);
}

static void give_spare(struct session *session)
{
	if (session->spare >= 0)
		(void)close(session->spare);
	session->spare = -1;
}

static unsigned unfinished(const struct session *session)
{
	unsigned count = 0;

	for (unsigned i = 0; i < session->process_count; i++)
		count += !session->process[i]->finished;
	return count;
}

/*
 * Processes for which there was no descriptor, to be read or to be written, have those of the
 * others now. It may also be the program that has no others, or the machine: for a moment.
 */
static void finish_others(struct session *session)
{
	unsigned tries = LAST_TRIES;

	give_spare(session);
	while (tries) {
		const unsigned seen = session->processes_seen, left = unfinished(session);

		session_scan(session);
		finish_processes(session);
		if (!session->crowded && !unfinished(session))
			return;
		if (session->processes_seen > seen || unfinished(session) < left) {
			tries = LAST_TRIES;
		} else {
			(void)usleep(LAST_TRY_US);
			tries--;
		}
	}
	session->ending = true;
	if (session->crowded)
		session_scan(session);
	finish_processes(session);
}

/*
 * The domain goes to WAIT first, so that no process enters RECORD any more; then the regions. A
 * process that read the domain a moment earlier is found by the second scan.
 */
static void end_processes(struct session *session)
{
	if (!session->options.frozen) {
		session_scan(session);
		homes_switch(session, KYMO_STATE_WAIT);
		session_scan(session);
	}
	session->drain.final = true;
	sinks_mend(&session->drain, session->process, session->process_count, true);
	finish_processes(session);
	if (session->crowded || unfinished(session))
		finish_others(session);
}

int session_end(struct session *session, struct kymo_err *err)
{
	int rc;

	end_processes(session);
	(void)clocks_snapshot(session);
	rc = session_end_sinks(session, err);
	homes_release(session);
	return rc;
}

void session_stats(const struct session *session, struct session_stats *stats)
{
	uint64_t until = session->ended_ns ? session->ended_ns : session->drain.now_ns;

	*stats = session->earlier;
	stats->refused = session->refused_count;
	stats->foreign = session->foreign_count;
	stats->duration_ns = until - session->started_ns;
	stats->bytes = session->bytes;
	stats->write_failed = session->write_failed;
	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		const struct sink *sink = session->drain.sink[i];

		stats->bytes += sink->ops->bytes ? sink->ops->bytes(sink) : 0;
		stats->write_failed |= sink->failed;
	}
	for (unsigned i = 0; i < session->process_count; i++)
		session_add_totals(stats, session->process[i]);
}

void session_free_process(struct drained_process *process)
{
	region_close(&process->region);
	sinks_process_free(process);
	free(process->ring);
	free(process->thread);
	filter_forget(process->filter);
	classes_free(&process->classes);
	free(process);
}

void session_free(struct session *session)
{
	if (!session)
		return;
	session_drop_sinks(session);
	give_spare(session);
	for (unsigned i = 0; i < session->process_count; i++)
		session_free_process(session->process[i]);
	homes_release(session);
	homes_close(session);
	free(session->process);
	free(session->left_alone);
	free(session->drain.scratch);
	merged_free(&session->drain);
	free(session->clock);
	free(session->pause);
	free(session);
}
