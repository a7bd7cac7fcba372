/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Runs in blocks for an oracle. Each case of standard input is, for the base run and then for the
 * new one: how many blocks, and for each block how many durations and these. A line of output for
 * each metric has its name, its quantile's or rate's estimate, low, high, and whether it is
 * suspect; an empty line ends a case.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "compare/blocks.h"

static void add(struct summary *summary, uint64_t ns)
{
	struct summary_entity *entity = summary_entity(summary, SUMMARY_CALLBACK, "/a /b", "/a");

	if (!entity || histogram_add(&entity->histogram[SUMMARY_DURATION], ns))
		exit(1);
	entity->count[SUMMARY_RUNS]++;
}

/* Return: NULL: there is no run. */
static struct summary *read_run(struct blocks *blocks)
{
	struct summary *run;
	unsigned count;
	uint64_t ns;

	if (scanf("%u", &blocks->count) != 1 || blocks->count > BLOCKS_MAX)
		return NULL;
	run = summary_new();
	for (unsigned b = 0; b < blocks->count; b++) {
		blocks->block[b] = summary_new();
		if (scanf("%u", &count) != 1)
			exit(1);
		for (; count; count--) {
			if (scanf("%" SCNu64, &ns) != 1)
				exit(1);
			add((struct summary *)blocks->block[b], ns);
			add(run, ns);
		}
	}
	run->begin_ns = 1;
	run->end_ns = 1 + 1000000000ll * blocks->count;
	return run;
}

static void free_run(struct summary *run, struct blocks *blocks)
{
	for (unsigned b = 0; b < blocks->count; b++)
		summary_free((struct summary *)blocks->block[b]);
	summary_free(run);
}

static void judge(const struct summary *base, const struct summary *new,
		  const struct blocks *blocks)
{
	const struct compare_options options = { .design = { .bases = 1, .news = 1 } };
	struct comparison comparison;
	struct kymo_err err = { 0 };

	if (compare(&comparison, &base, &new, &options, &err) ||
	    blocks_judge(&comparison, &options, &blocks[0], &blocks[1], &err))
		exit(1);
	for (unsigned i = 0; i < comparison.rows; i++) {
		const struct compare_row *row = &comparison.row[i];

		printf("%s,%.17g,%.17g,%.17g,%d\n", row->metric, row->change.estimate,
		       row->change.low, row->change.high, row->verdict.is_suspect);
	}
	printf("\n");
	compare_free(&comparison);
}

int main(void)
{
	struct blocks blocks[2];
	struct summary *base, *new;

	while ((base = read_run(&blocks[0])) && (new = read_run(&blocks[1]))) {
		judge(base, new, blocks);
		free_run(base, &blocks[0]);
		free_run(new, &blocks[1]);
	}
	return 0;
}
