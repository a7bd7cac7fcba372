/* SPDX-License-Identifier: Apache-2.0 */
/* For each sender, the time of its last Start and of its last End. See order.h. */
#include "caret/agent/order.h"

#include <string.h>

/* The entry of @key; if there is none, the one that was used the longest time ago becomes it. NULL:
 * it is not known. */
static struct order_sender *find(struct order *order, const uint8_t key[ORDER_KEY])
{
	static const uint8_t unknown[ORDER_KEY];
	struct order_sender *found = &order->sender[0];

	if (memcmp(key, unknown, ORDER_KEY) == 0)
		return NULL;
	for (unsigned i = 0; i < ORDER_SENDERS; i++) {
		struct order_sender *sender = &order->sender[i];

		if (sender->turn && memcmp(sender->key, key, ORDER_KEY) == 0) {
			found = sender;
			break;
		}
		if (sender->turn < found->turn)
			found = sender;
	}
	if (memcmp(found->key, key, ORDER_KEY) != 0 || !found->turn) {
		*found = (struct order_sender){ 0 };
		memcpy(found->key, key, ORDER_KEY);
	}
	found->turn = ++order->turns;
	return found;
}

static bool counts(int64_t *own_ns, int64_t other_ns, int64_t ns)
{
	/* Any number may arrive: the difference is taken without a sign. */
	if (other_ns && ns < other_ns && (uint64_t)other_ns - (uint64_t)ns < ORDER_LATE_NS)
		return false;
	*own_ns = ns;
	return true;
}

bool order_start(struct order *order, const struct order_sent *sent)
{
	struct order_sender *sender = find(order, sent->sender);

	return !sender || counts(&sender->start_ns, sender->end_ns, sent->ns);
}

bool order_end(struct order *order, const struct order_sent *sent)
{
	struct order_sender *sender = find(order, sent->sender);

	return !sender || counts(&sender->end_ns, sender->start_ns, sent->ns);
}
