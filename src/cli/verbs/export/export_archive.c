/* SPDX-License-Identifier: Apache-2.0 */
/* Several traces as one archive of Perfetto files. See export.h. */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli/verbs/export/export.h"
#include "export/archive/archive.h"

static int write_members(struct archive *archive, const struct export_request *request, bool *lost,
			 struct kymo_err *err)
{
	struct export_request one = *request;
	struct archive_member member;
	bool lost_in_one = false;

	for (unsigned i = 0; i < request->traces.count; i++) {
		cli_traces_one(&one.traces, request->traces.path[i]);
		one.member = &member;
		if (archive_member_begin(archive, i, &member, err))
			return -1;
		(void)snprintf(one.name, sizeof(one.name), "%s", member.name);
		one.output = member.file;
		if (export_perfetto(&one, &lost_in_one, err) || archive_member_end(archive, err))
			return -1;
		*lost |= lost_in_one;
	}
	return archive_end(archive, err);
}

int export_archive(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	char name[CLI_PATH_MAX + 16];
	const char *output = export_output(request, ".tar", name);
	struct archive *archive;
	bool made;
	int fd, status;

	if (archive_create(&archive, request->traces.path, request->traces.count, err))
		return -1;
	fd = export_open(output, request->force, &made, err);
	if (fd < 0) {
		archive_free(archive);
		return -1;
	}
	status = archive_begin(archive, fd, err) || write_members(archive, request, lost, err) ? -1
											       : 0;
	if (close(fd) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "cannot write it: %s", strerror(errno));
	archive_free(archive);
	if (status && made)
		(void)unlink(output);
	if (status)
		return err_wrap(err, "%s", output);
	if (!request->quiet)
		fprintf(stderr,
			"%s: %u trace%s. Open it at https://ui.perfetto.dev (it stays in your "
			"browser).\n",
			output, request->traces.count, request->traces.count == 1 ? "" : "s");
	return 0;
}
