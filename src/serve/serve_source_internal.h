/* SPDX-License-Identifier: Apache-2.0 */
/* What the files of a source share: the reader of a trace that may grow (serve_source.c), and whose
 * trace it is (serve_source_programs.c). Context: as serve_source.h. */
#ifndef KYMO_SERVE_SOURCE_INTERNAL_H
#define KYMO_SERVE_SOURCE_INTERNAL_H

#include "live/watch.h"
#include "serve/serve_counts.h"
#include "serve/serve_sample.h"
#include "serve/serve_source.h"
#include "top/taking.h"

struct serve_source {
	struct serve_source_options to;
	struct summary_windows_options options;
	struct summary_limit *limit;
	struct taking *taking;       /* of running programs; NULL: nobody records them now */
	struct serve_counts *counts; /* NULL: they are recorded, and only `windows` are there */
	struct serve_sample sample;  /* of programs that count */
	int64_t retry_ns;            /* CLOCK_MONOTONIC: when to look for a recorder again */
	struct kymo_ctf_reader *reader;
	struct summary_windows *windows;
	struct watch watch;
	unsigned traces; /* of the reader at first */
	int64_t until;   /* events up to this time, epoch, were read; INT64_MIN: none */
	bool growing, over;
	bool takes_counts; /* the window that is being taken is from counters */
	char note[1200];   /* why programs can't be read at the moment; "" */
};

/* ---- serve_source.c; Return: 0, or -1 with @err ---- */

/** serve_source_look() - read the counters; @cut: the window ends here. */
int serve_source_look(struct serve_source *source, bool cut, struct kymo_err *err);
/** serve_source_grow() - read what is new in the trace; it need not exist yet. */
int serve_source_grow(struct serve_source *source, struct kymo_err *err);
/** serve_source_drop() - close the reader. */
void serve_source_drop(struct serve_source *source);

/* ---- serve_source_programs.c; Return: 0, or -1 with @err ---- */

/** serve_source_begin() - begin to record or to count what runs, or to read beside a recorder. */
int serve_source_begin(struct serve_source *source, struct kymo_err *err);
/** serve_source_programs() - serve_source_read() of running programs. */
int serve_source_programs(struct serve_source *source, struct kymo_err *err);

#endif
