/* SPDX-License-Identifier: Apache-2.0 */
/* Where spans meet a reader; without it, they take classes and events from anywhere. */
#include "analysis/spans/spans_internal.h"

int spans_attach(struct spans *spans, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	if (model_attach(spans->model, reader, err))
		return -1;
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		if (spans_class(spans, kymo_ctf_class(reader, i)))
			return err_no_memory(err);
	if (spans->bind_count == spans->model_rows)
		return 0;
	return kymo_ctf_bind(reader, spans->bind, spans->bind_count, err);
}
