/* SPDX-License-Identifier: Apache-2.0 */
/* See live_show.h. */
#include "cli/verbs/live/live_show.h"

#include <stdio.h>
#include <time.h>

#include "live/watch.h"
#include "base/now.h"

/* Return: 1: it is over; 0; -1 with @err. */
static int check_directory(struct watch *watch, const char *path, struct live_show *show,
			   struct kymo_err *err)
{
	int grew, enough = 0;

	watch_check(watch, show->reader, now_ns());
	if (!watch->due)
		return 0;
	grew = live_show_refresh(show, path, true, err);
	if (grew < 0)
		return -1;
	watch_done(watch, show->reader, grew > 0, now_ns());
	if (show->reader)
		enough = live_show_until(show, watch->until, err);
	return enough ? enough : watch->over;
}

static void say_waits(const struct live_show *show)
{
	char text[sizeof(show->why.text) + 32];

	(void)snprintf(text, sizeof(text), "%s; waiting for a trace", show->why.text);
	cli_say("live", text);
}

int live_dir(const char *path, struct live_show *show, int64_t period_ns, bool quiet,
	     struct kymo_err *err)
{
	const struct timespec pause = { .tv_nsec = WATCH_PERIOD_NS };
	struct watch watch = { 0 };
	int64_t block_ns = now_ns();
	bool told = quiet;
	int rc;

	show->print.stop = cli_stop_signals();
	while ((rc = check_directory(&watch, path, show, err)) == 0 && !*show->print.stop) {
		if (!show->reader && !told)
			say_waits(show);
		told = true;
		if (show->tables && now_ns() - block_ns >= period_ns) {
			block_ns = now_ns();
			rc = live_show_block(show, err);
			if (rc)
				break;
		}
		(void)nanosleep(&pause, NULL);
	}
	if (rc >= 0 && show->tables)
		rc = live_show_block(show, err);
	return rc < 0 ? -1 : 0;
}
