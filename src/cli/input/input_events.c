/* SPDX-License-Identifier: Apache-2.0 */
/* See input_events.h. */
#include "cli/input/input_events.h"

#define PROGRESS_EVENTS 0x3fffu	/* a power of two less one */

static bool is_window(const struct events *events)
{
	return events->begin_ns > INT64_MIN || events->end_ns < INT64_MAX;
}

bool events_limited(const struct events *events)
{
	return is_window(events) || selection_any(events->selection);
}

/*
 * Without a selection the reader itself keeps to the window, and need not read what is outside.
 * With a selection all is read: the fact that says what an event belongs to may be much older.
 */
int events_open(struct events *events, struct kymo_err *err)
{
	progress_begin(&events->progress, events->quiet || events->growing);
	progress_extent(&events->progress, events->reader);
	if (selection_any(events->selection))
		return concern_create(&events->concern, events->reader, events->selection,
				      events->growing, progress_trace, &events->progress, err);
	if (is_window(events) && !events->clock)
		return kymo_ctf_window(events->reader, events->begin_ns, events->end_ns, err);
	return 0;
}

struct events_loss events_loss(const struct events *events, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_reader *reader = events->reader;

	return (struct events_loss){
		.begin_ns = kymo_ctf_mapped(
			reader, kymo_ctf_time_of(reader, event->trace, event->loss_begin_ns)),
		.end_ns = kymo_ctf_mapped(
			reader, kymo_ctf_time_of(reader, event->trace, event->loss_end_ns)),
	};
}

static bool is_inside(const struct events *events, const struct kymo_ctf_event *event)
{
	struct events_loss loss;

	if (event->bound != KYMO_CTF_LOSS)
		return event->ns >= events->begin_ns && event->ns <= events->end_ns;
	loss = events_loss(events, event);
	return loss.end_ns >= events->begin_ns && loss.begin_ns <= events->end_ns;
}

int events_next(struct events *events, struct kymo_ctf_event *event, struct kymo_err *err)
{
	int more, asked;

	while ((more = kymo_ctf_next(events->reader, event, err)) > 0) {
		if (!(++events->count & PROGRESS_EVENTS))
			progress_trace(&events->progress, events->count, event->clock_ns);
		if (!events->concern && !events->clock)
			break;
		asked = events->concern ? concern_event(events->concern, event) : 1;
		if (asked < 0)
			return err_no_memory(err);
		if (asked && is_inside(events, event))
			break;
	}
	if (more <= 0)
		progress_clear(&events->progress);
	return more;
}

void events_close(struct events *events)
{
	progress_clear(&events->progress);
	concern_destroy(events->concern);
	events->concern = NULL;
}
