/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The events on the tracks of a Perfetto trace.
 *
 * The events of a track form one packet sequence. Its start packet makes the reader forget the
 * sequence so far, sets the delta clock 64 to the time of the next event, and makes the track the
 * default:
 *
 *   sequence n | flags 1 | first 1 | snapshot { 3: t, 64: t incremental } | defaults { clock 64, track }
 *
 * Events after it name no clock, no absolute time and no track, so a reader without the start
 * packet must leave them out. In a deflated file they say so: flags 2. Otherwise they have no
 * flags, which saves two bytes each, and a sequence must not be read before its start packet.
 * pft_part.c explains where start packets are written.
 */
#include "export/pft/pft_internal.h"

#include <inttypes.h>
#include <math.h>

#include "base/text.h"

enum { TYPE_BEGIN = 1, TYPE_END = 2, TYPE_INSTANT = 3, TYPE_COUNTER = 4 };

/* @what: F_FIRST_ON_SEQUENCE, F_PREVIOUS_DROPPED; 0: the sequence goes on, for a reader that begins
 * here. */
static void sequence_start(struct pft_track *track, int64_t ns, uint32_t what)
{
	struct pft *pft = track->pft;
	struct pb *pb = &pft->block;
	size_t begin;

	pft_describe_again(track);
	pft_intern_reset(track);
	/* The clock of a sequence must not go back, although its events may. */
	if (ns < track->start_ns)
		ns = track->start_ns;
	track->start_ns = ns;
	track->started = true;
	track->generation = pft->generation;
	track->last_ns = ns;
	pft_packet_begin(pft);
	begin = pb->size;
	pb_raw(pb, track->prefix, track->start_prefix_size);
	pb_uint(pb, F_SEQUENCE_FLAGS, PFT_STARTS);
	if (what)
		pb_uint(pb, what, 1);
	pb_open(pb, F_CLOCK_SNAPSHOT);
	pft_clock(pb, PFT_CLOCK_MONOTONIC, ns, false);
	pft_clock(pb, PFT_CLOCK_DELTA, ns, true);
	pb_close(pb);
	pb_open(pb, F_DEFAULTS);
	pb_uint(pb, 58, PFT_CLOCK_DELTA);
	pb_open(pb, F_TRACK_EVENT);
	pb_uint(pb, 11, track->uuid);
	pb_close(pb);
	pb_close(pb);
	pft->said += pb->size - begin;
	pft_packet_end(pft);
}

static void put_arg(struct pft_track *track, const struct pft_arg *arg)
{
	struct pb *pb = &track->pft->block;

	if (!arg->name || (arg->kind == PFT_TEXT && !arg->text))
		return;
	pb_open(pb, 4);
	pb_uint(pb, 1, pft_intern(track, PFT_ARG_NAME, arg->name));
	switch (arg->kind) {
	case PFT_BOOL:
		pb_uint(pb, 2, !!arg->u);
		break;
	case PFT_INT:
		pb_uint(pb, 4, (uint64_t)arg->i);
		break;
	case PFT_UINT:
		pb_uint(pb, 3, arg->u);
		break;
	case PFT_DOUBLE:
		pb_double(pb, 5, arg->f);
		break;
	case PFT_POINTER:
		pb_uint(pb, 7, arg->u);
		break;
	case PFT_TEXT:
		pb_uint(pb, 17, pft_intern(track, PFT_ARG_TEXT, arg->text));
		break;
	}
	pb_close(pb);
}

/* The event's own message. The few most frequent fields first; the order is free. */
static void put_event(struct pft_track *track, unsigned type, const struct pft_event *event)
{
	struct pb *pb = &track->pft->block;

	pb_open(pb, F_TRACK_EVENT);
	pb_uint(pb, 9, type);
	if (event) {
		if (event->name)
			pb_uint(pb, 10, pft_intern(track, PFT_NAME, event->name));
		if (event->category)
			pb_uint(pb, 3, pft_intern(track, PFT_CATEGORY, event->category));
		for (unsigned i = 0; i < event->args; i++)
			put_arg(track, &event->arg[i]);
		for (unsigned i = 0; i < event->flows; i++)
			pb_fixed64(pb, 47, event->flow[i]);
		for (unsigned i = 0; i < event->end_flows; i++)
			pb_fixed64(pb, 48, event->end_flow[i]);
		if (event->correlation)
			pb_uint(pb, 52, event->correlation);
	}
	pb_close(pb);
}

static void packet_begin(struct pft_track *track, int64_t ns)
{
	struct pb *pb = &track->pft->block;

	/* A start packet may fill the block and so begin a new generation: then another one is
	 * needed. */
	while (!track->started || track->generation != track->pft->generation)
		sequence_start(track, ns, track->started ? 0 : F_FIRST_ON_SEQUENCE);
	pft_packet_begin(track->pft);
	pb_uint(pb, F_TIMESTAMP, (uint64_t)ns - (uint64_t)track->last_ns);
	pb_raw(pb, track->prefix, track->prefix_size);
	track->last_ns = ns;
}

