/* SPDX-License-Identifier: Apache-2.0 */
/* See event_print.h. */
#include "cli/input/event_print.h"

#include <fnmatch.h>

#include "cli/input/trace_time.h"

static bool wanted(struct event_print *print, const struct kymo_ctf_event *event)
{
	if (!print->names->count)
		return true;
	if (event->class == print->last_class)
		return print->last_wanted;
	print->last_class = event->class;
	print->last_wanted = false;
	for (unsigned i = 0; i < print->names->count && !print->last_wanted; i++)
		print->last_wanted = !fnmatch(print->names->item[i], event->class->name, 0);
	return print->last_wanted;
}

static void report_loss(struct event_print *print, const struct kymo_ctf_event *event)
{
	const char *path =
		kymo_ctf_stream(print->events->reader, event->stream)->path + print->root;
	struct events_loss loss = events_loss(print->events, event);
	char begin[CLI_TIME_MAX], end[CLI_TIME_MAX];

	print->lost += event->lost + event->lost_packets;
	cli_print_point(begin, cli_stamp(print->events->clock, loss.begin_ns));
	cli_print_point(end, cli_stamp(print->events->clock, loss.end_ns));
	fflush(stdout);
	if (event->lost)
		fprintf(stderr, "kymo %s: %s: the tracer lost %llu events between %s and %s\n", print->verb,
			path, (unsigned long long)event->lost, begin, end);
	if (event->lost_packets && event->lost_in_packets)
		fprintf(stderr,
			"kymo %s: %s: %llu packets are missing, with %llu events, between %s and "
			"%s\n",
			print->verb, path, (unsigned long long)event->lost_packets,
			(unsigned long long)event->lost_in_packets, begin, end);
	else if (event->lost_packets)
		fprintf(stderr, "kymo %s: %s: %llu packets are missing between %s and %s\n", print->verb,
			path, (unsigned long long)event->lost_packets, begin, end);
}

bool event_print_is_over(const struct event_print *print)
{
	return (print->most && print->printed == print->most) || ferror_unlocked(stdout) ||
	       (print->stop && *print->stop);
}

int event_print_all(struct event_print *print, struct kymo_err *err)
{
	struct events *events = print->events;
	struct kymo_ctf_event event;
	int more = 0;

	while (!event_print_is_over(print) && (more = events_next(events, &event, err)) > 0) {
		if (event.bound == KYMO_CTF_LOSS) {
			progress_clear(&events->progress);
			report_loss(print, &event);
			continue;
		}
		if (!wanted(print, &event))
			continue;
		event.ns = cli_stamp(events->clock, event.ns);
		if (print->json)
			kymo_ctf_print_event_json(events->reader, &event, stdout);
		else
			kymo_ctf_print_event(events->reader, &event, stdout);
		print->printed++;
	}
	progress_clear(&events->progress);
	return more < 0 ? -1 : 0;
}
