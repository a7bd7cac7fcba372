/* SPDX-License-Identifier: Apache-2.0 */
/* What is counted and measured, by name: as files, databases and budgets have it. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "summary/summary.h"

char *summary_number(char buffer[32], uint64_t value)
{
	char plain[24];
	size_t digits = (size_t)snprintf(plain, sizeof(plain), "%" PRIu64, value), at = 0;

	for (size_t i = 0; i < digits; i++) {
		if (i && (digits - i) % 3 == 0)
			buffer[at++] = ',';
		buffer[at++] = plain[i];
	}
	buffer[at] = '\0';
	return buffer;
}

const char *summary_kind_name(enum summary_kind kind)
{
	static const char *const names[SUMMARY_KINDS] = {
		"callback", "timer",  "topic",   "subscription", "chain", "service",
		"executor", "thread", "process", "loop",         "span",  "action",
	};

	return names[kind];
}

const char *summary_counter_name(enum summary_counter counter)
{
	static const char *const names[SUMMARY_COUNTERS] = {
		"runs",          "unfinished",      "published",
		"received",      "never_sent",      "never_received",
		"not_yet",       "overwritten",     "cleared",
		"late",          "overrun",         "missed",
		"waited",        "waited_ns",       "run_ns",
		"kept_ns",       "publish_ns",      "way_ns",
		"wait_ns",       "take_ns",         "sent",
		"cpu_runs",      "cpu_ns",          "cost_runs",
		"allocations",   "allocated_bytes", "lock_waits",
		"lock_ns",       "lost_not_sent",   "lost_wire",
		"lost_rejected", "lost_queue",      "lost_not_taken",
		"aborted",       "canceled",        "rejected",
		"awaited_ns",
	};

	return names[counter];
}

const char *summary_distribution_name(enum summary_distribution distribution)
{
	static const char *const names[SUMMARY_DISTRIBUTIONS] = { "duration", "latency", "wait",
								  "period", "own" };

	return names[distribution];
}

double summary_quantile_at(unsigned at)
{
	static const double quantiles[SUMMARY_QUANTILES] = { 0.02, 0.5, 0.9, 0.99 };

	return quantiles[at];
}

uint64_t summary_quantile(const struct summary_entity *entity, enum summary_distribution which,
			  double q)
{
	for (unsigned i = 0; i < SUMMARY_QUANTILES; i++)
		if (fabs(q - summary_quantile_at(i)) < 1e-9 && entity->quantile[which][i])
			return entity->quantile[which][i];
	return histogram_quantile(&entity->histogram[which], q);
}

const char *summary_what_name(enum summary_what what)
{
	static const char *const names[SUMMARY_WHATS] = {
		"ran",       "kept",       "publishing", "on_its_way", "waited_for",
		"taking",    "being_late", "accepting",  "beginning",  "executing",
		"canceling", "keeping",    "awaiting",   "awaited",
	};

	return names[what];
}
