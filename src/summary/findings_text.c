/* SPDX-License-Identifier: Apache-2.0 */
/* Findings as sentences. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "summary/findings.h"

#define WHO_MAX 512

/* A cause below this share of the excess explains nothing. */
#define CAUSE_SHARE 0.1

static void waited_text(const struct summary_finding *finding, const char *who, char *buffer,
			size_t size)
{
	const struct summary_part *cause = &finding->cause;
	const char *probably = cause->is_assumed ? "probably " : "";
	char time[TEXT_QUANTITY_MAX];

	text_ns(time, cause->ns);
	if (!*cause->by)
		snprintf(buffer, size, "%s waited %s for other callbacks of its executor", who,
			 time);
	else if (cause->by == cause->who)
		snprintf(buffer, size, "%s waited %s, %sbecause its own previous run was not over",
			 who, time, probably);
	else if (cause->is_group)
		snprintf(buffer, size, "%s waited %s, %sbecause %s held its callback group", who,
			 time, probably, cause->by);
	else
		snprintf(buffer, size, "%s waited %s, %sbecause its executor ran %s", who, time,
			 probably, cause->by);
}

/* "/planner ran 30 ms". How long a part usually takes, `kymo why` says, by an instance that is as
 * usual: the median of the part alone is another number. */
static void cause_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	const struct summary_part *cause = &finding->cause;
	const char *who = cause->who == finding->entity->name ? "it" : cause->who;
	char time[TEXT_QUANTITY_MAX];

	text_ns(time, cause->ns);
	switch (cause->what) {
	case SUMMARY_WAITED_FOR:
		waited_text(finding, who, buffer, size);
		return;
	case SUMMARY_RAN:
		snprintf(buffer, size, "%s ran %s", who, time);
		return;
	case SUMMARY_KEPT:
		snprintf(buffer, size, "%s kept its data for %s", who, time);
		return;
	case SUMMARY_PUBLISHING:
		snprintf(buffer, size, "the publish call on %s took %s", who, time);
		return;
	case SUMMARY_ON_ITS_WAY:
		snprintf(buffer, size, "%s was %s on its way to %s", who, time,
			 cause->by);
		return;
	case SUMMARY_TAKING:
		snprintf(buffer, size, "%s took %s from receiving to its start", who, time);
		return;
	case SUMMARY_BEING_LATE:
		snprintf(buffer, size, "%s began %s late, and no callback held it up", who, time);
		return;
	case SUMMARY_ACCEPTING:
		snprintf(buffer, size, "%s took %s to accept it", who, time);
		return;
	case SUMMARY_BEGINNING:
		snprintf(buffer, size, "%s accepted it, and began %s later", who, time);
		return;
	case SUMMARY_EXECUTING:
		snprintf(buffer, size, "%s executed it for %s", who, time);
		return;
	case SUMMARY_CANCELING:
		snprintf(buffer, size, "%s took %s to cancel it", who, time);
		return;
	case SUMMARY_KEEPING:
		snprintf(buffer, size, "%s had the result and sent it %s later", who,
			 time);
		return;
	case SUMMARY_AWAITING:
		snprintf(buffer, size, "%s waited %s for it", who, time);
		return;
	case SUMMARY_AWAITED:
		snprintf(buffer, size, "%s awaited something for %s", who, time);
		return;
	case SUMMARY_WHATS:
		break;
	}
	*buffer = '\0';
}

static void instance_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	char time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], cause[2 * WHO_MAX] = "";
	const int64_t excess_ns = finding->cause.ns - finding->cause.usual_ns;
	const bool is_caused =
		finding->cause.who && (double)excess_ns >= CAUSE_SHARE * (double)finding->harm_ns;

	text_ns(time, finding->worst_ns);
	text_ns(usual, finding->usual_ns);
	if (is_caused)
		cause_text(finding, cause, sizeof(cause));
	snprintf(buffer, size, "%s%s took %s, usually %s%s%s.",
		 finding->kind == SUMMARY_FINDING_GOAL ? "A goal of " : "",
		 finding->entity->label, time, usual,
		 is_caused ? ": " : "", cause);
}

static void holds_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	char time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], wait[TEXT_QUANTITY_MAX];
	char times[32], runs[32];

	text_ns(time, finding->worst_ns);
	text_ns(usual, finding->usual_ns);
	text_ns(wait, finding->cause.ns);
	summary_number(times, finding->times);
	summary_number(runs, finding->entity->count[SUMMARY_RUNS]);
	if (finding->worst_ns < 2 * finding->usual_ns)
		snprintf(buffer, size,
			 "%s usually runs %s, %s at worst: other callbacks of its executor waited "
			 "up to %s for it.",
			 finding->entity->label, usual, time, wait);
	else
		snprintf(buffer, size,
			 "%s ran up to %s in %s of %s runs, usually %s: other callbacks waited up "
			 "to %s for it.",
			 finding->entity->label, time, times, runs, usual, wait);
}

