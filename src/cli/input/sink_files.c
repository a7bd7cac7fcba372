/* SPDX-License-Identifier: Apache-2.0 */
/* See sink_files.h. */
#include "cli/input/sink_files.h"

bool sink_files_any(const struct sink_wishes *wishes)
{
	return wishes->rotate_size || wishes->rotate_time || wishes->max_size || wishes->compress;
}

int sink_files_read(const struct sink_wishes *wishes, struct sink_files *files, struct kymo_err *err)
{
	static const struct sink_files_names names = { "--rotate-size", "--rotate-time", "--max-size" };

	*files = (struct sink_files){
		.rotate_size = wishes->rotate_size,
		.rotate_ns = wishes->rotate_time < 0 ? 1 : (uint64_t)wishes->rotate_time,
		.max_size = wishes->max_size,
		.compress = wishes->compress,
	};
	return sink_files_check(files, &names, err);
}
