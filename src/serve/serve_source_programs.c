/* SPDX-License-Identifier: Apache-2.0 */
/* Running programs as a source: recorders come and go, and programs that count are recorded for a
 * while. See serve_source.h. */
#include "serve/serve_source_internal.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>

#include "base/now.h"

#define RETRY_NS ((int64_t)1000000000)
#define CHUNK_BYTES (4ull << 20) /* of what is kept of running programs: what was read goes */
#define MOST_BYTES (16ull << 20)
#define SAMPLE_WAIT_NS ((int64_t)2000000000)

int serve_source_begin(struct serve_source *source, struct kymo_err *err)
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
	    serve_source_look(source, true, err))
		return -1;
	serve_source_drop(source);
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
	if (now_ns() >= source->retry_ns && serve_source_begin(source, err)) {
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
	return records ? serve_source_look(source, true, err) : 0;
}

static int sample(struct serve_source *source, struct kymo_err *err)
{
	const int64_t now = clock_now_ns(CLOCK_REALTIME);

	if (!source->counts || !serve_sample_is_due(&source->sample, now) ||
	    (source->sample.phase == SERVE_SAMPLE_READS && !has_read_sample(source, now)))
		return 0;
	return next_phase(source, err);
}

/* The trace in memory: systemd-logind empties /dev/shm when the user logs out (RemoveIPC). */
static bool is_removed(const struct serve_source *source)
{
	return access(taking_path(source->taking), F_OK) && errno == ENOENT;
}

int serve_source_programs(struct serve_source *source, struct kymo_err *err)
{
	const bool over = !source->taking || taking_is_over(source->taking);

	if (source->taking && serve_source_grow(source, err))
		return is_removed(source) ? change_recorder(source, err) : -1;
	if (serve_source_look(source, false, err))
		return -1;
	if (over)
		return change_recorder(source, err);
	if (!taking_no_room(source->taking, source->note, sizeof(source->note)))
		source->note[0] = 0;
	return sample(source, err);
}
