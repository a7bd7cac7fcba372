/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by page_instances.c, which chooses instances, page_instances_again.c, which reads the
 * trace again around them, and page_instances_put.c, which writes them. */
#ifndef KYMO_PAGE_INSTANCES_INTERNAL_H
#define KYMO_PAGE_INSTANCES_INTERNAL_H

#include "report/page/page_cpus.h"

struct page_candidate {
	int number; /* of its entity */
	bool is_chain;
	bool is_fired; /* it fired the trigger of the snapshot */
	int64_t excess_ns;
	struct why_instance instance;
	struct why_window window;
};

struct page_around {
	struct page *page;
	struct page_candidate candidate[PAGE_INSTANCES];
	unsigned count;
	struct passes passes, cpu_passes;
	struct model *model; /* the second one */
	struct why_others *others;
	struct why_cpu *cpu;    /* NULL: the trace has no kernel events */
	struct page_cpus *cpus; /* the same */
	const void *fired;      /* the path or callback whose instance fired; NULL: none is known */
};

/* page_instances_again.c */

/* Fill the second model, and what callbacks, threads and CPUs did in the windows of the candidates.
 * Return: 0, or -1 with report->err. */
int page_read_around(struct page_around *around);
/* The instance in terms of the second model. Return: false: it does not have all of it. */
bool page_move_instance(const struct page_around *around, struct why_instance *instance);

bool page_is_same_process(const struct model_process *a, const struct model_process *b);

/* page_instances_put.c: "threads", and one element of "instances" */
void page_put_threads(const struct page_around *around);
void page_put_instance(const struct page_around *around, struct page_candidate *c);

#endif
