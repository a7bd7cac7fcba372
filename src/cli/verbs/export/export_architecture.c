/* SPDX-License-Identifier: Apache-2.0 */
/* CARET's architecture file. See export.h. */
#include "cli/verbs/export/export.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <unistd.h>

#include "caret/paths/architecture.h"
#include "cli/common/progress.h"
#include "cli/common/screen.h"
#include "cli/input/answer.h"

static void on_loss(void *context, const struct model_loss *loss)
{
	(void)loss;
	*(bool *)context = true;
}

/* Objects are where they are in the trace, so all of it is read. */
static int read_model(struct kymo_ctf_reader *reader, struct model **model, bool quiet, bool *lost,
		      struct kymo_err *err)
{
	static const struct model_listener listener = { .loss = on_loss };
	struct progress progress;
	const struct pass_options options = { .progress = progress_trace, .context = &progress };
	struct passes passes = { 0 };

	if (model_create(model, err) || model_listen(*model, &listener, lost, err))
		return -1;
	progress_begin(&progress, quiet);
	progress_extent(&progress, reader);
	pass_add(&passes, &model_pass, *model);
	return pass_run(&passes, reader, &options, err);
}

static int write_file(const struct architecture *architecture, const char *path, bool force,
		      struct kymo_err *err)
{
	bool out = export_is_stdout(path);
	FILE *file = out ? stdout : fopen(path, force ? "we" : "wxe");
	int status;

	if (!file)
		return errno == EEXIST ? cli_exists(path, err) : export_unwritable(path, err);
	status = architecture_write(architecture, file, err);
	if (out)
		return status;
	if (fclose(file) && !status)
		status = export_unwritable(path, err);
	if (status)
		export_remove(path); /* a part of it would look like the whole */
	return status;
}

static void summary(const struct kymo_ctf_reader *reader, const char *path,
		    const struct architecture *a)
{
	unsigned callbacks = 0;

	answer_warn("export", reader, UINT_MAX);
	for (unsigned i = 0; i < a->nodes; i++)
		callbacks += a->node[i].callbacks;
	fprintf(stderr, "%s: %u nodes with %u callbacks, %u executors\n",
		export_shown(path), a->nodes, callbacks, a->executors);
	if (a->nodes && !a->executors)
		screen_say(stderr, 0, 2,
			   "The trace has no executors and callback groups, so the file has none; "
			   "kymo and CARET record those of rclcpp.");
	if (!a->nodes)
		fputs("There is no ROS 2 node in this trace; `kymo info` shows what it holds.\n", stderr);
}

int export_architecture(const struct export_request *request, bool *lost, struct kymo_err *err)
{
	const char *path = request->output ? request->output : "architecture.yaml";
	struct architecture *architecture = NULL;
	struct model *model = NULL;
	struct kymo_ctf_reader *reader;
	int status = -1;

	if (kymo_ctf_open_all(request->traces.path, request->traces.count, &reader, err))
		return -1;
	kymo_ctf_threads(reader, 0);
	if (!read_model(reader, &model, request->quiet, lost, err) &&
	    !architecture_of(&architecture, model, err))
		status = write_file(architecture, path, request->force, err);
	if (!status && !request->quiet)
		summary(reader, path, architecture);
	architecture_free(architecture);
	model_destroy(model);
	kymo_ctf_close(reader);
	return status;
}
