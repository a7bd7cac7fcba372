/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects a simulation's clock to a reader: reads the pairs of a trace, and converts the times of
 * its events.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/simclock/simclock.h"
#include "base/array.h"

#define SIM_TIME "ros2_caret:sim_time"
#define SOURCES_MAX 64u			/* processes that are kept apart */
#define NO_DOMAIN (-1)
#define PAIRS_MAX (64u << 20)		/* pairs of one process; more is damage */

/* A process that recorded the simulation's time of a ROS domain. */
struct source {
	uint32_t trace;
	int32_t pid;
	int domain;			/* NO_DOMAIN: not in the event */
	struct simclock_pair *pair;
	unsigned count, size;
};

struct sources {
	struct source source[SOURCES_MAX];
	unsigned count;
};

static struct source *source_of(struct sources *sources, const struct kymo_ctf_event *event)
{
	struct source *source = sources->source, *end = source + sources->count;
	const int domain = event->value[2].present && event->value[2].u <= INT16_MAX
				   ? (int)event->value[2].u
				   : NO_DOMAIN;

	for (; source < end; source++)
		if (source->trace == event->trace && source->pid == event->vpid &&
		    source->domain == domain)
			return source;
	if (sources->count == SOURCES_MAX)
		return NULL;
	sources->count++;
	*source = (struct source){ .trace = event->trace, .pid = event->vpid, .domain = domain };
	return source;
}

/*
 * kymo's own events contain the receive time on the trace's clock, as KYMO_TRACEPOINT() records it:
 * slightly before the event.
 */
static int64_t time_of(const struct kymo_ctf_reader *reader, const struct kymo_ctf_event *event)
{
	bool is_told = event->value[1].present && event->value[1].u <= INT64_MAX;

	return is_told ? kymo_ctf_time_of(reader, event->trace, event->value[1].u) : event->ns;
}

static int keep(struct sources *sources, const struct kymo_ctf_reader *reader,
		const struct kymo_ctf_event *event, struct kymo_err *err)
{
	struct source *source = source_of(sources, event);

	if (!source || !event->value[0].present || source->count == PAIRS_MAX)
		return 0;
	if (!ARRAY_ROOM(source->pair, source->count, source->size))
		return err_no_memory(err);
	source->pair[source->count++] =
		(struct simclock_pair){ time_of(reader, event), event->value[0].i };
	return 0;
}

static int read_pairs(struct sources *sources, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	static const struct kymo_ctf_bind bind = { SIM_TIME, { "stamp", "at_ns", "ros_domain" } };
	struct kymo_ctf_event event;
	int more = 0, status;

	if (kymo_ctf_bind(reader, &bind, 1, err))
		return -1;
	kymo_ctf_only_bound(reader, true);
	while ((more = kymo_ctf_next(reader, &event, err)) > 0)
		if (event.bound == 0 && keep(sources, reader, &event, err)) {
			more = -1;
			break;
		}
	kymo_ctf_only_bound(reader, false);
	status = kymo_ctf_bind(reader, NULL, 0, more < 0 ? NULL : err);
	return more < 0 || status ? -1 : 0;
}

static int by_domain(const void *a, const void *b)
{
	return ((const struct source *)a)->domain - ((const struct source *)b)->domain;
}

/* "5, 6": each recorded domain once. Return: their number. */
static unsigned list_domains(struct sources *sources, char *text, size_t size)
{
	unsigned count = 0;
	size_t used = 0;

	*text = 0;
	qsort(sources->source, sources->count, sizeof *sources->source, by_domain);
	for (unsigned i = 0; i < sources->count; i++) {
		const struct source *source = &sources->source[i];

		if (source->domain == NO_DOMAIN || !source->count ||
		    (i && source->domain == source[-1].domain))
			continue;
		if (used < size)
			used += (size_t)snprintf(text + used, size - used, "%s%d", count ? ", " : "", source->domain);
		count++;
	}
	return count;
}

/*
 * Chooses among the sources of @domain; among all, if they have one domain. Return: NULL with @err,
 * or without: no source exists.
 */
static const struct source *choose(struct sources *sources, const char *path, int domain,
				   struct kymo_err *err)
{
	const struct source *best = NULL;
	char domains[128];
	unsigned count = list_domains(sources, domains, sizeof domains);

	for (unsigned i = 0; i < sources->count; i++) {
		const struct source *source = &sources->source[i];

		if ((domain == NO_DOMAIN || source->domain == domain) && source->count &&
		    (!best || source->count > best->count))
			best = source;
	}
	err->text[0] = 0;
	if (domain == NO_DOMAIN && count > 1)
		(void)err_set(err, KYMO_EXIT_USAGE, "'%s' has the times of several simulations, in ROS domains %s; choose one with "
			      "--clock sim:N", path, domains);
	else if (domain != NO_DOMAIN && !best && sources->count)
		(void)err_set(err, KYMO_EXIT_USAGE, "'%s' has no time of a simulation in ROS domain %d, %s%s", path, domain, count ?
			      "only in " : "but one without a domain; use --clock sim", domains);
	else
		return best;
	return NULL;
}

int simclock_read(struct simclock **clock, struct kymo_ctf_reader *reader, const char *path,
		  int domain, struct kymo_err *err)
{
	struct sources sources = { .count = 0 };
	const struct source *best;
	int status = reader_declares(reader, SIM_TIME) ? read_pairs(&sources, reader, err) : 0;

	best = status ? NULL : choose(&sources, path, domain, err);
	if (!status && !best && err->text[0])
		status = -1;
	else if (!status && (!best || !best->count))
		status = err_set(err, KYMO_EXIT_INPUT, "'%s' has no time of a simulation; `kymo agent` records it from "
				 "/clock while `kymo record` runs (CARET: `ros2 caret record --record-clock`); "
				 "leave out --clock sim to see times of the system", path);
	else if (!status)
		status = simclock_create(clock, best->pair, best->count, err);
	for (unsigned i = 0; i < sources.count; i++)
		free(sources.source[i].pair);
	return status ? -1 : 0;
}

static int64_t map(const void *context, int64_t ns)
{
	return simclock_elapsed(context, ns);
}

void simclock_attach(const struct simclock *clock, struct kymo_ctf_reader *reader)
{
	kymo_ctf_map_time(reader, clock ? map : NULL, clock);
}
