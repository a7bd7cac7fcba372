/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a relay answers a recorder that sends: an input is { u8 1: with datagrams }, then pieces {
 * u8 what, u16 size, bytes }: an answer in bytes, time that passes with work, a connection that is
 * lost, and the end of the recording. A relay that answers too little, too much, something else or
 * never must not be believed to have stored what it was not sent.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "relay/send/send.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define SECOND_NS	1000000000ull

enum { ANSWER, WORK, LOSE, FINISH, WHATS };

struct fuzz {
	struct spool *spool;
	struct send send;
	uint64_t now_ns;
};

static void must(bool is_so)
{
	if (!is_so)
		abort();
}

static void add(struct fuzz *fuzz, enum spool_log log, enum spool_kind kind, uint32_t id,
		const void *body, size_t size)
{
	struct spool_record record = {
		.kind = kind,
		.id = id,
		.events = 1,
		.entry = { .packet_size = 8 * size,
			   .content_size = 8 * size,
			   .timestamp_begin = 5,
			   .timestamp_end = 7 },
	};

	record.entry.packet_seq_num = spool_end(fuzz->spool, SPOOL_RUN) / 256;
	must(spool_add(fuzz->spool, log, &record, &(struct iovec){ (void *)body, size }, 1, NULL) ==
	     0);
}

static void fill(struct fuzz *fuzz)
{
	const struct spool_trace trace = { .name = "ust/uid/0/64-bit" };
	const uint8_t packet[109] = { 1 };

	add(fuzz, SPOOL_FACTS, SPOOL_TRACE, 0, &trace, sizeof(trace));
	add(fuzz, SPOOL_FACTS, SPOOL_METADATA, 0, "text", 4);
	for (uint32_t i = 0; i < 2; i++) {
		struct spool_stream stream = { .class = i };

		(void)snprintf(stream.name, sizeof(stream.name), "stream_%u", i);
		add(fuzz, SPOOL_FACTS, SPOOL_STREAM, i, &stream, sizeof(stream));
	}
	for (uint32_t i = 0; i < 8; i++)
		add(fuzz, SPOOL_RUN, SPOOL_PACKET, i & 1, packet, sizeof(packet));
	add(fuzz, SPOOL_RUN, SPOOL_END, 1, NULL, 0);
}

static void begin(struct fuzz *fuzz)
{
	send_lost(&fuzz->send);
	send_begin(&fuzz->send, 1, fuzz->now_ns);
}

static void work(struct fuzz *fuzz, uint64_t ns)
{
	const struct send_place end = { { spool_end(fuzz->spool, SPOOL_FACTS),
					  spool_end(fuzz->spool, SPOOL_RUN) } };
	struct kymo_err err = { 0 };

	fuzz->now_ns += ns;
	send_horizon(&fuzz->send, fuzz->now_ns, &end);
	if (send_work(&fuzz->send, fuzz->now_ns, &err) < 0) {
		must(err.text[0]);
		begin(fuzz);
	}
	/* As if both connections took all of it. */
	fuzz->send.producer.control.used = fuzz->send.producer.data.used = 0;
}

static void answer(struct fuzz *fuzz, const uint8_t *bytes, size_t size)
{
	struct kymo_err err = { 0 };

	if (send_input(&fuzz->send, bytes, size, &err) < 0) {
		must(err.text[0]);
		begin(fuzz);
		return;
	}
	work(fuzz, 1000000);
}

static void check(const struct fuzz *fuzz)
{
	const struct send *send = &fuzz->send;

	for (unsigned i = 0; i < SPOOL_LOGS; i++) {
		must(send->sent.at[i] <= spool_end(fuzz->spool, (enum spool_log)i));
		must(send->stored.at[i] <= send->sent.at[i]);
	}
	must(spool_stored(fuzz->spool).position <= send->stored.at[SPOOL_RUN]);
	must(send->lost_packets <= 8 && send->lost_events <= 8);
	must(send->state != SEND_DONE ||
	     send->stored.at[SPOOL_RUN] == spool_end(fuzz->spool, SPOOL_RUN));
}

static void give(struct fuzz *fuzz, unsigned what, const uint8_t *bytes, size_t size)
{
	switch (what) {
	case ANSWER:
		answer(fuzz, bytes, size);
		break;
	case WORK:
		work(fuzz, SECOND_NS / 10);
		break;
	case LOSE:
		begin(fuzz);
		break;
	default:
		send_finish(&fuzz->send);
		work(fuzz, 2 * SECOND_NS);
	}
	check(fuzz);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct send_options options = { "robot", "host", 1000000, size && data[0] & 1 };
	struct fuzz fuzz = { .now_ns = SECOND_NS };
	char parent[64];
	struct kymo_err err;

	if (!size)
		return 0;
	(void)snprintf(parent, sizeof(parent), "/dev/shm/kymo-fuzz-%d", (int)getpid());
	must(spool_create(parent, SPOOL_LEAST, &fuzz.spool, &err) == 0);
	send_init(&fuzz.send, fuzz.spool, &options);
	fill(&fuzz);
	begin(&fuzz);
	for (data++, size--; size > 2 && fuzz.send.state != SEND_DONE;) {
		size_t piece = (size_t)(data[1] | data[2] << 8);

		if (piece > size - 3)
			piece = size - 3;
		give(&fuzz, data[0] % WHATS, data + 3, piece);
		data += 3 + piece;
		size -= 3 + piece;
	}
	send_free(&fuzz.send);
	spool_close(fuzz.spool, false);
	(void)rmdir(parent);
	return 0;
}
