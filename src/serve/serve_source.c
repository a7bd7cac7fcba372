/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_source.h. */
#include "serve/serve_source.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "live/watch.h"
#include "serve/serve_counts.h"
#include "serve/serve_sample.h"
#include "summary/summary_limit.h"
#include "top/taking.h"

#define TURN_NS ((int64_t)50000000) /* of reading, before requests are answered */
#define TURN_EVENTS 4096u
#define RETRY_NS ((int64_t)1000000000)
#define TRACES_LEAST 64u         /* a reader that has seen so many traces is opened again */
#define TRACES_TIMES 3u          /* if it is so many times as many as at first */
#define CHUNK_BYTES (4ull << 20) /* of what is kept of running programs: what was read goes */
#define MOST_BYTES (16ull << 20)
#define SAMPLE_WAIT_NS ((int64_t)2000000000)

struct serve_source {
	struct serve_source_options to;
	struct summary_windows_options options;
	struct summary_limit *limit;
	struct taking *taking; /* of running programs; NULL: nobody records them now */
	struct serve_counts *counts; /* NULL: they are recorded, and only `windows` are there */
	struct serve_sample sample;  /* of programs that count */
	int64_t retry_ns;      /* CLOCK_MONOTONIC: when to look for a recorder again */
	struct kymo_ctf_reader *reader;
	struct summary_windows *windows;
	struct watch watch;
	unsigned traces; /* of the reader at first */
	int64_t until;   /* events up to this time, epoch, were read; INT64_MIN: none */
	bool growing, over;
	bool takes_counts; /* the window that is being taken is from counters */
	char note[1200]; /* why programs can't be read at the moment; "" */
};

/* ---- windows ---- */

/* @context: the source. */
static int on_window(void *context, const struct summary *summary, int64_t begin_ns,
		     struct kymo_err *err)
{
	struct serve_source *source = context;
	int64_t length_ns = source->to.window_ns;

	if (source->sample.sample_ns)
		length_ns = serve_sample_part(&source->sample, source->takes_counts, &begin_ns);
	return source->to.take(source->to.context, summary, begin_ns, length_ns, err);
}

static int look_at_counts(struct serve_source *source, bool cut, struct kymo_err *err)
{
	int status = 0;

	if (!source->counts)
		return 0;
	source->takes_counts = true;
	status = cut ? serve_counts_cut(source->counts, err)
		     : serve_counts_until(source->counts, clock_now_ns(CLOCK_REALTIME), err);
	source->takes_counts = false;
	return status;
}

/* ---- reader ---- */

static const char *path_of(const struct serve_source *source)
{
	return source->to.trace ? source->to.trace : taking_path(source->taking);
}

static void close_reader(struct serve_source *source)
{
	struct kymo_err unused;

	if (source->counts)
		(void)serve_counts_attach(source->counts, NULL, &unused);
	summary_windows_free(source->windows);
	kymo_ctf_close(source->reader);
	source->windows = NULL;
	source->reader = NULL;
	source->watch = (struct watch){ 0 };
}

/* Return: 0, or -1 with @err. A trace that does not exist yet is not an error. */
static int open_reader(struct serve_source *source, struct kymo_err *err)
{
	if (kymo_ctf_open(path_of(source), &source->reader, err)) {
		source->reader = NULL;
		return err->status == KYMO_EXIT_INPUT && !source->to.trace ? 0 : -1;
	}
	source->traces = kymo_ctf_trace_count(source->reader);
	kymo_ctf_growing(source->reader, source->growing);
	if ((source->counts && serve_counts_attach(source->counts, source->reader, err)) ||
	    ((!source->counts || source->sample.sample_ns) &&
	     summary_windows_create(&source->windows, source->reader, &source->options, err)))
		return -1;
	if (source->growing)
		kymo_ctf_until(source->reader, INT64_MIN);
	return 0;
}

/* A reader keeps what it knows of every chunk that it has seen. */
static bool is_worn(const struct serve_source *source)
{
	const unsigned traces = kymo_ctf_trace_count(source->reader);

	return source->growing && traces >= TRACES_LEAST &&
	       traces >= TRACES_TIMES * source->traces;
}

static int take_event(struct serve_source *source, const struct kymo_ctf_event *event,
		      int64_t skip_until, struct kymo_err *err)
{
	const bool skip = event->ns <= skip_until ||
			  (source->counts && !serve_sample_has(&source->sample, event->ns));

	if (source->counts && serve_counts_event(source->counts, event, err))
		return -1;
	if (!source->windows)
		return 0;
	summary_windows_skip(source->windows, skip);
	return summary_windows_event(source->windows, event, err);
}

