/* SPDX-License-Identifier: Apache-2.0 */
/* See export_caret.h. */
#include "cli/export_caret.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "export/caret.h"

/* What caret_analyze will not do with it. */
static void warn(const struct caret_exported *done)
{
	if (!done->stamps)
		fprintf(stderr, "kymo export: warning: no source timestamp of a written message is in the trace, and "
			"caret_analyze refuses traces without one (dds_bind_addr_to_stamp)\n");
	if (!done->groups)
		fprintf(stderr, "kymo export: warning: no executor and no callback group is in the trace, and caret_analyze finds "
			"no paths without; record with kymo, or with CARET's library\n");
	if (done->lost)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " events were lost while recording\n", done->lost);
}

static int write_caret(struct ctf_reader *reader, const struct export_ctf *request, const char *output, bool *lost,
		       struct err *err)
{
	char bytes[TEXT_QUANTITY_MAX], directory[CLI_PATH_MAX];
	struct caret_exported done;

	/* caret_analyze leaves a file of its own in @output, which would be taken for a stream there. */
	if (snprintf(directory, sizeof(directory), "%s/ust", output) >= (int)sizeof(directory))
		return err_set(err, EXIT_USAGE, "the path of the output is too long");
	if (mkdir(directory, 0777))
		return err_set(err, EXIT_FAILED, "cannot make the directory %s: %s", directory, strerror(errno));
	if (caret_export(reader, directory, &done, err)) {
		(void)rmdir(directory);
		return -1;
	}
	*lost = done.lost > 0;
	warn(&done);
	if (!request->quiet)
		fprintf(stderr, "%s: %" PRIu64 " events of %u process%s, %s\nnext:  ros2 caret check_ctf %s\n", output, done.events,
			done.processes, done.processes == 1 ? "" : "es", text_bytes(bytes, done.bytes), output);
	return 0;
}

int export_caret(const struct export_ctf *request, bool *lost, struct err *err)
{
	return export_ctf_as(request, "-caret", write_caret, lost, err);
}
