/* SPDX-License-Identifier: Apache-2.0 */
/* See source.h. */
#include "top/source.h"

#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/now.h"
#include "live/live.h"
#include "top/tallies.h"
#include "top/follow.h"
#include "top/taking.h"

#define STEP_NS 40000000             /* between two looks at the keyboard */
#define READ_NS ((int64_t)200000000) /* between two looks at the files */
#define TRACE_NS \
	((int64_t)3000000) /* and this longer for each trace, but not longer than the interval */
#define RETRY_NS ((int64_t)1000000000)
#define PROGRAMS_MANY 100u        /* to record so many costs more of a CPU than a look is worth */
#define KEEP_BYTES (256ull << 20) /* of a relay's session, for `kymo why` */

struct source {
	const struct top_options *options;
	enum source_kind kind;
	struct board *board;
	struct follow follow;
	struct taking *taking;
	struct tallies *counts; /* NULL: nobody counts */
	bool wants_counts;      /* if nobody records, programs count */
	char name[1100], note[1200];
	const char *path;
	bool programs;    /* running ones; else a trace or a session */
	int64_t retry_ns; /* CLOCK_MONOTONIC: when to look for a recorder again */
	bool forgets;     /* a relay's session became too long to keep it */
	int (*step)(void *context, struct kymo_err *err);
	void *context;
};

/* ---- a directory ---- */

static volatile sig_atomic_t stopped;

static void on_stop(int signal)
{
	(void)signal;
	stopped = 1;
}

static void catch_signals(void)
{
	const struct sigaction action = { .sa_handler = on_stop };

	stopped = 0;
	(void)sigaction(SIGINT, &action, NULL);
	(void)sigaction(SIGTERM, &action, NULL);
	(void)sigaction(SIGHUP, &action, NULL);
}

/* Whether programs shall count, as the user wishes. */
static bool wishes_counts(const struct top_options *options)
{
	if (options->count != TOP_COUNT_MANY || options->pid)
		return options->count == TOP_COUNT_ALWAYS;
	return tallies_programs() >= PROGRAMS_MANY;
}

static void stop_counting(struct source *source)
{
	if (source->board)
		board_set_counts(source->board, NULL);
	tallies_close(source->counts);
	source->counts = NULL;
}

static int open_programs(struct source *source, struct kymo_err *err)
{
	const struct taking_options options = { .pid = source->options->pid,
						.version = source->options->version,
						.counts = source->wants_counts };
	const char *beside;

	if (taking_begin(&source->taking, &options, err) < 0)
		return -1;
	beside = taking_beside(source->taking);
	source->kind = beside                 ? SOURCE_BESIDE
		       : source->wants_counts ? SOURCE_COUNTING
					      : SOURCE_ALONE;
	source->path = taking_path(source->taking);
	(void)snprintf(source->name, sizeof(source->name), "%s", beside ? beside : "");
	if (source->kind == SOURCE_COUNTING &&
	    tallies_open(&source->counts, source->options->pid, err) < 0)
		return -1;
	if (source->counts && source->board)
		board_set_counts(source->board, source->counts);
	return 0;
}

static void note_programs(struct source *source)
{
	struct board_totals totals;

	board_totals(source->board, &totals);
	source->note[0] = 0;
	if (taking_no_room(source->taking, source->note, sizeof(source->note)))
		return;
	if (source->kind <= SOURCE_COUNTING && !totals.processes)
		(void)snprintf(source->note, sizeof(source->note),
			       source->options->hint && *source->options->hint
				       ? "%s: end top, and run \"kymo top --attach\""
				       : "waiting for programs: start them with \"kymo run\"",
			       source->options->hint);
}

/* Recorders come and go: with the next one, or alone again, the rows go on. The next one gets some
 * time to begin. */
static void change_recorder(struct source *source)
{
	struct kymo_err err;

	if (source->taking) {
		follow_close(&source->follow);
		source->follow = (struct follow){ .board = source->board,
						  .renews = true,
						  .from_begin = true };
		source->path = NULL;
		taking_end(source->taking);
		source->taking = NULL;
		stop_counting(source);
		source->retry_ns = now_ns() + RETRY_NS;
		(void)snprintf(source->note, sizeof(source->note),
			       "the recorder has ended; looking for the next one");
	} else if (now_ns() >= source->retry_ns && open_programs(source, &err) < 0) {
		source->retry_ns = now_ns() + RETRY_NS;
		(void)snprintf(source->note, sizeof(source->note), "%s", err.text);
	}
}

static int read_programs(struct source *source, struct kymo_err *err)
{
	/* What it wrote before it ended is read, too. */
	const bool over = !source->taking || taking_is_over(source->taking) ||
			  (source->kind == SOURCE_ALONE && source->wants_counts) ||
			  (source->kind == SOURCE_COUNTING && !source->wants_counts);

	if (source->taking && follow_files(&source->follow, source->path, err) < 0)
		return -1;
	if (over)
		change_recorder(source);
	else
		note_programs(source);
	return 0;
}

static int read_trace(struct source *source, struct kymo_err *err)
{
	if (follow_files(&source->follow, source->path, err) < 0)
		return -1;
	if (source->kind == SOURCE_GROWING && source->follow.over)
		(void)snprintf(source->note, sizeof(source->note),
			       "the recording has ended; these are its last numbers");
	return 0;
}

/* Each trace costs some system calls. */
static int64_t period_ns(const struct source *source)
{
	const unsigned traces =
		source->follow.reader ? kymo_ctf_trace_count(source->follow.reader) : 0;
	const int64_t period = READ_NS + traces * TRACE_NS;

	return period < source->options->interval_ns || source->options->interval_ns < READ_NS
		       ? period
		       : source->options->interval_ns;
}

