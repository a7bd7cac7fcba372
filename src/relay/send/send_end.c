/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the relay is sent and asked besides packets: beacons, whether all is stored, the end. See
 * send.h.
 *
 * Whether packets are stored is asked in rounds. A round remembers the positions in the logs up to
 * which all is sent, and sends DATA_PENDING for each stream with new packets. Streams that answer
 * "pending" are asked again. When all have answered "no", everything before the remembered
 * positions is stored, and the spool releases it.
 */
#include "relay/send/send_internal.h"

#include <inttypes.h>

#include "ctf/write/writer.h"

#define MS		1000000ull
#define ASK_NS		(50 * MS)	/* between rounds, while it records */
#define ASK_AGAIN_NS	(5 * MS)	/* before a stream that is pending is asked again */
#define STREAMS_PER_ASK	100u		/* with more streams, rounds are rarer */
#define STREAMS_PER_BEACON 50u
#define SYNCS_PER_TIMER	4u		/* a WIRE_SYNC is cheap: one message for all streams */
#define IDLE_NS		(200 * MS)	/* between beacons when nothing happens at all */
/* a relay without chunks: time for viewers to read the last packets */
#define LINGER_NS	(1000 * MS)

/* ---- beacons ---- */

static bool is_sent(const struct send *send, const struct send_place *place)
{
	return send->sent.at[SPOOL_FACTS] >= place->at[SPOOL_FACTS] &&
	       send->sent.at[SPOOL_RUN] >= place->at[SPOOL_RUN];
}

static bool is_idle(const struct send *send, const struct send_stream *stream)
{
	return stream->announced && !stream->closed && stream->next_seq &&
	       stream->end_ns < send->horizon_ns;
}

static void beacon(struct send *send, struct send_stream *stream)
{
	const struct ctf_index_entry entry = { .timestamp_end = send->horizon_ns,
					       .stream_id = stream->class };

	producer_index(&send->producer, &stream->at, stream->next_seq - 1, &entry);
}

/*
 * A kymo relay gets one message for all streams. Its time holds for streams that the relay does not
 * know yet, too, so it is sent also when no stream is idle.
 */
static void synchronise(struct send *send)
{
	struct wire_sync sync = { .time = send->horizon_ns };

	for (unsigned i = 0; i < send->stream_count; i++)
		sync.count += is_idle(send, send->stream[i]);
	producer_request(&send->producer, WIRE_SYNC,
			 WIRE_SIZE_sync + (size_t)sync.count * WIRE_SIZE_stream_seq, NULL);
	wire_put_sync(&send->producer.control, &sync);
	for (unsigned i = 0; i < send->stream_count; i++) {
		const struct send_stream *stream = send->stream[i];

		if (is_idle(send, stream))
			wire_put_stream_seq(&send->producer.control,
					    &(struct wire_stream_seq){ stream->at.handle,
								       stream->next_seq - 1 });
	}
}

/* No stream is idle until @time, but none begins before it. */
static void promise(struct send *send, uint64_t time)
{
	if (!(send->flags & WIRE_HAS_SYNC))
		return;
	producer_request(&send->producer, WIRE_SYNC, WIRE_SIZE_sync, NULL);
	wire_put_sync(&send->producer.control, &(struct wire_sync){ .time = time });
}

void send_promise(struct send *send)
{
	if (!send->finish)
		promise(send, 0);
}

void send_beacons(struct send *send, uint64_t now_ns)
{
	uint64_t period =
		send->options.live_timer_ns * (1 + send->stream_count / STREAMS_PER_BEACON);

	if (send->flags & WIRE_HAS_SYNC)
		period /= SYNCS_PER_TIMER;
	if (send->told_ns > send->end_ns && period < IDLE_NS)
		period = IDLE_NS;	/* viewers may already show all that was sent */
	if (send->horizon_ns <= send->told_ns || now_ns - send->beacon_ns < period ||
	    !is_sent(send, &send->horizon))
		return;
	if (send->flags & WIRE_HAS_SYNC)
		synchronise(send);
	for (unsigned i = 0; i < send->stream_count && !(send->flags & WIRE_HAS_SYNC); i++)
		if (is_idle(send, send->stream[i]))
			beacon(send, send->stream[i]);
	send->told_ns = send->horizon_ns;
	send->beacon_ns = now_ns;
}

