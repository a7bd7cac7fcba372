/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Connects spans to a reader. Without this file, spans accept classes and events from any source.
 */
#include "analysis/spans/spans_internal.h"

/* Binds the rows after the model's rows. */
static int spans_pass_bind(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	struct spans *spans = analysis;

	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		if (spans_class(spans, kymo_ctf_class(reader, i)))
			return err_no_memory(err);
	if (spans->bind_count == spans->model_rows)
		return 0;
	return kymo_ctf_bind(reader, spans->bind, spans->bind_count, err);
}

static void spans_pass_rows(const void *analysis, int *first, int *end)
{
	const struct spans *spans = analysis;

	*first = (int)spans->model_rows;
	*end = (int)spans->bind_count;
}

int spans_attach(struct spans *spans, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	return model_attach(spans->model, reader, err) || spans_pass_bind(spans, reader, err) ? -1
											      : 0;
}

PASS_EVENT(spans)
PASS_FINISH(spans)
PASS_DESTROY(spans)
const struct pass_ops spans_pass = {
	.turn = PASS_SPANS,
	.bind = spans_pass_bind,
	.rows = spans_pass_rows,
	.event = spans_pass_event,
	.finish = spans_pass_finish,
	.destroy = spans_pass_destroy,
};
