/* SPDX-License-Identifier: Apache-2.0 */
/* The remarks about the times of a host, in sentences for the user. */
#include <stdio.h>

#include "analysis/align/align.h"
#include "base/text.h"

const char *align_how_name(enum align_how how)
{
	static const char *const name[] = { "reference", "messages", "one way", "contradiction", "wall clock",
					    "same clock" };

	return name[how];
}

const char *align_host_name(const struct align *align, unsigned host)
{
	const char *name = align_host(align, host)->name;

	return *name ? name : "?";
}

bool align_remark(const struct align *align, unsigned index, char *buffer, unsigned size)
{
	const struct align_host *host = align_host(align, index);
	const char *name = align_host_name(align, index), *to = align_host_name(align, host->to);
	const char *first = align_host_name(align, 0);
	char ns[TEXT_QUANTITY_MAX];

	switch (host->how) {
	case ALIGN_ONE_WAY:
		snprintf(buffer, size, "Messages between %s and the hosts above went in one direction only, %s %s%s: its clock is ahead by at %s "
			 "%s; by how much %s is not known. Latencies between them are not shown. One message %s now and then "
			 "is enough, also through other hosts whose traces are given: let a node of %s subscribe to a topic of %s.",
			 name, host->is_most ? "to" : "from", name, host->between ? " and through others" : "",
			 host->is_most ? "most" : "least", text_ns(ns, host->bound_ns), host->is_most ? "less" : "more",
			 host->is_most ? "back" : "there", host->is_most ? first : name, host->is_most ? name : first);
		return true;
	case ALIGN_CONTRADICTION:
		snprintf(buffer, size, "Messages between %s and %s contradict each other; were the traces recorded at the same "
			 "time? Their wall clocks are used, and latencies between them are not shown.", name, to);
		return true;
	case ALIGN_WALL_CLOCK:
		snprintf(buffer, size, "No message between %s and the hosts above has the time when it was sent: its wall clock is used, "
			 "whose error is not known. Latencies between them are not shown.", name);
		return true;
	default:
		return false;
	}
}
