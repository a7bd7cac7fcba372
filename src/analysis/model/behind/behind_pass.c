/* SPDX-License-Identifier: Apache-2.0 */
/* A second thread for the listeners of a pass over a trace; see behind.h. */
#include <stdlib.h>

#include "analysis/model/behind/behind.h"
#include "analysis/model/model_internal.h"
#include "base/thread.h"

/* Smaller traces are read before a thread has started. */
#define WORTH_BYTES ((uint64_t)16 << 20)

struct in_pass {
	struct behind *behind;
	const struct model *model;
};

static bool is_worth_it(const struct kymo_ctf_reader *reader)
{
	uint64_t bytes = 0;

	for (unsigned i = 0; i < kymo_ctf_stream_count(reader); i++)
		bytes += kymo_ctf_stream(reader, i)->bytes;
	return bytes >= WORTH_BYTES && thread_cpus() > 1;
}

static int on_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct in_pass *in = analysis;

	(void)err;
	if (is_worth_it(reader))
		behind_start(in->behind);
	return 0;
}

/* Rows of other analyses come after the model's. */
static void on_rows(const void *analysis, int *first, int *end)
{
	const struct in_pass *in = analysis;

	*first = (int)in->model->bind_count;
	*end = INT32_MAX;
}

static int on_event(void *analysis, const struct kymo_ctf_event *event)
{
	const struct in_pass *in = analysis;

	if (event->bound == KYMO_CTF_LOSS)
		model_settle(in->model);
	else
		behind_stop(in->behind);
	return 0;
}

static int on_finish(void *analysis, struct kymo_err *err)
{
	const struct in_pass *in = analysis;

	(void)err;
	behind_stop(in->behind);
	return 0;
}

static void on_destroy(void *analysis)
{
	struct in_pass *in = analysis;

	behind_destroy(in->behind);
	free(in);
}

static const struct pass_ops ops = {
	.turn = PASS_FIRST,
	.bind = on_bind,
	.rows = on_rows,
	.event = on_event,
	.finish = on_finish,
	.destroy = on_destroy,
};

int behind_add(struct model *model, struct passes *passes, struct kymo_err *err)
{
	struct in_pass *in = malloc(sizeof(*in));

	if (!in)
		return err_no_memory(err);
	in->model = model;
	if (behind_create(&in->behind, model, err)) {
		free(in);
		return -1;
	}
	pass_add(passes, &ops, in);
	return 0;
}
