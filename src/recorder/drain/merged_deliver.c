/* SPDX-License-Identifier: Apache-2.0 */
/* A merged drain, last step: a batch goes to the sinks, and the rings advance by its parts. */
#include "recorder/drain/merged_internal.h"
#include "recorder/drain/promise.h"
#include "recorder/drain/sink_deliver.h"
#include "recorder/records/record_walk.h"

/* @told: the packet reports what the rings dropped, too. */
static void promise_parts(const struct merged *m, struct drained_process *process, unsigned count,
			  bool told)
{
	for (unsigned i = 0; i < count; i++) {
		const struct ring *ring = &process->ring[m->part[i].ring];

		promise_enter(process, ring, m->step[i].to,
			      told ? m->dropped[i] : ring_shared(process, ring)->told,
			      m->step[i].records);
	}
}

static int give_to_sinks(struct merged *m, struct drained_process *process, struct drain *drain,
			 const struct merge_out *out, unsigned *taken)
{
	struct sink_batch batch = {
		.part = m->part,
		.dropped = m->dropped,
		.count = m->parts,
		.cpu = m->part[0].cpu,
		.records = out->records,
		.bytes = m->buffer,
		.size = (size_t)(out->at - m->buffer),
	};
	int rc;

	batch.begin = walk_time(m->buffer);
	for (unsigned i = 0; i < m->parts; i++) {
		if (m->part[i].records && m->part[i].end > batch.end)
			batch.end = m->part[i].end;
		m->part[i].account = process->thread ? &process->thread[m->part[i].thread] : NULL;
	}
	promise_parts(m, process, m->parts, true);
	rc = sinks_batch(drain, process, &batch, taken);
	if (*taken < m->parts) /* only sinks in memory take some parts of a batch */
		promise_parts(m, process, *taken, true);
	if (*taken)
		process->merged_end = batch.end;
	return rc;
}

static void advance(struct merged *m, struct drained_process *process, unsigned index)
{
	const struct sink_packet *part = &m->part[index];
	const struct step *step = &m->step[index];
	struct ring *ring = &process->ring[part->ring];

	promise_move(process, ring);
	if (part->records)
		slice_account(process, ring, part);
	process->filtered += step->left_out;
	if (process->thread)
		process->thread[part->thread].filtered += step->left_out;
	ring_advance(process, ring, step->to, step->block_records);
}

int merged_hand_over(struct merged *m, struct drained_process *process, struct drain *drain,
		     const struct merge_out *out)
{
	unsigned taken = m->parts;
	int rc = 0;

	if (out->records)
		rc = give_to_sinks(m, process, drain, out, &taken);
	else
		promise_parts(m, process, m->parts, false);
	if (taken)
		promise_keep(process);
	for (unsigned i = 0; i < taken; i++)
		advance(m, process, i);
	promise_end(process);
	for (unsigned i = 0; i < m->count; i++) {
		struct merged_cursor *cursor = &m->cursor[i];
		struct ring *ring = &process->ring[cursor->ring];

		cursor->records = 0;
		if (rc == 0)
			cursor->left_out_message = ring->left_out_message;
		else /* the filter judges the records once more */
			ring->left_out_message = cursor->left_out_message;
	}
	m->parts = 0;
	return rc;
}