static void put(struct pft_track *track, int64_t ns, unsigned type, const struct pft_event *event)
{
	static const char *const phase[] = { [TYPE_BEGIN] = "B", [TYPE_END] = "E", [TYPE_INSTANT] = "i" };
	struct pft *pft = track->pft;
	struct pb *pb = &pft->block;

	if (pft->json) {
		/* A flow needs an event with a duration, which may be 0. */
		bool is_instant = type == TYPE_INSTANT && (event->flows || event->end_flows);

		pft_chrome_event(track, is_instant ? "X" : phase[type], ns, 0, event);
		return;
	}
	packet_begin(track, ns);
	put_event(track, type, event);
	if (pft->fresh.size) {
		pb_bytes(pb, F_INTERNED, pft->fresh.data, pft->fresh.size);
		pft->said += pft->fresh.size;
		pft->fresh.size = 0;
	}
	pft_packet_end(pft);
}

void pft_put_begin(struct pft_track *track, int64_t ns, const struct pft_event *event)
{
	put(track, ns, TYPE_BEGIN, event);
}

void pft_put_end(struct pft_track *track, int64_t ns)
{
	put(track, ns, TYPE_END, NULL);
}

void pft_begin(struct pft_track *track, int64_t ns, const struct pft_event *event)
{
	struct pft_open *open;

	if (!track)
		return;
	open = pft_open_slice(track);
	if (!open)
		return;
	*open = (struct pft_open){ event->name, event->category };
	put(track, ns, TYPE_BEGIN, event);
	track->depth++;
	track->pft->totals.slices++;
}

void pft_end(struct pft_track *track, int64_t ns)
{
	pft_end_with(track, ns, NULL);
}

void pft_end_with(struct pft_track *track, int64_t ns, const struct pft_event *event)
{
	if (!track)
		return;
	if (!track->depth) {
		track->pft->totals.orphan_ends++;
		return;
	}
	put(track, ns, TYPE_END, event);
	track->depth--;
}

void pft_slice(struct pft_track *track, int64_t begin_ns, int64_t end_ns,
	       const struct pft_event *event)
{
	if (!track)
		return;
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	track->pft->totals.slices++;
	if (track->pft->json) {
		pft_chrome_event(track, "X", begin_ns, end_ns - begin_ns, event);
		return;
	}
	put(track, begin_ns, TYPE_BEGIN, event);
	put(track, end_ns, TYPE_END, NULL);
}

void pft_instant(struct pft_track *track, int64_t ns, const struct pft_event *event)
{
	if (!track)
		return;
	put(track, ns, TYPE_INSTANT, event);
	track->pft->totals.instants++;
}

static void counter_begin(struct pft_track *track, int64_t ns)
{
	packet_begin(track, ns);
	pb_open(&track->pft->block, F_TRACK_EVENT);
	pb_uint(&track->pft->block, 9, TYPE_COUNTER);
	track->pft->totals.counters++;
}

static void counter_end(struct pft_track *track)
{
	pb_close(&track->pft->block);
	pft_packet_end(track->pft);
}

void pft_counter_i64(struct pft_track *track, int64_t ns, int64_t value)
{
	char text[TEXT_QUANTITY_MAX];

	if (!track)
		return;
	if (track->pft->json) {
		snprintf(text, sizeof(text), "%" PRId64, value);
		pft_chrome_counter(track, ns, text);
		return;
	}
	counter_begin(track, ns);
	pb_uint(&track->pft->block, 30, (uint64_t)value);
	counter_end(track);
}

void pft_counter_f64(struct pft_track *track, int64_t ns, double value)
{
	char text[TEXT_QUANTITY_MAX];

	if (!track)
		return;
	if (track->pft->json) {
		if (isfinite(value))
			pft_chrome_counter(track, ns, text_f64_exact(text, value));
		return;
	}
	counter_begin(track, ns);
	pb_double(&track->pft->block, 44, value);
	counter_end(track);
}

void pft_loss(struct pft_track *track, int64_t begin_ns, int64_t end_ns, uint64_t lost,
	      uint64_t lost_packets)
{
	struct pft *pft;
	struct pft_arg arg[3];
	struct pft_event event = { .arg = arg };

	if (!track)
		return;
	pft = track->pft;
	if (!pft->json && track->started && begin_ns < track->last_ns)
		begin_ns = track->last_ns;	/* open slices were still open then */
	if (end_ns < begin_ns)
		end_ns = begin_ns;
	while (track->depth)
		pft_end(track, begin_ns);
	if (!pft->json) {
		/* The sequence starts here also for a reader of the rest of a file, which has seen
		 * nothing of the track. */
		pft_describe_anew(track);
		sequence_start(track, end_ns, F_PREVIOUS_DROPPED);
	}
	arg[event.args++] =
		(struct pft_arg){ pft->text_lost_events, PFT_INT, { .i = (int64_t)lost } };
	if (lost_packets)
		arg[event.args++] = (struct pft_arg){ pft->text_lost_packets, PFT_INT,
						      { .i = (int64_t)lost_packets } };
	arg[event.args++] = (struct pft_arg){
		pft->text_gap, PFT_INT, { .i = (int64_t)((uint64_t)end_ns - (uint64_t)begin_ns) }
	};
	event.name = pft->text_lost;
	pft_instant(track, end_ns, &event);
}
