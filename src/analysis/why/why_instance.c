/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arrivals of chains and runs of callbacks into instances; see why.h. */
#include "analysis/why/why.h"

#include <stdlib.h>
#include <string.h>

/* Room for @count hops and, in the same block, the awaits that they have. */
static struct why_hop *hops_new(unsigned count, unsigned awaits)
{
	return calloc(1,
		      (count + 1) * sizeof(struct why_hop) + awaits * sizeof(struct model_await));
}

/* @to is @from; its awaits are copied to *@await. */
static void hop_copy(struct why_hop *to, const struct why_hop *from, struct model_await **await)
{
	*to = *from;
	if (!from->at.awaits)
		return;
	memcpy(*await, from->at.await, from->at.awaits * sizeof(**await));
	to->at.await = *await;
	*await += from->at.awaits;
}

int why_of_arrival(struct why_instance *out, const struct chains_path *path,
		   const struct chains_arrival *arrival)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), awaits = 0, i;
	struct model_await *await;

	*out = (struct why_instance){
		.begin_ns = arrival->begin_ns, .total_ns = arrival->total_ns, .hops = count,
	};
	for (i = 0; i < count; i++)
		awaits += arrival->hop[i].awaits;
	out->hop = hops_new(count, awaits);
	if (!out->hop)
		return -1;
	await = (struct model_await *)(out->hop + count + 1);
	for (i = 0; i < count; i++) {
		const struct why_hop hop = {
			.callback = step[i]->callback,
			.publisher = step[i]->publisher,
			.link = step[i]->link,
			.call = step[i]->call,
			.at = arrival->hop[i],
		};

		hop_copy(&out->hop[i], &hop, &await);
	}
	return 0;
}

int64_t why_run_begin(const struct why_run *run)
{
	return run->hop[run->hops - 1].at.end_ns - run->total_ns;
}

int why_of_run(struct why_instance *out, const struct why_run *run)
{
	struct model_await *await;
	unsigned awaits = 0;

	*out = (struct why_instance){
		.begin_ns = why_run_begin(run), .total_ns = run->total_ns, .hops = run->hops,
	};
	for (unsigned i = 0; i < run->hops; i++)
		awaits += run->hop[i].at.awaits;
	out->hop = hops_new(run->hops, awaits);
	if (!out->hop)
		return -1;
	await = (struct model_await *)(out->hop + run->hops + 1);
	for (unsigned i = 0; i < run->hops; i++)
		hop_copy(&out->hop[i], &run->hop[i], &await);
	return 0;
}

static const struct model_process *process_of(const struct why_hop *hop)
{
	return hop->callback ? hop->callback->process : hop->publisher->process;
}

int64_t why_part_error(const struct why_instance *instance, const struct why_part *part)
{
	const struct why_hop *to = &instance->hop[part->hop], *from = to - 1;
	int64_t sent_ns;

	if (!part->hop || !to->callback || !from->publisher || part->kind == WHY_PUBLISH)
		return 0;
	/* Each piece of these is within one host: see enum model_dds_part. */
	if (part->kind == WHY_DDS || part->kind == WHY_CACHE)
		return 0;
	sent_ns = to->at.send_ns ? to->at.send_ns : from->at.publish_ns;
	/*
	 * Only a part that begins when the other host sent the message compares two clocks. All
	 * other times are of the receiving host's clock.
	 */
	if (part->kind != WHY_TRANSPORT && part->kind != WHY_NETWORK && part->begin_ns != sent_ns)
		return 0;
	return model_clock_error(process_of(from), process_of(to), to->at.take_ns);
}

int64_t why_total_error(const struct why_instance *instance)
{
	return instance->hops ? model_clock_error(process_of(instance->hop),
						  process_of(&instance->hop[instance->hops - 1]),
						  instance->begin_ns)
			      : 0;
}

void why_free(struct why_instance *instance)
{
	free(instance->hop);
	*instance = (struct why_instance){ .total_ns = -1 };
}
