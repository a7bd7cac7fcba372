/* SPDX-License-Identifier: Apache-2.0 */
/* The sinks of a session: created at its begin, added and removed meanwhile, closed at its end. */
#include <errno.h>
#include <string.h>

#include <stdlib.h>

#include "recorder/drain/sink_list.h"
#include "recorder/filter/filter.h"
#include "recorder/session/session_internal.h"
#include "recorder/trace/sink_ctf.h"

/* @clock: of this moment. The sink stays the caller's when it fails. */
static int attach(struct session *session, struct sink *sink, const struct clock_snapshot *clock,
		  struct kymo_err *err)
{
	int rc;

	sink->added_ns = clock->monotonic;
	sink->start_realtime_ns = (int64_t)clock->realtime;
	sink->id = ++session->sinks_made;
	rc = sinks_add(&session->drain, sink, session->process, session->process_count);
	if (rc == -ENOSPC)
		return err_set(err, KYMO_EXIT_FAILED, "the session has %d sinks already; remove one first",
			       SINKS_MAX);
	return rc < 0 ? err_no_memory(err) : 0;
}

static int make_trace(const struct session *session, const char *path,
		      const struct sink_files *files, const struct clock_snapshot *clock,
		      struct sink **sink, struct kymo_err *err)
{
	struct sink_files with_rules = files ? *files : (struct sink_files){ 0 };
	char *rules = filter_rules_join(filter_rules_of(session->options.filter));
	int rc;

	if (!with_rules.rules)
		with_rules.rules = rules;
	rc = sink_ctf_create(path, session->options.version, clock->monotonic, clock->realtime,
			     &with_rules, sink, err);
	free(rules);
	return rc;
}

static int begin_trace(struct session *session, const char *path, struct kymo_err *err)
{
	const struct clock_snapshot *clock = &session->clock[0];
	struct sink *trace;

	if (make_trace(session, path, &session->options.files, clock, &trace, err) < 0)
		return -1;
	if (attach(session, trace, clock, err) == 0)
		return 0;
	trace->ops->close(trace);
	return -1;
}

/* All sinks exist before the first scan, so that each gets what a killed recorder left. */
int session_begin_sinks(struct session *session, struct kymo_err *err)
{
	const struct session_options *options = &session->options;
	const struct clock_snapshot *clock = &session->clock[0];

	if (options->output && begin_trace(session, options->output, err) < 0)
		return -1;
	for (unsigned i = 0; i < options->more_count; i++)
		if (begin_trace(session, options->more[i], err) < 0)
			return -1;
	if (options->sink && attach(session, options->sink, clock, err) < 0)
		return -1;
	session->output = session->drain.sink[0]->name;
	return 0;
}

int session_add_sink(struct session *session, struct sink *sink, struct kymo_err *err)
{
	const struct clock_snapshot *clock;

	drain_update_clock(&session->drain);
	session_scan(session);
	session_drain_all(session, true);
	clock = clocks_snapshot(session);
	if (attach(session, sink, clock, err) < 0)
		return -1;
	session->accounts_at = session->horizon_at = 0;
	return 0;
}

int session_add_trace(struct session *session, const char *path, const struct sink_files *files,
		      struct sink **sink, struct kymo_err *err)
{
	const struct clock_snapshot *clock = clocks_snapshot(session);

	if (make_trace(session, path, files, clock, sink, err) < 0)
		return -1;
	if (session_add_sink(session, *sink, err) == 0)
		return 0;
	(*sink)->ops->close(*sink);
	return -1;
}

void session_turn_sinks(struct session *session)
{
	struct drain *drain = &session->drain;
	bool drained = false;

	for (unsigned i = 0; i < drain->sink_count; i++) {
		struct sink *sink = drain->sink[i];
		const struct sink_place_ops *place = sink->ops->place;

		if (!place || !place->due || sink->fails || !place->due(sink, drain->now_ns))
			continue;
		if (!drained)
			session_drain_all(session, true);
		drained = true;
		sinks_turn(drain, sink, session->process, session->process_count);
	}
}

/* Judges a sink that is complete. @rc: of writing its accounts. Return: 0; -1 with @err: what it
 * lacks. */
static int verdict(const struct sink *sink, bool gone, int rc, const struct session_stats *own,
		   struct kymo_err *err)
{
	if (gone)
		return err_set(err, KYMO_EXIT_FAILED, "the trace directory %s was removed while recording; what was "
			       "recorded is lost with it", sink->name);
	if (sink->failed)
		return err_set(err, KYMO_EXIT_FAILED, "%s could not be written all the time (%s); %llu events "
			       "were dropped and %llu not written; %llu were removed with it; the trace contains the "
			       "others%s", sink->name, sink->removed.times ? "it was removed" : sink->error,
			       (unsigned long long)own->dropped, (unsigned long long)own->unwritten,
			       (unsigned long long)sink->removed.events, rc < 0 ? "; its kymo.json could not be "
			       "brought up to date" : "");
	if (rc < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot write %s/kymo.json: %s; the trace itself is "
			       "complete", sink->name, strerror(-rc));
	return 0;
}

/* Writes the accounts of a sink that is complete, and takes it out of the session. Return: as
 * session_remove_sink(). */
