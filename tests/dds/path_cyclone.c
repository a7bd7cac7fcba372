/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `path_cyclone talk|lose|local|speak|ask|listen|sleep COUNT DOMAIN`: publishes COUNT messages with the real CycloneDDS as rmw_cyclonedds_cpp does. talk: to
 * two readers of another process; lose: to three that sleep, see there; local: to a reader of this
 * process. speak: to a program that listens elsewhere; ask: that one prints "matched", and then
 * waits for a line. The program sets the source timestamps, on Humble CycloneDDS does. The last
 * quarter of the messages is larger than a packet.
 */
#include "path.h"

#include <dds/dds.h>

#include "messages.h"

#define LARGE 40000u
#define PATIENCE_S 60

static unsigned count;
static dds_entity_t participant, topic;

static void begin(const char *name, const char *domain)
{
	participant = dds_create_participant((dds_domainid_t)atoi(domain), NULL, NULL);
	topic = dds_create_topic(participant, &messages_Scan_desc, "rt/scan", NULL, NULL);
	node_begins(name);
}

/* @depth: 0: it keeps all. */
static dds_entity_t made(dds_entity_t (*create)(dds_entity_t, dds_entity_t, const dds_qos_t *,
						const dds_listener_t *),
			 int32_t depth, uint8_t gid[16])
{
	dds_qos_t *qos = dds_create_qos();
	dds_guid_t guid;
	dds_entity_t entity;

	dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(PATIENCE_S));
	dds_qset_history(qos, depth ? DDS_HISTORY_KEEP_LAST : DDS_HISTORY_KEEP_ALL, depth);
	entity = create(participant, topic, qos, NULL);
	if (entity < 0 || dds_get_guid(entity, &guid))
		exit(1);
	memcpy(gid, guid.v, 16);
	dds_delete_qos(qos);
	return entity;
}

static dds_entity_t reader(unsigned number, int32_t depth)
{
	uint8_t gid[16];
	const dds_entity_t made_reader = made(dds_create_reader, depth, gid);

	subscription_made(number, gid, depth ? (size_t)depth : 10);
	return made_reader;
}

static dds_entity_t writer(void)
{
	uint8_t gid[16];
	const dds_entity_t made_writer = made(dds_create_writer, 0, gid);

	publisher_made(gid);
	return made_writer;
}

static void write_one(dds_entity_t to, unsigned number)
{
	static float ranges[LARGE];
	messages_Scan scan;

	memset(&scan, 0, sizeof scan);
	scan.header.frame_id = (char *)"map";
	scan.last = number;
	scan.ranges._buffer = ranges;
	scan.ranges._length = scan.ranges._maximum = number >= count * 3 / 4 ? LARGE : 3;
#ifdef HUMBLE
	message_written(&scan, 0);
	if (dds_write(to, &scan))
		exit(1);
#else
	const dds_time_t now = dds_time();

	message_written(&scan, now);
	if (dds_write_ts(to, &scan, now))
		exit(1);
#endif
}

static bool take_one(dds_entity_t from, unsigned number)
{
	void *message = NULL;
	dds_sample_info_t info;

	if (dds_take(from, &message, &info, 1, 1) != 1)
		return false;
	if (info.valid_data)
		message_taken(number, message, info.source_timestamp);
	dds_return_loan(from, &message, 1);
	return info.valid_data;
}

static void matched(dds_entity_t to, unsigned readers)
{
	dds_publication_matched_status_t status = { 0 };

	for (unsigned i = 0; i < PATIENCE_S * 1000 && status.current_count < readers;
	     i++, pause_ms(1))
		if (dds_get_publication_matched_status(to, &status))
			exit(1);
	if (status.current_count < readers)
		exit(1);
}

static const char *domain;

static int speak(bool asks, unsigned readers)
{
	dds_entity_t to;

	begin(asks ? "asker" : "talker", domain);
	to = writer();
	matched(to, readers);
	if (asks && (puts("matched") < 0 || fflush(stdout) || getchar() == EOF))
		return 1;
	for (unsigned i = 0; i < count; i++, pause_ms(1))
		write_one(to, i);
	return dds_wait_for_acks(to, DDS_SECS(PATIENCE_S)) ? 1 : 0;
}

static int talk(void)
{
	return speak(false, 2);
}

static int listen(void)
{
	unsigned taken[2] = { 0, 0 };

	begin("listener", domain);
	const dds_entity_t from[2] = { reader(0, 0), reader(1, 0) };

	for (unsigned i = 0; i < PATIENCE_S * 1000 && taken[0] + taken[1] < 2 * count;
	     i++, pause_ms(1))
		for (unsigned number = 0; number < 2; number++)
			while (take_one(from[number], number))
				taken[number]++;
	pause_ms(100);			/* the writer receives the last acknowledgement */
	dds_delete(participant);
	return taken[0] != count || taken[1] != count;
}

static int talk_to_sleepers(void)
{
	return speak(false, 3);
}

/* The last message is in the queue of @from, where it stays. */
static bool has_last(dds_entity_t from)
{
	void *messages[2] = { NULL, NULL };
	dds_sample_info_t info[2];
	const dds_return_t got = dds_read(from, messages, info, 2, 2);
	bool found = false;

	for (dds_return_t i = 0; i < got; i++)
		found |= info[i].valid_data && ((messages_Scan *)messages[i])->last == count - 1;
	if (got > 0)
		dds_return_loan(from, messages, got);
	return found;
}

/* Reader 0 keeps two messages and takes them when all have come, reader 1 takes each, reader 2
 * takes none. */
static int sleep_first(void)
{
	unsigned taken = 0, left = 0;

	begin("sleeper", domain);
	const dds_entity_t from[3] = { reader(0, 2), reader(1, 0), reader(2, 0) };

	for (unsigned i = 0; i < PATIENCE_S * 1000 && (taken < count || !has_last(from[0]));
	     i++, pause_ms(1))
		while (take_one(from[1], 1))
			taken++;
	pause_ms(200);			/* a message of the last 100 ms could still come */
	while (take_one(from[0], 0))
		left++;
	dds_delete(participant);
	return taken != count || left != 2;
}

static int local(void)
{
	dds_entity_t to, from;

	begin("both", domain);
	from = reader(0, 0);
	to = writer();
	for (unsigned i = 0; i < count; i++) {
		write_one(to, i);
		if (!take_one(from, 0))
			return 1;
	}
	return 0;
}

int main(int argc, char **argv)
{
	if (argc != 4)
		return 1;
	count = (unsigned)atoi(argv[2]);
	domain = argv[3];
	if (!strcmp(argv[1], "listen"))
		return listen();
	if (!strcmp(argv[1], "sleep"))
		return sleep_first();
	if (!strcmp(argv[1], "lose"))
		return with_listener(argv, "sleep", talk_to_sleepers);
	if (!strcmp(argv[1], "speak") || !strcmp(argv[1], "ask"))
		return speak(!strcmp(argv[1], "ask"), 2);
	return strcmp(argv[1], "local") ? with_listener(argv, "listen", talk) : local();
}
