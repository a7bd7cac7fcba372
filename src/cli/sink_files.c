/* SPDX-License-Identifier: Apache-2.0 */
/* See sink_files.h. */
#include "cli/sink_files.h"

#define ROTATE_SIZE_MIN (64u << 10)	/* below that a chunk is little more than metadata */
#define ROTATE_TIME_MIN 100000000	/* ns */

bool sink_files_any(const struct sink_wishes *wishes)
{
	return wishes->rotate_size || wishes->rotate_time || wishes->max_size || wishes->compress;
}

int sink_files_read(const struct sink_wishes *wishes, struct sink_files *files, struct err *err)
{
	if (wishes->rotate_size && wishes->rotate_size < ROTATE_SIZE_MIN)
		return err_set(err, EXIT_USAGE, "--rotate-size is at least 64K");
	if (wishes->rotate_time < 0 || (wishes->rotate_time && wishes->rotate_time < ROTATE_TIME_MIN))
		return err_set(err, EXIT_USAGE, "--rotate-time is at least 100ms");
	if (wishes->max_size && wishes->max_size < 8 * ROTATE_SIZE_MIN)
		return err_set(err, EXIT_USAGE, "--max-size is at least 512K");
	if (wishes->max_size && wishes->rotate_size > wishes->max_size / 2)
		return err_set(err, EXIT_USAGE, "--max-size must be at least twice --rotate-size: only complete "
			       "chunks are removed");
	*files = (struct sink_files){
		.rotate_size = wishes->rotate_size,
		.rotate_ns = (uint64_t)wishes->rotate_time,
		.max_size = wishes->max_size,
		.compress = wishes->compress,
	};
	return 0;
}
