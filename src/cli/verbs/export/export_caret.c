/* SPDX-License-Identifier: Apache-2.0 */
/* What caret_analyze reads. See export.h. */
#include "cli/verbs/export/export_ctf.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/text.h"
#include "caret/export/caret_export.h"

/* What caret_analyze cannot do with the result. */
static void warn(const struct caret_exported *done)
{
	if (!done->stamps)
		fprintf(stderr, "kymo export: warning: the trace has no source timestamp of a written message, and "
			"caret_analyze refuses such traces (dds_bind_addr_to_stamp)\n");
	if (!done->groups)
		fprintf(stderr, "kymo export: warning: the trace has no executor and no callback group, and caret_analyze finds "
			"no paths without them; record with kymo, or with CARET's library\n");
	if (done->lost)
		fprintf(stderr, "kymo export: warning: %" PRIu64 " events were lost while recording\n", done->lost);
}

static int write_caret(struct kymo_ctf_reader *reader, const struct export_request *request,
		       const char *output, bool *lost, struct kymo_err *err)
{
	char bytes[TEXT_QUANTITY_MAX], directory[CLI_PATH_MAX];
	struct caret_exported done;

	/*
	 * caret_analyze writes a file of its own into @output, which readers would take for a
	 * stream there.
	 */
	if (snprintf(directory, sizeof(directory), "%s/ust", output) >= (int)sizeof(directory))
		return err_set(err, KYMO_EXIT_USAGE, "the path of the output is too long; choose a shorter one with -o");
	if (mkdir(directory, 0777))
		return err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s: %s", directory, strerror(errno));
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

/* ---- several hosts ---- */

/* "DIR/HOST", or "DIR/HOST-2" if that exists. */
static int place(char path[CLI_PATH_MAX], const char *directory, const char *host,
		 struct kymo_err *err)
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
	return err_set(err, KYMO_EXIT_USAGE, "cannot create a directory for the host %s in %s; choose another place with -o", host, directory);
}

static int write_hosts(const struct export_request *request, const struct kymo_ctf_reader *joint,
		       const struct align *align, const char *directory, bool *lost,
		       struct kymo_err *err)
{
	struct export_host host = { .align = align };
	struct export_request one = *request;
	char path[CLI_PATH_MAX];
	bool lost_in_one;

	one.output = path;
	for (unsigned i = 0; i < request->traces.count; i++) {
		const char *trace = request->traces.path[i];
		const size_t length = strlen(trace);

		cli_traces_one(&one.traces, trace);
		if (host.first_trace >= kymo_ctf_trace_count(joint) ||
		    place(path, directory, kymo_ctf_trace(joint, host.first_trace)->hostname,
			  err) ||
		    export_ctf_as(&one, &host, "", write_caret, &lost_in_one, err))
			return -1;
		*lost |= lost_in_one;
		/* Traces come in the order of the operands. */
		while (host.first_trace < kymo_ctf_trace_count(joint) &&
		       !strncmp(kymo_ctf_trace(joint, host.first_trace)->path, trace, length))
			host.first_trace++;
	}
	return 0;
}

static int export_hosts(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char made[CLI_PATH_MAX + 16];
	const char *directory = export_output(request, "-caret", made);
	struct kymo_ctf_reader *joint;
	struct align *align;
	int status;

	*lost = false;
	if (cli_traces_open(&request->traces, request->quiet ? NULL : "export", &joint, &align, err))
		return -1;
	if (mkdir(directory, 0777) && errno != EEXIST)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot create the directory %s: %s", directory, strerror(errno));
	else
		status = write_hosts(request, joint, align, directory, lost, err);
	if (!status && !request->quiet) {
		cli_print_hosts("export", align);
		fprintf(stderr, "%s: give caret_analyze the list of the directories in it\n", directory);
	}
	align_destroy(align);
	kymo_ctf_close(joint);
	return status;
}

int export_caret(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	if (request->traces.count > 1)
		return export_hosts(request, lost, err);
	return export_ctf_as(request, &(struct export_host){ 0 }, "-caret", write_caret, lost, err);
}
