/* SPDX-License-Identifier: Apache-2.0 */
/*
 * When programs that only count are recorded for a while, so that their windows have durations,
 * too:
 *
 *   window    |------------------------------|------------------------------|
 *   recorded        |-----|                                 |-----|
 *   parts     |  1  |  2  |        3         |       1      |  2  |    3    |
 *
 * The place in the window is a matter of chance, for what a robot does has periods of its own. A
 * part is a window of its own: each event is in one of them, so they add up.
 *
 * Context of all functions: one thread; wait-free.
 */
#ifndef KYMO_SERVE_SAMPLE_H
#define KYMO_SERVE_SAMPLE_H

#include <stdbool.h>
#include <stdint.h>

enum serve_sample_phase {
	SERVE_SAMPLE_COUNTS,  /* programs count */
	SERVE_SAMPLE_RECORDS, /* they are recorded */
	SERVE_SAMPLE_READS,   /* they count again, and the sample is still being read */
};

struct serve_sample {
	int64_t window_ns, sample_ns; /* sample_ns: 0: programs are never recorded */
	enum serve_sample_phase phase;
	int64_t begin_ns, end_ns; /* epoch: of the present or of the next sample */
	int64_t counted_ns;       /* epoch: since when programs have counted */
};

/** serve_sample_begin() - programs count since @now_ns, epoch; the first sample begins at once if
 * the window has room for it. */
void serve_sample_begin(struct serve_sample *sample, int64_t now_ns);

/** serve_sample_is_due() - whether the present phase should end at @now_ns. SERVE_SAMPLE_READS:
 * always; the caller knows whether all of the sample was read. */
bool serve_sample_is_due(struct serve_sample *sample, int64_t now_ns);

/** serve_sample_next() - the next phase begins at @now_ns. */
void serve_sample_next(struct serve_sample *sample, int64_t now_ns);

/** serve_sample_has() - whether an event of @ns is in the sample. */
bool serve_sample_has(const struct serve_sample *sample, int64_t ns);

/**
 * serve_sample_part() - what a window that was taken is really about
 * @is_counted: it is from counters
 * @begin_ns: of the window; becomes that of the part
 *
 * Return: the length of the part.
 */
int64_t serve_sample_part(const struct serve_sample *sample, bool is_counted, int64_t *begin_ns);

#endif
