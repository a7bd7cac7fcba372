/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/trace/sink_files.h"

#define ROTATE_SIZE_MIN (64u << 10)	/* below that a chunk is little more than metadata */
#define ROTATE_NS_MIN 100000000u

int sink_files_check(const struct sink_files *files, const struct sink_files_names *names,
		     struct kymo_err *err)
{
	if (files->rotate_size && files->rotate_size < ROTATE_SIZE_MIN)
		return err_set(err, KYMO_EXIT_USAGE, "%s must be at least 64K", names->rotate_size);
	if (files->rotate_ns && files->rotate_ns < ROTATE_NS_MIN)
		return err_set(err, KYMO_EXIT_USAGE, "%s must be at least 100ms", names->rotate_ns);
	if (files->max_size && files->max_size < SINK_FILES_CHUNKS * ROTATE_SIZE_MIN)
		return err_set(err, KYMO_EXIT_USAGE, "%s must be at least 512K", names->max_size);
	if (files->max_size && files->rotate_size > files->max_size / 2)
		return err_set(err, KYMO_EXIT_USAGE, "%s must be at least twice %s: only complete chunks are removed",
			       names->max_size, names->rotate_size);
	return 0;
}

bool sink_files_have_chunks(const struct sink_files *files)
{
	return files->rotate_size || files->rotate_ns || files->max_size;
}
