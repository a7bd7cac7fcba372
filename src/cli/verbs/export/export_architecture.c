/* SPDX-License-Identifier: Apache-2.0 */
/* See export_architecture.h. */
#include "cli/verbs/export/export_architecture.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "caret/paths/architecture.h"
#include "cli/progress.h"
#include "ctf/read/reader.h"

#define PROGRESS_EVENTS (1u << 16)

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
	struct kymo_ctf_event event;
	uint64_t events = 0;
	int more;

	if (model_create(model, err))
		return -1;
	(void)model_listen(*model, &listener, lost);	/* the first of many */
	if (model_attach(*model, reader, err))
		return -1;
	progress_begin(&progress, quiet);
	progress_extent(&progress, reader);
	while ((more = kymo_ctf_next(reader, &event, err)) > 0) {
		if (model_event(*model, &event)) {
			more = err_no_memory(err);
			break;
		}
		if (!(++events % PROGRESS_EVENTS))
			progress_trace(&progress, events, event.clock_ns);
	}
	progress_clear(&progress);
	model_finish(*model);
	return more;
}

static int write_file(const struct architecture *architecture, const char *path, bool force,
		      struct kymo_err *err)
{
	bool out = strcmp(path, "-") == 0;
	FILE *file = out ? stdout : fopen(path, force ? "we" : "wxe");
	int status;

	if (!file && errno == EEXIST)
		return err_set(err, KYMO_EXIT_FAILED, "%s is there already; name another file with -o, or "
			       "overwrite it with --force.", path);
	if (!file)
		return err_set(err, KYMO_EXIT_FAILED, "%s cannot be written: %s; name another file "
			       "with -o.", path, strerror(errno));
	status = architecture_write(architecture, file, err);
	if (out)
		return status;
	if (fclose(file) && !status)
		status = err_set(err, KYMO_EXIT_FAILED, "%s: writing failed: %s.", path, strerror(errno));
	if (status)
		(void)unlink(path);		/* a part of it would look like the whole */
	return status;
}

static void tell(const struct kymo_ctf_reader *reader, const char *path, const struct architecture *a)
{
	unsigned callbacks = 0;

	for (unsigned i = 0; i < kymo_ctf_warning_count(reader); i++)
		fprintf(stderr, "kymo export: warning: %s\n", kymo_ctf_warning(reader, i));
	for (unsigned i = 0; i < a->nodes; i++)
		callbacks += a->node[i].callbacks;
	fprintf(stderr, "%s: %u nodes with %u callbacks, %u executors\n",
		strcmp(path, "-") == 0 ? "standard output" : path, a->nodes, callbacks, a->executors);
	if (a->nodes && !a->executors)
		fputs("Executors and callback groups are only told by CARET's tracer; the file has none.\n",
		      stderr);
	if (!a->nodes)
		fputs("There is no ROS 2 node in this trace; `kymo info` says what is.\n", stderr);
}

int export_architecture(const struct export_architecture *request, bool *lost, struct kymo_err *err)
{
	const char *path = request->output ? request->output : "architecture.yaml";
	struct architecture *architecture = NULL;
	struct model *model = NULL;
	struct kymo_ctf_reader *reader;
	int status = -1;

	if (kymo_ctf_open_all(request->traces->path, request->traces->count, &reader, err))
		return -1;
	kymo_ctf_threads(reader, 0);
	if (!read_model(reader, &model, request->quiet, lost, err) && !architecture_of(&architecture, model, err))
		status = write_file(architecture, path, request->force, err);
	if (!status && !request->quiet)
		tell(reader, path, architecture);
	architecture_free(architecture);
	model_destroy(model);
	kymo_ctf_close(reader);
	return status;
}
