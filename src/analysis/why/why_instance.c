/* SPDX-License-Identifier: Apache-2.0 */
/* Converts arrivals of chains and runs of callbacks into instances; see why.h. */
#include "analysis/why/why.h"

#include <stdlib.h>
#include <string.h>

int why_of_arrival(struct why_instance *out, const struct chains_path *path,
		   const struct chains_arrival *arrival)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count = chains_steps(path, step), i;

	*out = (struct why_instance){
		.begin_ns = arrival->begin_ns, .total_ns = arrival->total_ns, .hops = count,
	};
	out->hop = calloc(count ? count : 1, sizeof(*out->hop));
	if (!out->hop)
		return -1;
	for (i = 0; i < count; i++)
		out->hop[i] = (struct why_hop){
			.callback = step[i]->callback, .publisher = step[i]->publisher,
			.link = step[i]->link, .call = step[i]->call, .at = arrival->hop[i],
		};
	return 0;
}

int64_t why_run_begin(const struct why_run *run)
{
	return run->hop[run->hops - 1].at.end_ns - run->total_ns;
}

int why_of_run(struct why_instance *out, const struct why_run *run)
{
	*out = (struct why_instance){
		.begin_ns = why_run_begin(run), .total_ns = run->total_ns, .hops = run->hops,
	};
	out->hop = malloc(sizeof(run->hop));
	if (!out->hop)
		return -1;
	memcpy(out->hop, run->hop, sizeof(run->hop));
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