/* ---- is it stored? ---- */

static void ask(struct send *send, struct send_stream *stream)
{
	producer_stream_seq(&send->producer, WIRE_DATA_PENDING, &stream->at, stream->asked_seq - 1,
			    stream);
	send->asking_streams++;
}

static void ask_for_more(struct send *send)
{
	send->asking = true;
	send->round = send->sent;
	send->round_counted = (struct spool_stored){ send->round.at[SPOOL_RUN], send->lost_packets,
						     send->lost_events, send->unstored };
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->asked_discarded = stream->discarded;
		stream->asked_seq = stream->next_seq;
		if (stream->closed || stream->stored_seq == stream->next_seq)
			continue;
		stream->pending = true;
		ask(send, stream);
	}
}

static void close_stream(struct send *send, const struct producer_stream *stream, uint64_t next_seq)
{
	producer_stream_seq(&send->producer, WIRE_CLOSE_STREAM, stream, next_seq - 1, NULL);
}

/* Takes streams out of their chunk: viewers may read to their ends. */
static void rotate_begin(struct send *send, uint32_t count)
{
	static const uint8_t padding[7];

	producer_request(&send->producer, WIRE_ROTATE_STREAMS,
			 WIRE_SIZE_rotate + sizeof(padding) + 8 +
				 (size_t)count * WIRE_SIZE_stream_seq,
			 NULL);
	wire_put_rotate(&send->producer.control, &(struct wire_rotate){ .count = count });
	wire_add_bytes(&send->producer.control, padding, sizeof(padding));
	wire_add(&send->producer.control, 0, 8);
}

static void rotate_one(struct send *send, const struct producer_stream *stream, uint64_t seq)
{
	wire_put_stream_seq(&send->producer.control,
			    &(struct wire_stream_seq){ stream->handle, seq });
}

/* Streams of threads and processes that have ended, when all their packets are stored. */
static void close_ended(struct send *send)
{
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		if (!stream->ended || stream->closed || !stream->at.has_handle ||
		    stream->stored_seq != stream->next_seq ||
		    send->stored.at[SPOOL_RUN] < stream->ended_at)
			continue;
		if (producer_has_chunks(&send->producer)) {
			rotate_begin(send, 1);
			rotate_one(send, &stream->at, stream->next_seq);
		}
		close_stream(send, &stream->at, stream->next_seq);
		stream->closed = true;
		stream->done =
			stream->class !=
			CTF_CLASS_INIT; /* a session that begins anew needs the names again */
	}
}

static void round_done(struct send *send)
{
	const uint64_t packets = send->lost_packets, events = send->lost_events;

	send_count_round(send);
	/* What was counted since the round began, but not for it, belongs to packets that the spool
	 * still keeps. */
	send->round_counted.lost_packets += send->lost_packets - packets;
	send->round_counted.lost_events += send->lost_events - events;
	send->round_counted.unstored = send->unstored;
	send->asking = false;
	send->stored = send->round;
	for (unsigned i = 0; i < send->stream_count; i++) {
		struct send_stream *stream = send->stream[i];

		stream->stored_discarded = stream->asked_discarded;
	}
	spool_release(send->spool, &send->round_counted);
	if (producer_has_chunks(&send->producer))
		close_ended(send);
}

/* All is written, as far as the disk took it: how much did it not? */
static void end_round(struct send *send)
{
	if (!(send->flags & WIRE_HAS_LOST_COUNT) || send->counting) {
		send->counting = false;
		round_done(send);
		return;
	}
	producer_request(&send->producer, WIRE_LOST_COUNT, 0, NULL);
	send->counting = true;
	send->asking_streams++;
}

/* Asks streams again that answered "pending". Return: how many. */
static unsigned ask_again(struct send *send)
{
	unsigned pending = 0;

	for (unsigned i = 0; i < send->stream_count; i++) {
		if (!send->stream[i]->pending)
			continue;
		ask(send, send->stream[i]);
		pending++;
	}
	return pending;
}