/* Return: 1: there is more; 0: there is not; -1 with @err. */
static int read_events(struct serve_source *source, int64_t skip_until, struct kymo_err *err)
{
	const int64_t end = now_ns() + TURN_NS;
	struct kymo_ctf_event event;
	unsigned count = 0;
	int more;

	while ((more = kymo_ctf_next(source->reader, &event, err)) > 0) {
		if (take_event(source, &event, skip_until, err))
			return -1;
		if (++count % TURN_EVENTS == 0 && now_ns() > end && skip_until == INT64_MIN)
			return 1;
	}
	return more;
}

/* The new reader reads what is still there for its names. */
static int renew(struct serve_source *source, struct kymo_err *err)
{
	if (source->windows && summary_windows_cut(source->windows, err))
		return -1;
	close_reader(source);
	if (open_reader(source, err))
		return -1;
	if (!source->reader || source->until == INT64_MIN)
		return 0;
	kymo_ctf_until(source->reader, source->until);
	return read_events(source, source->until, err);
}

/* ---- what grows ---- */

static int read_growing(struct serve_source *source, struct kymo_err *err)
{
	int grew, more = 0;

	if (source->reader && is_worn(source) && renew(source, err))
		return -1;
	watch_check(&source->watch, source->reader, now_ns());
	if (!source->watch.due)
		return 0;
	grew = 1;
	if (source->reader)
		grew = kymo_ctf_refresh(source->reader, err);
	else if (open_reader(source, err))
		return -1;
	if (grew < 0)
		return -1;
	/* Before their events are read. */
	if (grew && source->windows && summary_windows_has_new_kinds(source->windows))
		return renew(source, err);
	watch_done(&source->watch, source->reader, grew > 0, now_ns());
	if (!source->reader || source->watch.until == INT64_MIN)
		return 0;
	if (source->watch.until > source->until)
		source->until = source->watch.until;
	kymo_ctf_until(source->reader, source->until);
	do
		more = read_events(source, INT64_MIN, err);
	while (more > 0);
	if (more < 0)
		return -1;
	source->over = source->watch.over;
	if (source->counts)
		return 0;
	/* The recording has ended, and nothing of its last window will come. */
	if (source->until == INT64_MAX)
		return summary_windows_cut(source->windows, err);
	return summary_windows_until(source->windows, source->until, err);
}

static int begin_taking(struct serve_source *source, struct kymo_err *err)
{
	const struct taking_options options = { .version = source->to.version,
						.counts = source->to.counts,
						.chunk_bytes = CHUNK_BYTES,
						.most_bytes = MOST_BYTES };

	if (taking_begin(&source->taking, &options, err)) {
		source->taking = NULL;
		return -1;
	}
	source->sample = (struct serve_sample){ .window_ns = source->to.window_ns };
	if (!taking_only_counts(source->taking))
		return 0;
	source->sample.sample_ns = source->to.sample_ns;
	serve_sample_begin(&source->sample, clock_now_ns(CLOCK_REALTIME));
	return serve_counts_open(&source->counts, &source->options, err);
}

static int end_taking(struct serve_source *source, struct kymo_err *err)
{
	if ((source->windows && summary_windows_finish(source->windows, err)) ||
	    look_at_counts(source, true, err))
		return -1;
	close_reader(source);
	serve_counts_close(source->counts);
	source->counts = NULL;
	taking_end(source->taking);
	source->taking = NULL;
	source->until = INT64_MIN;
	return 0;
}

/* Recorders come and go: with the next one, or alone again, the windows go on. */
static int change_recorder(struct serve_source *source, struct kymo_err *err)
{
	if (source->taking) {
		if (end_taking(source, err))
			return -1;
		source->retry_ns = now_ns() + RETRY_NS;
	}
	if (now_ns() >= source->retry_ns && begin_taking(source, err)) {
		if (source->taking)
			return -1;
		(void)snprintf(source->note, sizeof(source->note), "%s", err->text);
		source->retry_ns = now_ns() + RETRY_NS;
	}
	return 0;
}

/* ---- programs that count are recorded for a while ---- */

/* All of the sample was read; a recorder that does not answer for so long gives no more of it. */
static bool has_read_sample(const struct serve_source *source, int64_t now)
{
	return source->until >= source->sample.end_ns ||
	       now - source->sample.end_ns > SAMPLE_WAIT_NS;
}

