/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of analyses; see pass.h. */
#include "analysis/pass/pass.h"

#include <assert.h>
#include <limits.h>

#define PROGRESS_EVENTS 65536u	/* events between two calls of progress(); a power of two */

#define ROWS_MAX 1024 /* rows that have an entry of their own in struct receivers */

/*
 * The analyses that process events, ordered by turn: the inner loop reads only this. Bit i of a
 * mask is to[i]; the mask of a row has the analyses that want its events.
 */
struct receivers {
	struct receiver {
		int (*event)(void *analysis, const struct kymo_ctf_event *event);
		void *analysis;
		int first, end; /* rows */
	} to[PASSES_MAX];
	unsigned count;
	uint32_t everyone;
	uint32_t of_row[ROWS_MAX];
};
_Static_assert(PASSES_MAX <= 32, "a mask has a bit for each analysis");

void pass_add(struct passes *passes, const struct pass_ops *ops, void *analysis)
{
	assert(passes->count < PASSES_MAX);
	passes->pass[passes->count].ops = ops;
	passes->pass[passes->count++].analysis = analysis;
}

void passes_free(struct passes *passes)
{
	while (passes->count) {
		passes->count--;
		if (passes->pass[passes->count].ops->destroy)
			passes->pass[passes->count].ops->destroy(
				passes->pass[passes->count].analysis);
	}
}

/* Rows of a later bind come after the model's rows, so bind in the reverse order of the turns. */
static int bind(const struct passes *passes, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	for (unsigned turn = PASS_TURNS; turn-- > 0;)
		for (unsigned i = 0; i < passes->count; i++) {
			const struct pass_ops *ops = passes->pass[i].ops;

			if (ops->turn == turn && ops->bind &&
			    ops->bind(passes->pass[i].analysis, reader, err))
				return -1;
		}
	return 0;
}

/* The analyses that want the events of row @bound. */
static uint32_t wanted_by(const struct receivers *list, int bound)
{
	uint32_t mask = 0;

	for (unsigned i = 0; i < list->count; i++)
		if (bound >= list->to[i].first && bound < list->to[i].end)
			mask |= 1u << i;
	return mask;
}

static void receivers_find(struct receivers *list, const struct passes *passes)
{
	*list = (struct receivers){ 0 };
	for (unsigned turn = 0; turn < PASS_TURNS; turn++)
		for (unsigned i = 0; i < passes->count; i++) {
			const struct pass_ops *ops = passes->pass[i].ops;

			struct receiver *to = &list->to[list->count];

			if (ops->turn != turn || !ops->event)
				continue;
			*to = (struct receiver){ ops->event, passes->pass[i].analysis, INT_MIN,
						 INT_MAX };
			if (ops->rows)
				ops->rows(to->analysis, &to->first, &to->end);
			list->everyone |= 1u << list->count++;
		}
	for (int row = 0; row < ROWS_MAX; row++)
		list->of_row[row] = wanted_by(list, row);
}

static inline uint32_t receivers_of(const struct receivers *list, int bound)
{
	if (__builtin_expect((unsigned)bound < ROWS_MAX, 1))
		return list->of_row[bound];
	return bound == KYMO_CTF_LOSS ? list->everyone : wanted_by(list, bound);
}

static int read_all(const struct passes *passes, struct kymo_ctf_reader *reader,
		    const struct pass_options *options, struct kymo_err *err)
{
	struct receivers list;
	struct kymo_ctf_event event;
	uint64_t events = 0;
	int more;

	receivers_find(&list, passes);
	while ((more = kymo_ctf_next(reader, &event, err)) > 0) {
		for (uint32_t to_do = receivers_of(&list, event.bound); to_do; to_do &= to_do - 1) {
			const struct receiver *to = &list.to[__builtin_ctz(to_do)];

			if (to->event(to->analysis, &event))
				return err_no_memory(err);
		}
		if ((++events & (PROGRESS_EVENTS - 1)) == 0 && options->progress)
			options->progress(options->context, events, event.clock_ns);
	}
	if (options->progress)
		options->progress(options->context, 0, 0);
	return more;
}

int pass_end(const struct passes *passes, struct kymo_err *err)
{
	for (unsigned turn = 0; turn < PASS_TURNS; turn++)
		for (unsigned i = 0; i < passes->count; i++) {
			const struct pass_ops *ops = passes->pass[i].ops;

			if (ops->turn == turn && ops->finish &&
			    ops->finish(passes->pass[i].analysis, err))
				return -1;
		}
	for (unsigned i = 0; i < passes->count; i++)
		if (passes->pass[i].ops->failed &&
		    passes->pass[i].ops->failed(passes->pass[i].analysis))
			return err_no_memory(err);
	return 0;
}

int pass_run(const struct passes *passes, struct kymo_ctf_reader *reader,
	     const struct pass_options *options, struct kymo_err *err)
{
	static const struct pass_options none;

	if (!options)
		options = &none;
	if (bind(passes, reader, err))
		return -1;
	for (unsigned i = 0; options->has_window && i < passes->count; i++)
		if (passes->pass[i].ops->window)
			passes->pass[i].ops->window(passes->pass[i].analysis, options->begin_ns,
						    options->end_ns);
	return read_all(passes, reader, options, err) || pass_end(passes, err) ? -1 : 0;
}
