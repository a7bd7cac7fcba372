/* SPDX-License-Identifier: Apache-2.0 */
/* The last packets of a CPU's events, for the flight recorder. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kernel/kernel_internal.h"

static void drop_first(struct kkept *kept)
{
	struct kpacket *packet = kept->first;

	kept->first = packet->next;
	kept->last = kept->first ? kept->last : NULL;
	kept->bytes -= sizeof(*packet) + packet->size;
	kept->lost_before = packet->lost;
	free(packet);
}

static void trim(struct kkept *kept, uint64_t now_ns)
{
	while (kept->first && kept->first->end_ns + kept->window_ns < now_ns)
		drop_first(kept);
	while (kept->first != kept->last && kept->bytes > kept->limit) {
		drop_first(kept);
		if (!kept->shortest_ns || now_ns - kept->first->begin_ns < kept->shortest_ns)
			kept->shortest_ns = now_ns - kept->first->begin_ns;
	}
}

int kept_add(struct kkept *kept, uint64_t begin_ns, uint64_t end_ns, uint64_t lost, const uint8_t *events, size_t size, uint32_t count)
{
	struct kpacket *packet = malloc(sizeof(*packet) + size);

	if (!packet)
		return -ENOMEM;
	*packet = (struct kpacket){ .begin_ns = begin_ns, .end_ns = end_ns, .lost = lost, .count = count, .size = size };
	memcpy(packet->events, events, size);
	if (kept->last)
		kept->last->next = packet;
	else
		kept->first = packet;
	kept->last = packet;
	kept->bytes += sizeof(*packet) + size;
	trim(kept, end_ns);
	return 0;
}

void kept_free(struct kkept *kept)
{
	while (kept->first)
		drop_first(kept);
}