static int finish_sink(struct session *session, struct sink *sink, struct session_stats *stats,
		       struct kymo_err *err)
{
	const bool gone = sink_is_gone(sink, true);
	const int rc = session_write_accounts(session, sink, true);
	int result;

	session_sink_stats(session, sink, stats);
	result = verdict(sink, gone, rc, stats, err);
	session->bytes += stats->bytes;
	session->write_failed |= sink->failed;
	sinks_detach(&session->drain, sink, session->process, session->process_count);
	session->output = session->drain.sink_count ? session->drain.sink[0]->name : "";
	return result;
}

static int close_sink(struct session *session, struct sink *sink, struct session_stats *stats,
		      struct kymo_err *err)
{
	struct session_stats own;
	const int result = finish_sink(session, sink, stats ? stats : &own, err);

	sink->ops->close(sink);
	return result;
}

/* Drains everything into @sink that belongs to it. Return: 0; -1 with @err: it is the only sink. */
static int complete_sink(struct session *session, struct sink *sink, struct kymo_err *err)
{
	if (session->drain.sink_count == 1)
		return err_set(err, KYMO_EXIT_USAGE, "%s is the only sink of its session; end the session "
			       "instead", sink->name);
	drain_update_clock(&session->drain);
	session_scan(session);
	session_drain_all(session, true);
	sinks_complete(&session->drain, sink, session->process, session->process_count);
	return 0;
}

int session_remove_sink(struct session *session, struct sink *sink, struct session_stats *stats,
			struct kymo_err *err)
{
	if (complete_sink(session, sink, err) < 0)
		return -1;
	return close_sink(session, sink, stats, err);
}

/* ---- sinks that take time to end ---- */

static void close_leaving(struct session *session, unsigned number)
{
	const struct leaving gone = session->leaving[number];

	session->leaving[number] = session->leaving[--session->leaving_count];
	if (gone.leave)
		gone.leave->done(gone.leave, gone.sink);
	gone.sink->ops->close(gone.sink);
	if (gone.leave)
		gone.leave->closed(gone.leave);
}

void session_close_ended(struct session *session)
{
	for (unsigned i = session->leaving_count; i-- > 0; ) {
		struct sink *sink = session->leaving[i].sink;

		if (!sink->ops->ending || sink->ops->ending(sink))
			close_leaving(session, i);
	}
}

int session_dismiss_sink(struct session *session, struct sink *sink, struct sink_leave *leave,
			 struct session_stats *stats, struct kymo_err *err)
{
	struct leaving *place = &session->leaving[session->leaving_count];
	int rc;

	if (session->leaving_count == SINKS_MAX)
		return err_set(err, KYMO_EXIT_FAILED, "%d sinks are ending already; remove %s when one of them has ended", SINKS_MAX,
			       sink->name);
	if (complete_sink(session, sink, err) < 0)
		return -1;
	rc = finish_sink(session, sink, stats, err);
	*place = (struct leaving){ sink, rc < 0 ? NULL : leave, *stats };
	session->leaving_count++;
	session_close_ended(session);
	return rc;
}

const struct sink *session_leaving(const struct session *session, unsigned index,
				   struct session_stats *stats)
{
	if (index >= session->leaving_count)
		return NULL;
	*stats = session->leaving[index].stats;
	return session->leaving[index].sink;
}

struct sink_leave *session_take_leave(struct session *session, unsigned index)
{
	struct sink_leave *leave = session->leaving[index].leave;

	session->leaving[index].leave = NULL;
	return leave;
}

/* All sinks begin to end at the same time; then each is waited for. */
static void begin_to_end(struct session *session)
{
	for (unsigned i = 0; i < session->drain.sink_count; i++) {
		struct sink *sink = session->drain.sink[i];

		if (sink->ops->ending)
			(void)sink->ops->ending(sink);
	}
}

int session_end_sinks(struct session *session, struct kymo_err *err)
{
	int result = 0;

	for (unsigned i = 0; i < session->drain.sink_count; i++)
		session->drain.sink[i]->end_ns = session->ended_ns;
	begin_to_end(session);
	while (session->leaving_count)
		close_leaving(session, session->leaving_count - 1);
	while (session->drain.sink_count) {
		if (close_sink(session, session->drain.sink[0], NULL, result < 0 ? NULL : err) < 0)
			result = -1;
	}
	return result;
}

void session_drop_sinks(struct session *session)
{
	while (session->leaving_count)
		close_leaving(session, session->leaving_count - 1);
	while (session->drain.sink_count) {
		struct sink *sink = session->drain.sink[0];

		for (unsigned i = 0; i < session->process_count; i++) {
			struct sink_process *at =
				sink_at(&session->drain, sink, session->process[i]);

			if (at && !at->left && sink->ops->leave)
				sink->ops->leave(sink, at);
		}
		sinks_detach(&session->drain, sink, session->process, session->process_count);
		sink->ops->close(sink);
	}
}

void session_keep_accounts(struct session *session)
{
	/* Failures are ignored: the next call tries again, and a directory that is gone is noticed
	 * elsewhere. */
	for (unsigned i = 0; i < session->drain.sink_count; i++)
		(void)session_write_accounts(session, session->drain.sink[i], false);
}
