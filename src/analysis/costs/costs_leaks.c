/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Blocks of memory that were allocated and not freed; see costs.h.
 *
 * The idea: the memory analysis reports each block that is allocated and each that is freed. A
 * block is kept, with the run that was open on the thread, until it is freed. What is left at the
 * end of the trace is what nobody freed.
 */
#include <stdlib.h>
#include <string.h>

#include "analysis/costs/costs_internal.h"
#include "base/order.h"

void costs_on_block(void *context, const struct memory_block *block)
{
	struct costs *costs = context;
	const struct costs_self *self = costs->present;
	const struct costs_open *open = self ? self->open : NULL;
	struct costs_leak *leak = map_del(&costs->blocks, block->address, block->process);

	if (block->is_freed || !self) {
		free(leak);
		return;
	}
	leak = leak ? leak : malloc(sizeof(*leak));
	if (!leak || map_put(&costs->blocks, block->address, block->process, leak)) {
		costs->failed = true;
		free(leak);
		return;
	}
	while (open && open->span)
		open = open->outer;
	*leak = (struct costs_leak){
		.ns = block->ns,
		.address = block->address,
		.bytes = block->bytes,
		.trace = block->trace,
		.pid = block->pid,
		.tid = block->tid,
		.run = open ? open->id : 0,
		.callback = open ? open->callback : 0,
	};
}

void costs_listen_leaks(struct costs *costs)
{
	costs->memory.block = costs_on_block;
	costs->memory.block_context = costs;
}

static int by_time(const void *a, const void *b)
{
	const struct costs_leak *x = a, *y = b;

	return ORDER(x->ns, y->ns) ?: ORDER(x->address, y->address);
}

const struct costs_leak *costs_leaks(struct costs *costs, uint64_t *count)
{
	const struct map_slot *slot;

	*count = 0;
	if (costs->leak) {
		*count = costs->leaks;
		return costs->leak;
	}
	costs->leak = calloc(costs->blocks.count + 1, sizeof(*costs->leak));
	if (!costs->leak) {
		costs->failed = true;
		return NULL;
	}
	for (size_t at = 0; (slot = map_next(&costs->blocks, &at));)
		costs->leak[costs->leaks++] = *(const struct costs_leak *)slot->value;
	qsort(costs->leak, costs->leaks, sizeof(*costs->leak), by_time);
	*count = costs->leaks;
	return costs->leak;
}

void costs_leaks_free(struct costs *costs)
{
	map_free_all(&costs->blocks);
	free(costs->leak);
}
