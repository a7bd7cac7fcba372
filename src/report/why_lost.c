/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: what got lost between the callbacks of a chain. */
#include <inttypes.h>
#include <stdio.h>

#include "report/flow_internal.h"
#include "report/why_internal.h"

#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

/* A topic of the chain and the callback behind it. */
struct link {
	unsigned step;			/* of the callback */
	char topic[WHY_LABEL_MAX / 2], to[WHY_LABEL_MAX / 2];
	uint64_t messages, lost;
};

/* The next link of the chain behind step @from. Return: false: there is none. */
static bool next_link(const struct why_answer *answer, unsigned from, struct link *link)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = answer->target.is_chain ?
			 chains_steps(chains_path(answer->chains, answer->target.index), step) : 0;

	for (unsigned i = from + 1; i < count; i++) {
		if (!step[i]->callback || !step[i - 1]->publisher)
			continue;
		*link = (struct link){ .step = i, .messages = step[i - 1]->count, .lost = chains_untaken(step[i]) };
		flow_step_label(step[i - 1], link->topic, sizeof(link->topic));
		flow_step_label(step[i], link->to, sizeof(link->to));
		return true;
	}
	return false;
}

char *why_lost_text(const struct why_answer *answer, char *buffer, size_t size)
{
	struct link link = { 0 };
	size_t used = 0;

	*buffer = '\0';
	while (used < size && next_link(answer, link.step, &link))
		if (link.lost)
			used += (size_t)snprintf(buffer + used, size - used,
						 "%s%" PRIu64 " of %" PRIu64 " messages of %s never came to %s", used ? "; " : "",
						 link.lost, link.messages, link.topic, link.to);
	return buffer;
}

static const struct table_column link_columns[] = {
	{ "step", NULL },
	{ "topic", NULL },
	{ "to", NULL },
	{ "messages", NULL },
	{ "lost", NULL },
};

void why_print_links(struct why_answer *answer)
{
	struct table *t = answer->table;
	struct link link = { 0 };

	table_section(t, "links", "Links", link_columns, COUNT_OF(link_columns));
	while (next_link(answer, link.step, &link)) {
		table_u64(t, link.step);
		table_text(t, link.topic);
		table_text(t, link.to);
		table_u64(t, link.messages);
		table_u64(t, link.lost);
	}
}