static int run_files(struct source *source, struct kymo_err *err)
{
	const struct timespec pause = { .tv_nsec = STEP_NS };
	const bool whole = source->follow.whole;
	int64_t read_ns = 0;
	int rc = 0;

	catch_signals();
	while (rc == 0 && !stopped) {
		if (whole || now_ns() - read_ns >= period_ns(source)) {
			read_ns = now_ns();
			if ((source->programs ? read_programs : read_trace)(source, err) < 0)
				return -1;
		}
		rc = source->step(source->context, err);
		if (rc == 0 && (!whole || source->follow.over))
			(void)nanosleep(&pause, NULL);
	}
	return rc < 0 ? -1 : 0;
}

/* ---- a relay ---- */

static int64_t relay_until(void *context, const struct kymo_ctf_reader *reader)
{
	return live_until(context, reader);
}

static int on_data(void *context, struct live *live, bool final, struct kymo_err *err)
{
	struct source *source = context;
	struct live_counts counts;

	if (follow_until(&source->follow, live_path(live), live_has_news(live), relay_until, live,
			 err) < 0)
		return -1;
	live_count(live, &counts);
	source->forgets |= counts.bytes > KEEP_BYTES;
	source->path = source->forgets || !source->follow.reader ? NULL : live_path(live);
	if (source->forgets && source->follow.reader)
		live_forget(live, source->follow.reader, source->follow.until);
	if (!final)
		return 0;
	/* The user looks at it as long as the user likes; the files are still there. */
	source->follow.over = true;
	(void)snprintf(source->note, sizeof(source->note),
		       "the session has ended; these are its last numbers");
	catch_signals();
	for (int rc = 0; !stopped;) {
		const struct timespec pause = { .tv_nsec = STEP_NS };

		rc = source->step(source->context, err);
		if (rc)
			return rc;
		(void)nanosleep(&pause, NULL);
	}
	return 1;
}

static int on_tick(void *context, struct live *live, struct kymo_err *err)
{
	struct source *source = context;

	(void)live;
	return source->step(source->context, err);
}

static void say(void *context, const char *text)
{
	struct source *source = context;

	(void)snprintf(source->note, sizeof(source->note), "%s", text);
}

static int run_relay(struct source *source, struct kymo_err *err)
{
	const struct top_options *options = source->options;
	const struct live_options live = {
		.url = options->url,
		.tls = options->tls,
		.token = options->token,
		.from_now = true,
		.update = on_data,
		.tick = on_tick,
		.period_ns = STEP_NS,
		.say = say,
		.context = source,
	};

	return live_run(&live, err);
}

/* ---- all of them ---- */

static int open_trace(struct source *source, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;

	if (kymo_ctf_open(source->options->trace, &reader, err) < 0)
		return -1;
	source->kind = watch_alive(reader, "") ? SOURCE_GROWING : SOURCE_COMPLETE;
	kymo_ctf_close(reader);
	source->path = source->options->trace;
	(void)snprintf(source->name, sizeof(source->name), "%s", source->options->trace);
	return 0;
}

static int open_kind(struct source *source, struct kymo_err *err)
{
	const struct url *url = source->options->url;

	if (source->options->trace)
		return open_trace(source, err);
	source->programs = !url;
	source->wants_counts = !url && wishes_counts(source->options);
	if (!url)
		return open_programs(source, err);
	source->kind = SOURCE_RELAY;
	(void)snprintf(source->name, sizeof(source->name), "%s", url->session);
	return 0;
}

int source_open(struct source **out, const struct top_options *options, struct kymo_err *err)
{
	struct source *source = calloc(1, sizeof(*source));
	struct board_options board = { .selection = options->selection,
				       .pid = options->pid,
				       .all = options->all };

	if (!source)
		return err_no_memory(err);
	source->options = options;
	if (open_kind(source, err) < 0)
		goto fail;
	board.whole = source->kind == SOURCE_COMPLETE;
	board.local = source->programs;
	if (board_create(&source->board, &board, err) < 0)
		goto fail;
	source->follow = (struct follow){ .board = source->board,
					  .whole = board.whole,
					  .renews = board.local,
					  .from_begin = board.local };
	board_set_counts(source->board, source->counts);
	*out = source;
	return 0;
fail:
	source_close(source);
	return -1;
}

void source_close(struct source *source)
{
	if (!source)
		return;
	if (source->board)
		follow_close(&source->follow);
	stop_counting(source);
	board_destroy(source->board);
	taking_end(source->taking);
	free(source);
}

int source_run(struct source *source, int (*step)(void *context, struct kymo_err *err),
	       void *context, struct kymo_err *err)
{
	source->step = step;
	source->context = context;
	return source->kind == SOURCE_RELAY ? run_relay(source, err) : run_files(source, err);
}

void source_count(struct source *source, bool counts)
{
	source->wants_counts = counts;
}

struct board *source_board(const struct source *source)
{
	return source->board;
}

enum source_kind source_kind(const struct source *source)
{
	return source->kind;
}

const char *source_name(const struct source *source)
{
	return source->name;
}

const char *source_path(const struct source *source)
{
	return source->path;
}

int64_t source_until(const struct source *source)
{
	/* The names that it has are as old as the programs. */
	if (source->kind == SOURCE_COUNTING)
		return clock_now_ns(CLOCK_REALTIME);
	return source->follow.until == INT64_MIN || source->follow.until == INT64_MAX
		       ? 0
		       : source->follow.until;
}

bool source_is_over(const struct source *source)
{
	return source->follow.over;
}

const char *source_note(const struct source *source)
{
	return source->note;
}
