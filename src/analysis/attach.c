/* SPDX-License-Identifier: Apache-2.0 */
/* The one place where the model touches a reader; without it, it takes events from anywhere. */
#include "analysis/model.h"

int model_attach(struct model *model, struct ctf_reader *reader, struct err *err)
{
	const struct ctf_bind *bind;
	unsigned count, i;

	for (i = 0; i < ctf_trace_count(reader); i++) {
		const struct ctf_trace_info *info = ctf_trace(reader, i);

		if (model_set_host(model, i, info->hostname, info->clock_offset_ns))
			return err_set(err, EXIT_FAILED, "There is no memory left for the analysis.");
	}
	bind = model_bind(model, &count);
	return ctf_bind(reader, bind, count, err);
}
