/* SPDX-License-Identifier: Apache-2.0 */
/* Names of events: with topic and node in them, because viewers search for names. */
#include "export/perfetto/perfetto_internal.h"

#include <stdarg.h>
#include <stdio.h>

#define LABEL_MAX 512	/* bytes of a name */

uint32_t export_named(struct exporter *exporter, const char *format, ...)
{
	char text[LABEL_MAX];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof(text), format, args);
	va_end(args);
	return pft_string(exporter->pft, text);
}

static const char *topic_name(const struct model_topic *topic)
{
	return topic ? topic->name : "";
}

uint32_t export_publication(struct exporter *exporter, const struct model_publisher *publisher,
			    bool intra)
{
	struct publisher_state *state =
		publisher
			? BY_INDEX(exporter, BY_PUBLISHER, publisher->index, struct publisher_state)
			: NULL;
	uint32_t *name = !state ? NULL : intra ? &state->intra : &state->name;

	if (name && !*name)
		*name = export_named(exporter, "%s → %s%s", export_node_name(publisher->node),
				     topic_name(publisher->topic), intra ? " within the process" : "");
	return name ? *name : 0;
}

uint32_t export_reception(struct exporter *exporter, const struct model_subscription *subscription)
{
	struct subscription_state *state =
		subscription ? BY_INDEX(exporter, BY_SUBSCRIPTION, subscription->index,
					struct subscription_state)
			     : NULL;

	if (state && !state->name)
		state->name = export_named(exporter, "%s → %s", topic_name(subscription->topic),
					   export_node_name(subscription->node));
	return state ? state->name : 0;
}

uint32_t export_drop(struct exporter *exporter, const struct model_message *message,
		     enum model_drop why)
{
	static const char *const cause[] = {
		[MODEL_DROP_OVERWRITTEN] = "overwritten",
		[MODEL_DROP_CLEARED] = "cleared",
		[MODEL_DROP_UNTAKEN] = "never taken",
	};
	const struct model_subscription *to = message->subscription;
	struct subscription_state *state = to ?
		BY_INDEX(exporter, BY_SUBSCRIPTION, to->index, struct subscription_state) : NULL;

	if (!state)
		return export_named(exporter, "%s dropped: %s", topic_name(message->topic), cause[why]);
	if (!state->drop[why])
		state->drop[why] = export_named(exporter, "%s → %s dropped: %s", topic_name(to->topic),
						export_node_name(to->node), cause[why]);
	return state->drop[why];
}
