/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo why --capture`: what captured packets show of a late message, or of a lost one. */
#include <inttypes.h>
#include <stdio.h>

#include "base/array.h"
#include "report/report_wire.h"
#include "report/why/report_why_internal.h"

/* The packets of the message that came to step @hop. */
static const struct capture_message *captured(const struct why_answer *answer,
					      const struct why_instance *instance, unsigned hop)
{
	return hop && instance->hop[hop - 1].publisher
		       ? capture_publication(answer->capture, instance->hop[hop - 1].at.id)
		       : NULL;
}

/*
 * Is it time before the message was in the reader's cache? Packets do not explain the time after.
 */
static bool is_before_cache(const struct why_part *part)
{
	return why_is_way(part->kind) && part->kind != WHY_CACHE;
}

char *why_wire_text(const struct why_answer *answer, const struct why_instance *instance,
		    const struct why_part *part, char *buffer, size_t size)
{
	const struct capture_message *message, *before;
	const struct why_hop *from;
	char text[WHY_LABEL_MAX];

	*buffer = '\0';
	if (!answer->capture || !is_before_cache(part))
		return buffer;
	message = captured(answer, instance, part->hop);
	if (!message)
		return buffer;
	if (*wire_message_text(message, text, sizeof(text))) {
		snprintf(buffer, size, ": %s", text);
		return buffer;
	}
	from = &instance->hop[part->hop - 1];
	before = capture_before(answer->capture, from->publisher, message->id, part->begin_ns,
				part->end_ns);
	if (before)
		snprintf(buffer, size, ": the earlier message %" PRIu64 " was sent again meanwhile", before->id);
	return buffer;
}

char *why_wire_lost(const struct why_answer *answer, const struct fate *fate, char *buffer,
		    size_t size)
{
	const struct capture_message *message;
	char text[WHY_LABEL_MAX];

	*buffer = '\0';
	if (!answer->capture || fate->why == FATE_CAME || fate->why == FATE_OVERWRITTEN ||
	    fate->why == FATE_CLEARED)
		return buffer;
	message = capture_publication(answer->capture, fate->id);
	if (!message && capture_covers(answer->capture, fate->publish_ns))
		snprintf(buffer, size, "; the captures have no packet of it");
	else if (message && *wire_message_text(message, text, sizeof(text)))
		snprintf(buffer, size, "; by the captures, %s", text);
	else if (message)
		snprintf(buffer, size, "; the captures have its packets");
	return buffer;
}

static const struct table_column columns[] = { { "rank", NULL }, { "step", NULL }, WIRE_MESSAGE_COLUMNS };

void why_print_wire(struct why_answer *answer)
{
	const struct capture_message *message;
	unsigned rows = 0;

	if (!answer->capture)
		return;
	table_section(answer->table, "wire", "On the wire, by the captures", columns, COUNT_OF(columns));
	for (unsigned rank = 0; rank < answer->instances; rank++)
		for (unsigned hop = 1; hop < answer->instance[rank].hops; hop++) {
			message = captured(answer, &answer->instance[rank], hop);
			if (!message)
				continue;
			table_u64(answer->table, rank + 1);
			table_u64(answer->table, hop);
			wire_message_cells(answer->table, message);
			rows++;
		}
	if (!rows)
		table_note(answer->table, "The captures have no packet of these messages.");
}
