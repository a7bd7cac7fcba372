/* SPDX-License-Identifier: Apache-2.0 */
/* See live_show.h. */
#include "cli/live_show.h"

#include <stdio.h>
#include <string.h>

/* What is not there yet is no error: there will be more. */
static int show_open(struct live_show *show, const char *path, struct err *err)
{
	struct ctf_reader *reader;

	if (ctf_open(path, &reader, &show->why) < 0)
		return show->why.status == EXIT_INPUT ? 0 : err_set(err, show->why.status, "%s", show->why.text);
	show->reader = reader;
	show->until = INT64_MIN;
	ctf_growing(reader, true);
	show->events = (struct events){ .reader = reader, .selection = show->selection, .growing = true, .quiet = true };
	show->print.events = &show->events;
	show->print.root = strlen(path) + 1;
	if (events_open(&show->events, err) < 0)
		return -1;
	ctf_until(reader, show->until);
	return 1;
}

int live_show_look(struct live_show *show, const char *path, bool news, struct err *err)
{
	if (!news)
		return 0;
	if (!show->reader)
		return show_open(show, path, err);
	return ctf_refresh(show->reader, err);
}

static int pass_over(struct live_show *show, struct err *err)
{
	struct ctf_event event;
	int more;

	while ((more = events_next(&show->events, &event, err)) > 0)
		;
	return more;
}

int live_show_until(struct live_show *show, int64_t until, struct err *err)
{
	if (until > show->until) {
		show->until = until;
		ctf_until(show->reader, until);
	}
	if (show->from_now && until > INT64_MIN) {
		show->from_now = false;
		if (pass_over(show, err) < 0)
			return -1;
	}
	if (event_print_all(&show->print, err) < 0)
		return -1;
	return fflush(stdout) || event_print_is_over(&show->print);
}

void live_show_end(struct live_show *show)
{
	if (!show->reader) {
		if (show->why.text[0])
			fprintf(stderr, "kymo %s: nothing could be read: %s\n", show->print.verb, show->why.text);
		return;
	}
	events_close(&show->events);
	for (unsigned i = 0; i < ctf_warning_count(show->reader); i++)
		fprintf(stderr, "kymo %s: warning: %s\n", show->print.verb, ctf_warning(show->reader, i));
	ctf_close(show->reader);
	show->reader = NULL;
}