/* Where most of them were lost, if the trace proves it of more than half. */
static const char *where_text(const struct summary_entity *entity, uint64_t lost)
{
	static const struct {
		enum summary_counter counter;
		const char *text;
	} places[] = {
		{ SUMMARY_LOST_NOT_SENT, "the publisher's middleware never sent them to it" },
		{ SUMMARY_LOST_WIRE, "they were sent, and lost on the wire" },
		{ SUMMARY_LOST_REJECTED, "the middleware rejected them: their QoS is incompatible, "
					 "or its reader did not accept them" },
		{ SUMMARY_LOST_QUEUE,
		  "newer ones displaced them from its queue before it took them" },
		{ SUMMARY_LOST_NOT_TAKEN, "they were in its queue, and it never took them" },
	};

	for (size_t i = 0; i < COUNT_OF(places); i++)
		if (2 * entity->count[places[i].counter] > lost)
			return places[i].text;
	return NULL;
}

static void loss_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	const struct summary_entity *entity = finding->entity;
	const uint64_t never = entity->count[SUMMARY_NEVER_RECEIVED];
	const uint64_t whole = entity->count[SUMMARY_RECEIVED] + finding->times;
	const char *where = where_text(entity, finding->times);
	char lost[32], all[32];

	summary_number(lost, finding->times);
	summary_number(all, whole);
	if (!entity->count[SUMMARY_RECEIVED])
		snprintf(buffer, size, "%s received none of %s messages of %s%s%s.", entity->label,
			 all, entity->of, where ? ": " : "", where ? where : "");
	else if (where)
		snprintf(buffer, size, "%s of %s messages of %s (%.1f %%) never reached %s: %s.",
			 lost, all, entity->of, 100.0 * (double)finding->times / (double)whole,
			 entity->label, where);
	else if (!never)
		snprintf(buffer, size,
			 "%s of %s messages of %s (%.1f %%) never reached %s: newer ones replaced "
			 "them in its queue.",
			 lost, all, entity->of, 100.0 * (double)finding->times / (double)whole,
			 entity->label);
	else
		snprintf(
			buffer, size,
			"%s of %s messages of %s (%.1f %%) never reached %s: they were lost on the "
			"way or in its queue.",
			lost, all, entity->of, 100.0 * (double)finding->times / (double)whole,
			entity->label);
}

static void timer_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	char time[TEXT_QUANTITY_MAX], times[32], runs[32];

	snprintf(buffer, size,
		 "%s began a whole period late or more %s times in %s runs, %s late at worst.",
		 finding->entity->label, summary_number(times, finding->times),
		 summary_number(runs, finding->entity->count[SUMMARY_RUNS]),
		 text_ns(time, finding->worst_ns));
}

static void loop_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	const uint64_t cycles = finding->entity->count[SUMMARY_RUNS];
	char time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX], times[32], runs[32], missed[128];

	text_ns(time, finding->worst_ns);
	text_ns(usual, finding->usual_ns);
	snprintf(missed, sizeof(missed), "missed %s of %s deadlines",
		 summary_number(times, finding->times), summary_number(runs, cycles));
	snprintf(buffer, size, "%s %s%swoke %s late at worst, usually %s.", finding->entity->label,
		 finding->times ? missed : "", finding->times ? ", and " : "", time, usual);
}

static void span_text(const struct summary *summary, const struct summary_finding *finding,
		      char *buffer, size_t size)
{
	const struct summary_entity *around = summary_span_around(summary, finding->entity);
	char time[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX];

	snprintf(buffer, size, "%s%s%s took %s, usually %s.", finding->entity->label,
		 around ? " inside " : "", around ? around->label : "",
		 text_ns(time, finding->worst_ns), text_ns(usual, finding->usual_ns));
}

static void aborted_text(const struct summary_finding *finding, char *buffer, size_t size)
{
	const uint64_t ended = finding->entity->count[SUMMARY_RUNS];
	char times[32], goals[32];

	snprintf(buffer, size, "%s of %s goals of %s (%.1f %%) were aborted by its server.",
		 summary_number(times, finding->times), summary_number(goals, ended),
		 finding->entity->label, 100.0 * (double)finding->times / (double)ended);
}

