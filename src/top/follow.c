/* SPDX-License-Identifier: Apache-2.0 */
/* See follow.h. */
#include "top/follow.h"

#include <limits.h>

#include "base/now.h"

#define TRACES_LEAST 64u              /* a reader that has seen so many traces, */
#define TRACES_TIMES 3u               /* and so many times as many as at first, is opened again */
#define RENEW_NS ((int64_t)100000000) /* not more often than this, and each time half as often */
#define RENEW_TIMES 5u                /* but not rarer than after so many times */
#define TURN_NS \
	((int64_t)40000000) /* of reading a whole trace, between two looks at the keyboard */
#define TURN_EVENTS 4096u

static int open_reader(struct follow *follow, const char *path, struct kymo_err *err)
{
	if (kymo_ctf_open(path, &follow->reader, &follow->why) < 0) {
		follow->reader = NULL;
		/* A trace that does not exist yet is not an error. */
		return follow->why.status == KYMO_EXIT_INPUT && !follow->whole
			       ? 0
			       : err_set(err, follow->why.status, "%s", follow->why.text);
	}
	follow->traces = kymo_ctf_trace_count(follow->reader);
	follow->opened_ns = now_ns();
	kymo_ctf_growing(follow->reader, !follow->whole);
	if (board_attach(follow->board, follow->reader, err) < 0)
		return -1;
	if (follow->whole)
		return 1;
	/* What was there before is read for its names. */
	board_skip(follow->board, !follow->from_begin);
	kymo_ctf_until(follow->reader, INT64_MIN);
	return 1;
}

/* Return: 1: enough for now; 0: there is no more; -1 with @err. */
static int read_events(struct follow *follow, bool turns, struct kymo_err *err)
{
	const int64_t until = now_ns() + TURN_NS;
	struct kymo_ctf_event event;
	unsigned count = 0;
	int more;

	while ((more = kymo_ctf_next(follow->reader, &event, err)) > 0) {
		if (follow->whole && board_due(follow->board, event.ns) &&
		    board_tick(follow->board, event.ns, err) < 0)
			return -1;
		if (board_event(follow->board, &event, err) < 0)
			return -1;
		if (turns && ++count % TURN_EVENTS == 0 && now_ns() > until)
			return 1;
	}
	return more;
}

/* All up to @until. The first time, and after opening it again, what was before counts only for its
 * names. */
static int read_until(struct follow *follow, int64_t until, struct kymo_err *err)
{
	if (until == INT64_MIN)
		return 0;
	if (follow->until && follow->until != INT64_MIN && until > follow->until &&
	    !follow->from_begin) {
		kymo_ctf_until(follow->reader, follow->until);
		if (read_events(follow, false, err) < 0)
			return -1;
		board_skip(follow->board, false);
	}
	if (until > follow->until || !follow->until)
		follow->until = until;
	kymo_ctf_until(follow->reader, follow->until);
	if (read_events(follow, false, err) < 0)
		return -1;
	board_skip(follow->board, false);
	follow->from_begin = false;
	return 0;
}

static void close_reader(struct follow *follow)
{
	board_detach(follow->board);
	if (follow->reader)
		kymo_ctf_close(follow->reader);
	follow->reader = NULL;
}

/* A reader keeps what it knows of every chunk that it has seen. The board is told of kinds of spans
 * when it is attached. */
static bool is_worn(const struct follow *follow)
{
	const unsigned traces = kymo_ctf_trace_count(follow->reader);

	return follow->renews && traces >= TRACES_LEAST && traces >= TRACES_TIMES * follow->traces;
}

static int renew(struct follow *follow, const char *path, struct kymo_err *err)
{
	if (!follow->reader || now_ns() - follow->opened_ns < RENEW_NS << follow->renewals ||
	    (!is_worn(follow) && !board_has_new_kinds(follow->board)))
		return 0;
	if (follow->renewals < RENEW_TIMES)
		follow->renewals++;
	close_reader(follow);
	follow->watch = (struct watch){ 0 };
	return open_reader(follow, path, err) < 0 ? -1 : 0;
}

static int read_whole(struct follow *follow, const char *path, struct kymo_err *err)
{
	int more;

	if (!follow->reader && open_reader(follow, path, err) < 0)
		return -1;
	more = read_events(follow, true, err);
	if (more == 0 && !follow->over) {
		follow->over = true;
		board_finish(follow->board);
	}
	return more < 0 ? -1 : 0;
}

int follow_files(struct follow *follow, const char *path, struct kymo_err *err)
{
	int grew;

	if (follow->over)
		return 0;
	if (follow->whole)
		return read_whole(follow, path, err);
	if (renew(follow, path, err) < 0)
		return -1;
	watch_check(&follow->watch, follow->reader, now_ns());
	if (!follow->watch.due)
		return 0;
	grew = follow->reader ? kymo_ctf_refresh(follow->reader, err)
			      : open_reader(follow, path, err);
	if (grew < 0)
		return -1;
	watch_done(&follow->watch, follow->reader, grew > 0, now_ns());
	if (follow->reader && read_until(follow, follow->watch.until, err) < 0)
		return -1;
	follow->over = follow->watch.over;
	return 0;
}

int follow_until(struct follow *follow, const char *path, bool news,
		 int64_t (*until)(void *context, const struct kymo_ctf_reader *reader),
		 void *context, struct kymo_err *err)
{
	if (news && (follow->reader ? kymo_ctf_refresh(follow->reader, err)
				    : open_reader(follow, path, err)) < 0)
		return -1;
	return follow->reader ? read_until(follow, until(context, follow->reader), err) : 0;
}

void follow_close(struct follow *follow)
{
	close_reader(follow);
}
