/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by page_instances.c and page_waits.c, which choose instances, page_instances_again.c,
 * which reads the trace again around them, and page_instances_put.c, which writes them. */
#ifndef KYMO_PAGE_INSTANCES_INTERNAL_H
#define KYMO_PAGE_INSTANCES_INTERNAL_H

#include "report/page/page_cpus.h"

struct page_candidate {
	int number; /* of its entity */
	bool is_chain;
	bool is_fired; /* it fired the trigger of the snapshot */
	/* A wait of a callback of this executor, for its time line; -1: not one of these. */
	int executor;
	int64_t excess_ns;
	struct why_instance instance;
	struct why_window window;
};

struct page_around {
	struct page *page;
	struct page_candidate candidate[PAGE_INSTANCES + PAGE_WAITS];
	unsigned count; /* instances; */
	unsigned all;   /* behind them, up to here, the waits of executors */
	struct passes passes, cpu_passes;
	struct model *model; /* the second one */
	struct why_others *others;
	struct why_cpu *cpu;    /* NULL: the trace has no kernel events */
	struct page_cpus *cpus; /* the same */
	int *executor;          /* of each thread of the second model; -1: none */
	const void *fired;      /* the path or callback whose instance fired; NULL: none is known */
};

/* page_instances_again.c */

/* Fill the second model, and what callbacks, threads and CPUs did in the windows of the candidates.
 * Return: 0, or -1 with report->err. */
int page_read_around(struct page_around *around);
/* The instance in terms of the second model. Return: false: it does not have all of it. */
bool page_move_instance(const struct page_around *around, struct why_instance *instance);

/* The thread of @model that is @thread of another one; NULL: none. */
const struct model_thread *page_thread_in(const struct model *model,
					  const struct model_thread *thread);
bool page_is_same_process(const struct model_process *a, const struct model_process *b);

/* page_waits.c */

/* Choose the waits of executors. */
void page_choose_waits(struct page_around *around);
/* After the second reading. Return: 0, or -1 with report->err. */
int page_find_executors(struct page_around *around);
/* "executors": [{entity, threads, callbacks, waits}] */
void page_put_executors(struct page_around *around);

/* page_instances_put.c: "threads", and one element of "instances" or of "waits" */
void page_put_threads(const struct page_around *around);
void page_put_instance(const struct page_around *around, struct page_candidate *c);

#endif
