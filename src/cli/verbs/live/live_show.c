/* SPDX-License-Identifier: Apache-2.0 */
/* See live_show.h. */
#include "cli/verbs/live/live_show.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "cli/common/screen.h"
#include "cli/input/answer.h"
#include "cli/input/trace_time.h"

#define ROWS 10u /* of a section, where nothing says how many fit */
#define OWN_LINES 2u /* the time, and where the cursor is */
#define CLEAR "\033[H\033[2J"

/* A trace that does not exist yet is not an error. */
static int show_open(struct live_show *show, const char *path, struct kymo_err *err)
{
	static const struct selection all;	/* of tables, rows are selected */
	struct kymo_ctf_reader *reader;

	if (kymo_ctf_open(path, &reader, &show->why) < 0)
		return show->why.status == KYMO_EXIT_INPUT ? 0 : err_set(err, show->why.status, "%s", show->why.text);
	show->reader = reader;
	show->until = INT64_MIN;
	kymo_ctf_growing(reader, true);
	show->events = (struct events){.reader = reader,
				       .selection = show->tables ? &all : show->selection,
				       .begin_ns = INT64_MIN,
				       .end_ns = INT64_MAX,
				       .growing = true,
				       .quiet = true};
	show->print.events = &show->events;
	show->print.root = strlen(path) + 1;
	if (show->tables && running_create(&show->running, reader, show->selection,
					   show->all || show->format != TABLE_TEXT, err) < 0)
		return -1;
	if (events_open(&show->events, err) < 0)
		return -1;
	kymo_ctf_until(reader, show->until);
	return 1;
}

int live_show_refresh(struct live_show *show, const char *path, bool news, struct kymo_err *err)
{
	if (!news)
		return 0;
	if (!show->reader)
		return show_open(show, path, err);
	return kymo_ctf_refresh(show->reader, err);
}

/* ---- tables ---- */

/* The user ended it, and may have much of a backlog. */
static bool is_stopped(const struct live_show *show)
{
	return show->print.stop && *show->print.stop;
}

static int count_all(struct live_show *show, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	int more = 0;

	while (!is_stopped(show) && (more = events_next(&show->events, &event, err)) > 0)
		if (running_event(show->running, &event, err) < 0)
			return -1;
	return more < 0 ? -1 : 0;
}

/* The tables take a screen of the terminal and no more. Return: the lines for them; 0: any. */
static unsigned fit(struct table *table)
{
	struct winsize window;

	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &window) < 0)
		return 0;
	if (screen_width())
		table_fit(table, screen_width());
	return window.ws_row > OWN_LINES ? window.ws_row - OWN_LINES : 0;
}

int live_show_block(struct live_show *show, struct kymo_err *err)
{
	const bool screen = show->format == TABLE_TEXT && isatty(STDOUT_FILENO);
	char when[CLI_TIME_MAX];
	struct table *table;
	unsigned lines = 0;
	int rc;

	if (!show->running || running_is_empty(show->running))
		return 0;
	show->shown = true;
	if (screen)
		(void)fputs(CLEAR, stdout);
	if (table_open(&table, stdout, show->format) < 0)
		return err_no_memory(err);
	if (screen)
		lines = fit(table);
	cli_print_point(when, running_until(show->running));
	table_value_text(table, "until", "Until", when);
	rc = running_write(show->running, table, show->format == TABLE_TEXT ? ROWS : UINT_MAX,
			   lines, err);
	/* what is wrong with the output is seen at the next flush */
	(void)table_close(table);
	if (!screen && show->format == TABLE_TEXT)
		(void)putchar('\n');
	show->print.lost = running_lost(show->running);
	return rc < 0 ? -1 : fflush(stdout) || event_print_is_over(&show->print);
}

/* ---- events ---- */

static int pass_over(struct live_show *show, struct kymo_err *err)
{
	struct kymo_ctf_event event;
	int more = 0;

	while (!is_stopped(show) && (more = events_next(&show->events, &event, err)) > 0)
		if (show->running && running_event(show->running, &event, err) < 0)
			return -1;
	/* Tables know the names of what began before; they count only what comes. */
	if (show->running)
		running_begin(show->running, show->until);
	return more < 0 ? -1 : 0;
}

int live_show_until(struct live_show *show, int64_t until, struct kymo_err *err)
{
	if (until > show->until) {
		show->until = until;
		kymo_ctf_until(show->reader, until);
	}
	if (show->from_now && until > INT64_MIN) {
		show->from_now = false;
		if (pass_over(show, err) < 0)
			return -1;
	}
	if ((show->tables ? count_all(show, err) : event_print_all(&show->print, err)) < 0)
		return -1;
	return fflush(stdout) || event_print_is_over(&show->print);
}

void live_show_end(struct live_show *show)
{
	char text[sizeof(show->why.text) + 32];

	if (!show->reader && show->why.text[0]) {
		(void)snprintf(text, sizeof(text), "cannot read the trace: %s", show->why.text);
		cli_say("live", text);
	}
	if (!show->reader)
		return;
	events_close(&show->events);
	running_destroy(show->running);
	show->running = NULL;
	answer_warn(show->print.verb, show->reader, UINT_MAX);
	kymo_ctf_close(show->reader);
	show->reader = NULL;
}