void send_ask(struct send *send, uint64_t now_ns)
{
	const bool news = send->stored.at[SPOOL_FACTS] < send->sent.at[SPOOL_FACTS] ||
			  send->stored.at[SPOOL_RUN] < send->sent.at[SPOOL_RUN];

	if (send->state == SEND_CLOSING || now_ns < send->ask_at || send->asking_streams)
		return;
	if (!send->asking && !news)
		return;
	if (send->asking)
		(void)ask_again(send);
	else
		ask_for_more(send);
	if (!send->asking_streams)
		end_round(send);
	send->ask_at =
		now_ns +
		(send->finish ? ASK_AGAIN_NS : ASK_NS * (1 + send->stream_count / STREAMS_PER_ASK));
}

int send_answered(struct send *send, struct send_stream *stream, uint32_t pending,
		  struct kymo_err *err)
{
	const bool lost = pending == WIRE_SOME_LOST && send->options.datagrams;

	if (pending > 1 && !lost)
		return err_set(err, KYMO_EXIT_FAILED, "the relay no longer knows the stream %s (status %" PRIu32 ")", stream->name,
			       pending);
	if (!pending || lost) {
		stream->pending = false;
		stream->stored_seq = stream->asked_seq;
	}
	if (lost && stream->class != CTF_CLASS_INIT && send->producer.path) {
		send_ask_lost(send, stream, send->producer.path);
		send->asking_streams++;
	}
	send_asked(send);
	return 0;
}

void send_asked(struct send *send)
{
	send->asking_streams--;
	for (unsigned i = 0; !send->asking_streams && i < send->stream_count; i++)
		if (send->stream[i]->pending)
			return;
	if (!send->asking_streams)
		end_round(send);
}

/* ---- the end ---- */

static void rotate_all(struct send *send)
{
	uint32_t open = 0;

	for (unsigned i = 0; i < send->stream_count; i++)
		open += send->stream[i]->at.has_handle && !send->stream[i]->closed;
	rotate_begin(send, open);
	for (unsigned i = 0; i < send->stream_count; i++)
		if (send->stream[i]->at.has_handle && !send->stream[i]->closed)
			rotate_one(send, &send->stream[i]->at, send->stream[i]->next_seq);
	rotate_begin(send, send->trace_count);
	for (unsigned i = 0; i < send->trace_count; i++)
		rotate_one(send, &send->trace[i]->at, 0);
}

static void close_all(struct send *send, uint64_t now_ns)
{
	const struct wire_close_chunk chunk = {
		.chunk = PRODUCER_CHUNK_ID,
		.closed_s = send->created_s + (now_ns - send->begun_ns) / 1000000000,
	};

	if (producer_has_chunks(&send->producer)) {
		rotate_all(send);
		producer_request(&send->producer, WIRE_CLOSE_CHUNK, WIRE_SIZE_close_chunk, NULL);
		wire_put_close_chunk(&send->producer.control, &chunk);
	}
	for (unsigned i = 0; i < send->trace_count; i++)
		close_stream(send, &send->trace[i]->at, 0);
	for (unsigned i = 0; i < send->stream_count; i++)
		if (send->stream[i]->at.has_handle && !send->stream[i]->closed)
			close_stream(send, &send->stream[i]->at, send->stream[i]->next_seq);
	send->state = SEND_CLOSING;
}

void send_leave(struct send *send, uint64_t now_ns)
{
	if (send->state == SEND_READY && send->finish &&
	    send->sent.at[SPOOL_FACTS] == spool_end(send->spool, SPOOL_FACTS) &&
	    send->sent.at[SPOOL_RUN] == spool_end(send->spool, SPOOL_RUN)) {
		send->state = SEND_ENDING;
		send->ask_at = 0;
		promise(send, UINT64_MAX);
	}
	if (send->state == SEND_ENDING && send_is_all_stored(send) && !send->asking) {
		if (!send->leave_at)
			send->leave_at =
				producer_has_chunks(&send->producer) ? now_ns : now_ns + LINGER_NS;
		if (now_ns >= send->leave_at)
			close_all(send, now_ns);
	}
	if (send->state == SEND_CLOSING && !send->producer.queue_count)
		send->state = SEND_DONE;
}
