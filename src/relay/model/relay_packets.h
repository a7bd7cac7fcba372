/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Packets of a stream, as they arrive: their halves are joined, datagrams are put in order, and
 * synchronisation points say up to when nothing more comes. relay_model.h has the drawing.
 *
 * Context of all functions: the loop's thread.
 */
#ifndef KYMO_RELAY_PACKETS_H
#define KYMO_RELAY_PACKETS_H

#include "relay/model/relay_model.h"

/* ---- join.c: the halves of packets ---- */

/** relay_index() - an index, or a beacon. Return: -1: out of memory. */
int relay_index(struct relay_stream *stream, const struct wire_index_2_4 *index,
		const struct wire_index_2_8 *more, const struct wire_index_counts *counts);
int relay_join_data(struct relay_stream *stream, uint64_t seq, uint64_t offset, uint32_t size,
		    uint32_t padding);

/** relay_index_rest() - no index comes any more: packets that have none get what their heads
 * say. */
void relay_index_rest(struct relay_stream *stream);

/** relay_give_up() - give up halves that arrived at @before_ns or earlier. */
void relay_give_up(struct relay_stream *stream, int64_t before_ns);

/** relay_expire() - give up halves that are older than half_expires_ns. Call it every second. */
void relay_expire(struct relay *relay);

/**
 * relay_is_late() - whether an index arrived at poll @poll or before and its bytes did not
 * @end: the sequence number behind the last such packet
 */
bool relay_is_late(const struct relay_stream *stream, uint64_t poll, uint64_t *end);

/** relay_lose_before() - count packets before @seq as lost if only their index arrived. */
void relay_lose_before(struct relay_stream *stream, uint64_t seq);

/** relay_packet() - the published packet @number. Return: NULL: its file was deleted. */
const struct relay_part *relay_packet(const struct relay_stream *stream, uint64_t number);

/** relay_first() - number of the first packet whose file exists. */
uint64_t relay_first(const struct relay_stream *stream);

/** relay_drop_parts() - the packets in the directory or file @path are deleted. */
void relay_drop_parts(struct relay_stream *stream, const char *path);

/* ---- datagram_join.c ---- */

/** relay_begin_datagrams() - give the session a cookie. Return: -1: no random numbers. */
int relay_begin_datagrams(struct relay_session *session);

/** relay_datagram() - a datagram arrived. Return: -1: dropped: invalid, wrong cookie, a duplicate,
 * or too late. */
int relay_datagram(struct relay *relay, const uint8_t *bytes, size_t size);

/** relay_expire_datagrams() - write packets that wait for a lost one. Call it every tenth of a
 * second. */
void relay_expire_datagrams(struct relay *relay);

/** relay_end_datagrams() - no more will come: write the complete packets. */
void relay_end_datagrams(struct relay_stream *stream);
void relay_free_datagrams(struct relay_stream *stream);

/** relay_is_skipped() - whether packet @seq was given up: its bytes are of no use. */
bool relay_is_skipped(const struct relay_stream *stream, uint64_t seq);

/* ---- sync.c ---- */

/** relay_step() - an index arrived. Return: -1: out of memory. */
int relay_step(struct relay_stream *stream, uint64_t seq, uint64_t time);

/** relay_step_done() - its packet is readable, or lost. */
void relay_step_done(struct relay_stream *stream, uint64_t seq);

/** relay_beacon() - no event before @time will come in @stream. Return: -1: out of memory. */
int relay_beacon(struct relay_stream *stream, uint64_t time);

/** relay_horizon() - the recorder says: no event before @time will come, in no stream, known or
 * not. */
void relay_horizon(struct relay_session *session, uint64_t time);

/** relay_sync_add() - @stream is new: open the file for its trace's points. */
void relay_sync_add(struct relay_stream *stream);

/** relay_sync_rotate() - the trace continues in @chunk; NULL: in none. */
void relay_sync_rotate(struct relay_trace *trace, const struct relay_chunk *chunk);

/** relay_sync_close() - the stream is closed. */
void relay_sync_close(struct relay_stream *stream);

/**
 * relay_synchronise() - write a synchronisation point for each session that has moved
 *
 * Call it every tenth of a second. It serves sessions with silent streams; when all streams have
 * moved, the point is written at once.
 */
void relay_synchronise(struct relay *relay);

#endif
