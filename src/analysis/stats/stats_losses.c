/* SPDX-License-Identifier: Apache-2.0 */
/* Where messages were lost; see stats_losses.h. */
#include "analysis/stats/stats_losses.h"

#include <stdlib.h>

#include "base/array.h"

struct losses {
	int64_t begin_ns, end_ns;
	struct array subscriptions; /* of struct losses_subscription */
	bool failed;
};

static struct losses_subscription *subscription_of(struct losses *losses,
						   const struct model_message *message)
{
	const int64_t ns = message->publish_ns ? message->publish_ns : message->take_ns;
	struct losses_subscription *its;

	if (!message->subscription || ns < losses->begin_ns || ns > losses->end_ns)
		return NULL;
	its = array_at(&losses->subscriptions, message->subscription->index, sizeof(*its));
	losses->failed |= !its;
	return its;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct losses_subscription *its = subscription_of(context, message);

	if (its)
		its->received++;
}

static void on_dropped(void *context, const struct model_message *message, enum model_drop why)
{
	struct losses_subscription *its = subscription_of(context, message);

	if (!its)
		return;
	its->lost++;
	if (why == MODEL_DROP_UNTAKEN)
		its->where[message->lost]++;
	else
		its->overwritten++;
}

static const struct model_listener listener = { .taken = on_taken, .dropped = on_dropped };

PASS_CREATE(losses, model)

void losses_destroy(struct losses *losses)
{
	if (!losses)
		return;
	free(losses->subscriptions.item);
	free(losses);
}

const struct losses_subscription *losses_subscription(const struct losses *losses, unsigned index)
{
	return ARRAY_GET(losses->subscriptions, struct losses_subscription, index);
}

PASS_LISTENER(losses);
