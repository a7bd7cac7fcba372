/* SPDX-License-Identifier: Apache-2.0 */
/* See mcap_channels.h. Two series may have one topic when their names are made plain: the later
 * gets a number. */
#include "export/mcap/mcap_channels.h"

#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"

struct series {
	unsigned channel;
	char name[]; /* prefix and name, or the topic */
};

/* @same: set to how many other names have this hash. */
static struct series *find(const struct map *map, const char *name, uint64_t *same)
{
	const uint64_t hash = text_hash(TEXT_HASH, name);
	struct series *series;

	*same = 0;
	while ((series = map_get(map, hash, *same)) && strcmp(series->name, name) != 0)
		++*same;
	return series;
}

static bool keep(struct writer *writer, struct map *map, const char *name, uint64_t same,
		 unsigned channel)
{
	const size_t size = strlen(name) + 1;
	struct series *series = malloc(sizeof(*series) + size);

	if (series) {
		series->channel = channel;
		memcpy(series->name, name, size);
	}
	if (!series || map_put(map, text_hash(TEXT_HASH, name), same, series) < 0) {
		free(series);
		writer->failed = true;
		return false;
	}
	return true;
}

/* "/kymo/callback" and "/lidar timer 25 ms": "/kymo/callback/lidar/timer_25_ms". */
static void put_plain(char topic[SERIES_NAME_MAX], const char *prefix, const char *name)
{
	size_t size = (size_t)snprintf(topic, SERIES_NAME_MAX, "%s/", prefix);

	for (; *name && size + 8 < SERIES_NAME_MAX; name++) {
		char c = isascii((unsigned char)*name) && isalnum((unsigned char)*name) ? *name
											: '_';

		if (*name == '/' || (*name == ' ' && name[1] == '/'))
			c = '/';
		if (c == '/' && topic[size - 1] == '/')
			continue;
		topic[size++] = c;
	}
	topic[size] = 0;
}

static unsigned create(struct writer *writer, unsigned schema, const char *prefix, const char *name)
{
	char topic[SERIES_NAME_MAX + 32];
	uint64_t same;
	size_t size;
	unsigned channel;

	put_plain(topic, prefix, name);
	size = strlen(topic);
	for (unsigned i = 2; find(&writer->topics, topic, &same); i++)
		(void)snprintf(topic + size, 16, "_%u", i);
	channel = mcap_channel(writer->file, schema, topic, name);
	if (channel && keep(writer, &writer->topics, topic, same, channel))
		writer->result->channels++;
	return channel;
}

unsigned writer_channel(struct writer *writer, unsigned schema, const char *prefix,
			const char *name)
{
	char key[SERIES_NAME_MAX + 64];
	const struct series *series;
	unsigned channel;
	uint64_t same;

	(void)snprintf(key, sizeof(key), "%s %s", prefix, name);
	series = find(&writer->by_name, key, &same);
	if (series)
		return series->channel;
	channel = create(writer, schema, prefix, name);
	return keep(writer, &writer->by_name, key, same, channel) ? channel : 0;
}

void writer_begin(struct writer *writer)
{
	writer->text.size = 0;
	writer->text.inside = false;
	writer->text.one_line = true;
	json_text_open(&writer->text, NULL, '{');
}

void writer_ms(struct writer *writer, const char *key, int64_t ns)
{
	const uint64_t size = ns < 0 ? -(uint64_t)ns : (uint64_t)ns;
	char number[48];

	(void)snprintf(number, sizeof(number), "%s%llu.%06u", ns < 0 ? "-" : "",
		       (unsigned long long)(size / 1000000), (unsigned)(size % 1000000));
	json_text_plain(&writer->text, key, number);
}

void writer_number(struct writer *writer, const char *key, double value)
{
	char number[TEXT_QUANTITY_MAX];

	if (isfinite(value))
		json_text_plain(&writer->text, key, text_f64_exact(number, value));
}

void writer_end(struct writer *writer, unsigned channel, int64_t log_ns, int64_t publish_ns)
{
	json_text_close(&writer->text, '}');
	if (channel)
		mcap_message(writer->file, channel, log_ns, publish_ns, writer->text.text,
			     writer->text.size);
	else
		writer->result->left_out++;
	writer->failed |= writer->text.failed;
}

void writer_free(struct writer *writer)
{
	map_free_all(&writer->by_name);
	map_free_all(&writer->topics);
	free(writer->text.text);
}
