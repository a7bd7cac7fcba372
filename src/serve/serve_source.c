/* SPDX-License-Identifier: Apache-2.0 */
/* See serve_source.h. */
#include "serve/serve_source_internal.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"
#include "summary/summary_limit.h"

#define TURN_NS ((int64_t)50000000) /* of reading, before requests are answered */
#define TURN_EVENTS 4096u
#define TRACES_LEAST 64u         /* a reader that has seen so many traces is opened again */
#define TRACES_TIMES 3u          /* if it is so many times as many as at first */

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

int serve_source_look(struct serve_source *source, bool cut, struct kymo_err *err)
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

void serve_source_drop(struct serve_source *source)
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
	serve_source_drop(source);
	if (open_reader(source, err))
		return -1;
	if (!source->reader || source->until == INT64_MIN)
		return 0;
	kymo_ctf_until(source->reader, source->until);
	return read_events(source, source->until, err);
}

/* ---- what grows ---- */

int serve_source_grow(struct serve_source *source, struct kymo_err *err)
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
		return serve_source_programs(source, err);
	return source->growing ? serve_source_grow(source, err) : read_whole(source, err);
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
	status = options->trace ? open_trace(source, err) : serve_source_begin(source, err);
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
	if (serve_source_look(source, true, err))
		return -1;
	if (!source->windows || (!source->growing && source->over))
		return 0;
	return summary_windows_finish(source->windows, err);
}

void serve_source_close(struct serve_source *source)
{
	if (!source)
		return;
	serve_source_drop(source);
	serve_counts_close(source->counts);
	taking_end(source->taking);
	summary_limit_free(source->limit);
	free(source);
}
