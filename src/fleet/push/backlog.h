/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Windows that wait to be sent to one place, as files in a directory that has a limit. They survive
 * a restart and a reboot.
 *
 *   main thread    backlog_put()
 *   sender         backlog_first() -> backlog_phase() -> backlog_load() -> ... send -> backlog_done()
 *
 * Beyond the limit the oldest windows are merged: those of ten minutes into one, then those of an
 * hour, of six, of a day. When nothing can be merged any more, the oldest goes. A window that may
 * have arrived, because the sender tried to send it, is never merged: it would count twice.
 *
 *   01790000000000000000-60000000000-1-0.kymo     begin, length in ns, windows in it, phase
 *
 * A file is zstd of two lines: whose window it is, and the summary with its fine buckets. No two
 * windows have the same begin: the later one gets some nanoseconds more.
 *
 * Context of all functions: thread-safe; allocate; block as the disk does.
 */
#ifndef KYMO_FLEET_BACKLOG_H
#define KYMO_FLEET_BACKLOG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "fleet/window/window.h"
#include "summary/summary.h"

struct backlog;

struct backlog_counts {
	uint64_t waiting, waiting_bytes;   /* windows, and bytes of their files */
	/* Since the directory exists, also after kill -9. Windows: put = sent + refused + dropped +
	 * waiting. A merged window waits, and is sent or dropped, in one file with others. */
	uint64_t put, merged, dropped, sent, refused;
	uint64_t damaged; /* files that could not be read; their windows are dropped, too */
};

/* A file. */
struct backlog_item {
	int64_t begin_ns, length_ns;
	unsigned windows; /* that are in it */
	unsigned phase;	  /* 0: never tried; else what the sender said last */
	uint64_t bytes;
};

/* What a file contains; the texts of @of are valid as long as @summary. */
struct backlog_window {
	struct summary *summary;
	struct window_source of;
};

/** backlog_open() - @limit: bytes; 0: none. Return: 0, or -1 with @err. */
int backlog_open(struct backlog **spool, const char *directory, uint64_t limit,
		 struct kymo_err *err);
void backlog_close(struct backlog *spool);

/** backlog_put() - keep a window. What cannot be written is counted as dropped. Return: 0, or -1
 * with @err. */
int backlog_put(struct backlog *spool, const struct window_source *of,
		const struct summary *summary, int64_t begin_ns, int64_t length_ns,
		struct kymo_err *err);

/** backlog_after() - the oldest that begins after @begin_ns. Return: false: there is none. */
bool backlog_after(struct backlog *spool, int64_t begin_ns, struct backlog_item *item);

/** backlog_first() - the oldest. Return: false: there is none. */
bool backlog_first(struct backlog *spool, struct backlog_item *item);

/** backlog_phase() - @phase, from 1, is written down: from now on @item stays as it is. Return: 0;
 * -1: it is gone. */
int backlog_phase(struct backlog *spool, struct backlog_item *item, unsigned phase);

/** backlog_load() - read @item; backlog_unload() frees it. Return: 0; -1: it is damaged, and was
 * removed and counted. */
int backlog_load(struct backlog *spool, const struct backlog_item *item,
		 struct backlog_window *window);
void backlog_unload(struct backlog_window *window);

/** backlog_done() - remove @item, which was sent, or @refused. */
void backlog_done(struct backlog *spool, const struct backlog_item *item, bool refused);

/** backlog_directory() - where it is. */
const char *backlog_directory(const struct backlog *spool);

void backlog_counts(struct backlog *spool, struct backlog_counts *counts);

#endif