static int next_phase(struct serve_source *source, struct kymo_err *err)
{
	const bool records = source->sample.phase == SERVE_SAMPLE_COUNTS;
	const int64_t before_ns = clock_now_ns(CLOCK_REALTIME);

	/* It fails if the recorder has just ended or changed: change_recorder() comes next. */
	if (source->sample.phase != SERVE_SAMPLE_READS &&
	    taking_record(source->taking, records, err)) {
		(void)snprintf(source->note, sizeof(source->note), "%s", err->text);
		return 0;
	}
	if (source->sample.phase == SERVE_SAMPLE_READS && source->windows &&
	    summary_windows_cut(source->windows, err))
		return -1;
	/* A sample has all that was recorded, from before the first program records until after
	 * the last one does. */
	serve_sample_next(&source->sample, records ? before_ns : clock_now_ns(CLOCK_REALTIME));
	return records ? look_at_counts(source, true, err) : 0;
}

static int sample(struct serve_source *source, struct kymo_err *err)
{
	const int64_t now = clock_now_ns(CLOCK_REALTIME);

	if (!source->counts || !serve_sample_is_due(&source->sample, now) ||
	    (source->sample.phase == SERVE_SAMPLE_READS && !has_read_sample(source, now)))
		return 0;
	return next_phase(source, err);
}

/* ---- running programs ---- */

/* The trace in memory: systemd-logind empties /dev/shm when the user logs out (RemoveIPC). */
static bool is_removed(const struct serve_source *source)
{
	return access(taking_path(source->taking), F_OK) && errno == ENOENT;
}

static int read_programs(struct serve_source *source, struct kymo_err *err)
{
	const bool over = !source->taking || taking_is_over(source->taking);

	if (source->taking && read_growing(source, err))
		return is_removed(source) ? change_recorder(source, err) : -1;
	if (look_at_counts(source, false, err))
		return -1;
	if (over)
		return change_recorder(source, err);
	if (!taking_no_room(source->taking, source->note, sizeof(source->note)))
		source->note[0] = 0;
	return sample(source, err);
}

static int read_whole(struct serve_source *source, struct kymo_err *err)
{
	int more;

	if (source->over)
		return 0;
	more = read_events(source, INT64_MIN, err);
	if (more == 0) {
		source->over = true;
		return summary_windows_finish(source->windows, err);
	}
	return more;
}

int serve_source_read(struct serve_source *source, struct kymo_err *err)
{
	if (!source->to.trace)
		return read_programs(source, err);
	return source->growing ? read_growing(source, err) : read_whole(source, err);
}

/* ---- life cycle ---- */

static int open_trace(struct serve_source *source, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;

	if (access(source->to.trace, F_OK))
		return err_set(err, KYMO_EXIT_INPUT,
			       "cannot open the trace %s: %s; name a trace directory (\"kymo ls\" lists them)",
			       source->to.trace, strerror(errno));
	if (kymo_ctf_open(source->to.trace, &reader, err))
		return -1;
	source->growing = watch_alive(reader, "");
	kymo_ctf_close(reader);
	return source->growing ? 0 : open_reader(source, err);
}

int serve_source_open(struct serve_source **out, const struct serve_source_options *options,
		      struct kymo_err *err)
{
	struct serve_source *source = calloc(1, sizeof(*source));
	int status;

	if (!source)
		return err_no_memory(err);
	source->to = *options;
	source->limit = summary_limit_new(options->entities_max);
	if (!source->limit) {
		free(source);
		return err_no_memory(err);
	}
	source->options = (struct summary_windows_options){ .length_ns = options->window_ns,
							     .limit = source->limit,
							     .objects_max = options->objects_max,
							     .take = on_window,
							     .context = source };
	source->until = INT64_MIN;
	source->growing = !options->trace;
	status = options->trace ? open_trace(source, err) : begin_taking(source, err);
	if (status) {
		serve_source_close(source);
		return -1;
	}
	*out = source;
	return 0;
}

const char *serve_source_note(const struct serve_source *source)
{
	return source->note;
}

bool serve_source_is_over(const struct serve_source *source)
{
	return source->to.trace && source->over;
}

int serve_source_end(struct serve_source *source, struct kymo_err *err)
{
	if (look_at_counts(source, true, err))
		return -1;
	if (!source->windows || (!source->growing && source->over))
		return 0;
	return summary_windows_finish(source->windows, err);
}

void serve_source_close(struct serve_source *source)
{
	if (!source)
		return;
	close_reader(source);
	serve_counts_close(source->counts);
	taking_end(source->taking);
	summary_limit_free(source->limit);
	free(source);
}
