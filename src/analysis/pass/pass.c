/* SPDX-License-Identifier: Apache-2.0 */
/* The runner of analyses; see pass.h. */
#include "analysis/pass/pass.h"

#include <assert.h>
#include <limits.h>

#define PROGRESS_EVENTS 65536u	/* events between two calls of progress(); a power of two */

/* The analyses that process events, ordered by turn: the inner loop reads only this. */
struct receivers {
	struct receiver {
		int (*event)(void *analysis, const struct kymo_ctf_event *event);
		void *analysis;
		int first, end; /* rows */
	} to[PASSES_MAX];
	unsigned count;
};

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
			passes->pass[passes->count].ops->destroy(passes->pass[passes->count].analysis);
	}
}

/* Rows of a later bind come after the model's rows, so bind in the reverse order of the turns. */
static int bind(const struct passes *passes, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	for (unsigned turn = PASS_TURNS; turn-- > 0;)
		for (unsigned i = 0; i < passes->count; i++) {
			const struct pass_ops *ops = passes->pass[i].ops;

			if (ops->turn == turn && ops->bind && ops->bind(passes->pass[i].analysis, reader, err))
				return -1;
		}
	return 0;
}

static struct receivers receivers(const struct passes *passes)
{
	struct receivers list = { .count = 0 };

	for (unsigned turn = 0; turn < PASS_TURNS; turn++)
		for (unsigned i = 0; i < passes->count; i++) {
			const struct pass_ops *ops = passes->pass[i].ops;

			struct receiver *to = &list.to[list.count];

			if (ops->turn != turn || !ops->event)
				continue;
			*to = (struct receiver){ ops->event, passes->pass[i].analysis, INT_MIN,
						 INT_MAX };
			if (ops->rows)
				ops->rows(to->analysis, &to->first, &to->end);
			list.count++;
		}
	return list;
}

static int read_all(const struct passes *passes, struct kymo_ctf_reader *reader, const struct pass_options *options,
		    struct kymo_err *err)
{
	const struct receivers list = receivers(passes);
	struct kymo_ctf_event event;
	uint64_t events = 0;
	int more;

	while ((more = kymo_ctf_next(reader, &event, err)) > 0) {
		for (unsigned i = 0; i < list.count; i++) {
			const struct receiver *to = &list.to[i];

			if ((event.bound < to->first || event.bound >= to->end) &&
			    event.bound != KYMO_CTF_LOSS)
				continue;
			if (to->event(to->analysis, &event))
				return err_no_memory(err);
		}
		if (options->progress && (++events & (PROGRESS_EVENTS - 1)) == 0)
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

			if (ops->turn == turn && ops->finish && ops->finish(passes->pass[i].analysis, err))
				return -1;
		}
	for (unsigned i = 0; i < passes->count; i++)
		if (passes->pass[i].ops->failed && passes->pass[i].ops->failed(passes->pass[i].analysis))
			return err_no_memory(err);
	return 0;
}

int pass_run(const struct passes *passes, struct kymo_ctf_reader *reader, const struct pass_options *options, struct kymo_err *err)
{
	static const struct pass_options none;

	if (!options)
		options = &none;
	if (bind(passes, reader, err))
		return -1;
	for (unsigned i = 0; options->has_window && i < passes->count; i++)
		if (passes->pass[i].ops->window)
			passes->pass[i].ops->window(passes->pass[i].analysis, options->begin_ns, options->end_ns);
	return read_all(passes, reader, options, err) || pass_end(passes, err) ? -1 : 0;
}
