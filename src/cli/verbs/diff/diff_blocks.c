/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/diff/diff_blocks.h"

#include "cli/input/input_traces.h"
#include "summary/summary_file.h"
#include "summary/summary_windows.h"

static int take(void *context, const struct summary *summary, int64_t begin_ns,
		struct kymo_err *err)
{
	struct blocks *blocks = context;
	struct summary *copy;

	(void)begin_ns;
	if (blocks->count == BLOCKS_MAX)
		return 0;
	copy = summary_folded(summary);
	if (!copy)
		return err_no_memory(err);
	blocks->block[blocks->count++] = copy;
	return 0;
}

static int read_events(struct blocks *blocks, struct kymo_ctf_reader *reader, int64_t length_ns,
		       struct kymo_err *err)
{
	const struct summary_windows_options options = { .length_ns = length_ns,
							 .take = take,
							 .context = blocks };
	struct summary_windows *windows = NULL;
	int status = summary_windows_create(&windows, reader, &options, err);

	if (!status)
		status = summary_windows_read(windows, NULL, NULL, err);
	summary_windows_free(windows);
	return status;
}

int diff_blocks_read(struct blocks *blocks, const struct summary *run, const char *verb,
		     const char *path, struct kymo_err *err)
{
	const int64_t length_ns = (run->end_ns - run->begin_ns) / BLOCKS_USUAL;
	struct kymo_ctf_reader *reader;
	struct cli_traces traces;
	struct align *align;
	int status;

	*blocks = (struct blocks){ 0 };
	if (summary_is_file(path) || length_ns <= 0)
		return 0;
	cli_traces_one(&traces, path);
	if (cli_traces_open(&traces, verb, &reader, &align, err))
		return -1;
	status = read_events(blocks, reader,
			     length_ns > SUMMARY_WINDOWS_LEAST_NS ? length_ns
								  : SUMMARY_WINDOWS_LEAST_NS,
			     err);
	align_destroy(align);
	kymo_ctf_close(reader);
	return status;
}

void diff_blocks_free(struct blocks *blocks)
{
	for (unsigned i = 0; i < blocks->count; i++)
		summary_free((struct summary *)blocks->block[i]);
	*blocks = (struct blocks){ 0 };
}
