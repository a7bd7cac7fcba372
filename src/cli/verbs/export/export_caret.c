/* SPDX-License-Identifier: Apache-2.0 */
/* See export_caret.h. */
#include "cli/verbs/export/export_caret.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "cli/common.h"
#include "caret/export/caret_export.h"

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

static int write_caret(struct kymo_ctf_reader *reader, const struct export_ctf *request, const char *output, bool *lost,
		       struct kymo_err *err)
{
	char bytes[TEXT_QUANTITY_MAX], directory[CLI_PATH_MAX];
	struct caret_exported done;

	/* caret_analyze leaves a file of its own in @output, which would be taken for a stream there. */
	if (snprintf(directory, sizeof(directory), "%s/ust", output) >= (int)sizeof(directory))
		return err_set(err, KYMO_EXIT_USAGE, "the path of the output is too long");
	if (mkdir(directory, 0777))
		return err_set(err, KYMO_EXIT_FAILED, "cannot make the directory %s: %s", directory, strerror(errno));
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

int export_caret(const struct export_ctf *request, bool *lost, struct kymo_err *err)
{
	return export_ctf_as(request, "-caret", write_caret, lost, err);
}

/* ---- several hosts ---- */

/* "DIR/HOST", or "DIR/HOST-2" when that is there. */
static int place(char path[CLI_PATH_MAX], const char *directory, const char *host, struct kymo_err *err)
{
	char name[128];
	struct stat status;

	(void)snprintf(name, sizeof(name), "%s", *host ? host : "host");
	for (char *at = name; *at; at++)
		if (*at == '/' || (at == name && *at == '.'))
			*at = '_';
	for (unsigned number = 1; number < 1000; number++) {
		char more[16] = "";

		if (number > 1)
			(void)snprintf(more, sizeof(more), "-%u", number);
		if (snprintf(path, CLI_PATH_MAX, "%s/%s%s", directory, name, more) >= CLI_PATH_MAX)
			break;
		if (lstat(path, &status) && errno == ENOENT)
			return 0;
	}
	return err_set(err, KYMO_EXIT_USAGE, "there is no room for the host %s in %s: name another place with -o", host, directory);
}

static int write_hosts(const struct export_ctf *request, const struct cli_traces *traces, const struct kymo_ctf_reader *joint,
		       const struct align *align, const char *directory, bool *lost, struct kymo_err *err)
{
	struct export_ctf one = *request;
	char path[CLI_PATH_MAX];
	bool of_one;

	one.align = align;
	for (unsigned i = 0; i < traces->count; i++) {
		size_t length = strlen(traces->path[i]);

		one.trace = traces->path[i];
		one.output = path;
		if (one.first_trace >= kymo_ctf_trace_count(joint) ||
		    place(path, directory, kymo_ctf_trace(joint, one.first_trace)->hostname, err) ||
		    export_caret(&one, &of_one, err))
			return -1;
		*lost |= of_one;
		/* Traces come in the order of the operands. */
		while (one.first_trace < kymo_ctf_trace_count(joint) &&
		       !strncmp(kymo_ctf_trace(joint, one.first_trace)->path, one.trace, length))
			one.first_trace++;
	}
	return 0;
}

int export_caret_hosts(const struct export_ctf *request, const struct cli_traces *traces, bool *lost, struct kymo_err *err)
{
	char directory[CLI_PATH_MAX + 16];
	struct kymo_ctf_reader *joint;
	struct align *align;
	int status;

	(void)snprintf(directory, sizeof(directory), "%s-caret", request->name);
	if (request->output)
		(void)snprintf(directory, sizeof(directory), "%s", request->output);
	*lost = false;
	if (cli_traces_open(traces, request->quiet ? NULL : "export", &joint, &align, err))
		return -1;
	if (mkdir(directory, 0777) && errno != EEXIST)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot make the directory %s: %s", directory, strerror(errno));
	else
		status = write_hosts(request, traces, joint, align, directory, lost, err);
	if (!status && !request->quiet) {
		cli_tell_hosts("export", align);
		fprintf(stderr, "%s: give caret_analyze the list of the directories in it\n", directory);
	}
	align_destroy(align);
	kymo_ctf_close(joint);
	return status;
}