static void trust_text(const struct summary *summary, char *buffer, size_t size)
{
	const struct summary_trust *trust = &summary->trust;
	char lost[32];
	const uint64_t gone = trust->lost_events ? trust->lost_events : trust->lost_packets;

	if (gone)
		snprintf(buffer, size,
			 "%s %s%s lost: counts are too low, and messages that seem lost may only "
			 "be unrecorded.",
			 summary_number(lost, gone), trust->lost_events ? "event" : "packet",
			 gone == 1 ? " was" : "s were");
	else if (trust->damaged)
		snprintf(buffer, size, "The trace is damaged in %s place%s: something is missing.",
			 summary_number(lost, trust->damaged), trust->damaged == 1 ? "" : "s");
	else if (trust->unnamed)
		snprintf(buffer, size,
			 "%s callback%s no name: the trace does not have the start of their "
			 "programs.",
			 summary_number(lost, trust->unnamed),
			 trust->unnamed == 1 ? " has" : "s have");
	else
		snprintf(
			buffer, size,
			"The clocks of the hosts cannot be compared: %s message%s between "
			"them %s no latency.",
			summary_number(lost, trust->other_host),
			trust->other_host == 1 ? "" : "s",
			trust->other_host == 1 ? "has" : "have");
}

char *summary_finding_alike(const struct summary_finding *finding, char *buffer, size_t size)
{
	static const char *const of_kind[SUMMARY_KINDS] = {
		[SUMMARY_CHAIN] = "chains", [SUMMARY_LOOP] = "loops",
		[SUMMARY_SPAN] = "spans",   [SUMMARY_ACTION] = "actions",
	};
	const char *kind = finding->entity ? of_kind[finding->entity->kind] : NULL;
	char affected[32], alike[32];

	*buffer = '\0';
	if (finding->alike > 1)
		(void)snprintf(buffer, size, " Affected: %s of %s such %s.",
			       summary_number(affected, finding->affected),
			       summary_number(alike, finding->alike), kind ? kind : "callbacks");
	return buffer;
}

char *summary_finding_text(const struct summary *summary, const struct summary_finding *finding,
			   char *buffer, size_t size)
{
	size_t used;

	switch (finding->kind) {
	case SUMMARY_FINDING_CHAIN:
	case SUMMARY_FINDING_CALLBACK:
	case SUMMARY_FINDING_GOAL:
		instance_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_HOLDS:
		holds_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_LOSS:
		loss_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_TIMER:
		timer_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_LOOP:
		loop_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_SPAN:
		span_text(summary, finding, buffer, size);
		break;
	case SUMMARY_FINDING_ABORTED:
		aborted_text(finding, buffer, size);
		break;
	case SUMMARY_FINDING_TRUST:
	case SUMMARY_FINDING_KINDS:
		trust_text(summary, buffer, size);
		break;
	}
	used = strlen(buffer);
	(void)summary_finding_alike(finding, buffer + used, size - used);
	return buffer;
}

static const struct summary_entity *latest_loop(const struct summary *summary)
{
	const struct summary_entity *worst = NULL;

	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind == SUMMARY_LOOP &&
		    (!worst || entity->histogram[SUMMARY_LATENCY].max >
				       worst->histogram[SUMMARY_LATENCY].max))
			worst = entity;
	}
	return worst;
}

char *summary_nothing_text(const struct summary *summary, char *buffer, size_t size)
{
	char time[TEXT_QUANTITY_MAX], p99[TEXT_QUANTITY_MAX], usual[TEXT_QUANTITY_MAX + 16];
	const struct summary_entity *entity;
	struct summary_finding slowest;
	const bool ran = summary_slowest(summary, &slowest);
	int64_t worst_ns, p99_ns;

	entity = ran ? slowest.entity : latest_loop(summary);
	if (!entity) {
		snprintf(buffer, size, "Nothing stands out.");
		return buffer;
	}
	worst_ns = ran ? slowest.worst_ns : (int64_t)entity->histogram[SUMMARY_LATENCY].max;
	p99_ns = (int64_t)histogram_quantile(&entity->histogram[SUMMARY_LATENCY], 0.99);
	/* the percentiles count start-up */
	if (p99_ns > worst_ns)
		snprintf(usual, sizeof(usual), " after start-up");
	else
		snprintf(usual, sizeof(usual), " (p99 %s)", text_ns(p99, p99_ns));
	snprintf(buffer, size, "Nothing stands out. %s: %s, %s%s at worst%s.",
		 ran ? "Slowest reaction" : "Latest wake-up", entity->label,
		 text_ns(time, worst_ns), ran ? "" : " late", usual);
	return buffer;
}
