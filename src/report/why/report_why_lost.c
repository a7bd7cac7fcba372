/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why`: what got lost between the callbacks of a chain. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/why/report_why_internal.h"
#include "base/array.h"

/* A topic of the chain and the callback behind it. */
struct lost_link {
	unsigned step;			/* of the callback */
	const struct chains_path *path;	/* likewise */
	char topic[WHY_LABEL_MAX / 2], to[WHY_LABEL_MAX / 2];
	uint64_t messages, lost;
};

const struct chains_path *why_next_link(const struct why_answer *answer, unsigned from)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = answer->target.is_chain ?
			 chains_steps(chains_path(answer->chains, answer->target.index), step) : 0;

	for (unsigned i = from + 1; i < count; i++)
		if (step[i]->callback && step[i - 1]->publisher)
			return step[i];
	return NULL;
}

/* The next link of the chain behind step @from. Return: false: there is none. */
static bool next_link(const struct why_answer *answer, unsigned from, struct lost_link *link)
{
	const struct chains_path *path = why_next_link(answer, from);

	if (!path)
		return false;
	*link = (struct lost_link){
		.step = path->depth, .path = path, .messages = path->parent->count,
		.lost = why_fate_lost(answer, path),
	};
	chains_step_label(path->parent, link->topic, sizeof(link->topic));
	chains_step_label(path, link->to, sizeof(link->to));
	return true;
}

char *why_lost_text(const struct why_answer *answer, char *buffer, size_t size)
{
	struct lost_link link = { 0 };
	char kinds[512];
	size_t used = 0;

	*buffer = '\0';
	while (used < size && next_link(answer, link.step, &link))
		if (link.lost)
			used += (size_t)snprintf(
				buffer + used, size - used,
				"%s%" PRIu64 " of %" PRIu64 " messages of %s never reached %s%s",
				used ? "; " : "", link.lost, link.messages, link.topic, link.to,
				why_fate_kinds(answer, link.path, kinds, sizeof(kinds)));
	return buffer;
}

int why_lost_ids(struct why_answer *answer)
{
	const struct chains_path *path;
	unsigned count = 1;

	for (path = why_next_link(answer, 0); path; path = why_next_link(answer, path->depth))
		count += path->untaken_count;
	free(answer->ids);
	answer->ids = calloc(count, sizeof(*answer->ids));
	answer->id_count = 0;
	if (!answer->ids)
		return -1;
	if (answer->options->message)
		answer->ids[answer->id_count++] = answer->options->message;
	for (path = why_next_link(answer, 0); path; path = why_next_link(answer, path->depth)) {
		if (path->untaken_count)
			memcpy(answer->ids + answer->id_count, path->untaken,
			       path->untaken_count * sizeof(*path->untaken));
		answer->id_count += path->untaken_count;
	}
	return 0;
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
	struct lost_link link = { 0 };

	table_section(t, "links", "Links", link_columns, COUNT_OF(link_columns));
	while (next_link(answer, link.step, &link)) {
		table_u64(t, link.step);
		table_text(t, link.topic);
		table_text(t, link.to);
		table_u64(t, link.messages);
		table_u64(t, link.lost);
	}
}
