/* SPDX-License-Identifier: Apache-2.0 */
/* Sizes and ages of messages; see stats_content.h. */
#include "analysis/stats/stats_content.h"

#include <stdlib.h>

#include "base/array.h"

struct content {
	int64_t begin_ns, end_ns;
	struct array topics; /* of struct content_topic */
	struct array ages;   /* of struct histogram, by subscription */
	bool failed;
};

static bool inside(const struct content *content, int64_t ns)
{
	return ns >= content->begin_ns && ns <= content->end_ns;
}

static void add(struct content *content, struct histogram *histogram, uint64_t value)
{
	content->failed |= histogram_add(histogram, value) != 0;
}

/* NULL: the size of the message does not count. */
static struct content_topic *topic_of(struct content *content, const struct model_message *message,
				      int64_t ns)
{
	struct content_topic *topic;

	if (!message->size || !message->topic || message->is_intra || !inside(content, ns))
		return NULL;
	topic = array_at(&content->topics, message->topic->index, sizeof(*topic));
	content->failed |= !topic;
	return topic;
}

static void on_published(void *context, const struct model_message *message)
{
	struct content *content = context;
	struct content_topic *topic = topic_of(content, message, message->publish_ns);

	if (!topic)
		return;
	add(content, &topic->published, message->size);
	if (!topic->first_ns)
		topic->first_ns = message->publish_ns;
	topic->last_ns = message->publish_ns;
}

static void on_taken(void *context, const struct model_message *message)
{
	struct content *content = context;
	struct content_topic *topic = topic_of(content, message, message->take_ns);
	struct histogram *ages;
	int64_t age_ns;

	if (topic)
		add(content, &topic->received, message->size);
	if (!message->subscription || !inside(content, message->take_ns) ||
	    !model_message_age(message, &age_ns))
		return;
	ages = array_at(&content->ages, message->subscription->index, sizeof(*ages));
	content->failed |= !ages;
	if (ages)
		add(content, ages, age_ns > 0 ? (uint64_t)age_ns : 0);
}

/* ---- life cycle and queries ---- */

static const struct model_listener listener = { .published = on_published, .taken = on_taken };

PASS_CREATE(content, model)

static void content_destroy(struct content *content)
{
	struct content_topic *topic;
	struct histogram *age;

	if (!content)
		return;
	topic = content->topics.item;
	for (uint32_t i = 0; i < content->topics.count; i++) {
		histogram_free(&topic[i].published);
		histogram_free(&topic[i].received);
	}
	age = content->ages.item;
	for (uint32_t i = 0; i < content->ages.count; i++)
		histogram_free(&age[i]);
	free(content->topics.item);
	free(content->ages.item);
	free(content);
}

const struct content_topic *content_topic(const struct content *content, unsigned index)
{
	return ARRAY_GET(content->topics, struct content_topic, index);
}

const struct histogram *content_ages(const struct content *content, unsigned subscription)
{
	return ARRAY_GET(content->ages, struct histogram, subscription);
}

PASS_LISTENER(content);
