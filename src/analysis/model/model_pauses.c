/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What only kymo.json says: when the recorder paused, which is no loss, and on what machine it was.
 * The file lies in the directory of the trace or above it: DIR/kymo.json of DIR/ust and of
 * DIR/archives/CHUNK/ust.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "accounts/accounts.h"
#include "analysis/model/model_internal.h"

#define LEVELS \
	5u /* directories to look into: that of the trace, and above it as LTTng nests them */
#define PATH_BYTES 4096u

static bool goes_up(char *path)
{
	char *slash = strrchr(path, '/');

	if (!slash || slash == path)
		return false;
	*slash = 0;
	return true;
}

/* The accounts of the trace in @path. Traces of one recording mostly follow each other: @directory
 * is where @accounts are from. */
static void accounts_of(const char *path, struct accounts *accounts, char directory[PATH_BYTES])
{
	char at[PATH_BYTES], problem[512];
	const size_t length = strlen(directory);

	if (length && !strncmp(path, directory, length) && (path[length] == '/' || !path[length]))
		return;
	(void)snprintf(at, sizeof(at), "%s", path);
	for (unsigned i = 0; i < LEVELS; i++) {
		accounts_free(accounts);
		accounts_read(accounts, at, problem);
		if (accounts->present || !goes_up(at))
			break;
	}
	(void)snprintf(directory, PATH_BYTES, "%s", accounts->present ? at : "");
}

/* The file is not trusted: pauses that are not in order are left out. */
static int keep(struct model *model, uint32_t index, const struct accounts *accounts)
{
	struct trace *trace = &model->trace[index];
	int64_t last_ns = INT64_MIN;

	if (!accounts->pause_count)
		return 0;
	trace->pause = calloc(accounts->pause_count, sizeof(*trace->pause));
	if (!trace->pause)
		return -1;
	for (unsigned i = 0; i < accounts->pause_count; i++) {
		const struct accounts_pause *from = &accounts->pause[i];
		const struct pause pause = {
			.begin_ns = model_epoch(model, index, from->begin_ns, INT64_MAX),
			.end_ns = model_epoch(model, index, from->end_ns, INT64_MAX),
		};

		if (!from->end_ns || pause.begin_ns < last_ns || pause.end_ns < pause.begin_ns)
			continue;
		trace->pause[trace->pauses++] = pause;
		model->has_pauses = true;
		last_ns = pause.end_ns;
	}
	return 0;
}

static int keep_machine(struct model *model, const struct accounts *accounts, bool is_first)
{
	for (unsigned part = 0; part < MACHINE_PARTS; part++) {
		const char **kept = &model->facts.machine[part];
		char text[MACHINE_TEXT_MAX];

		(void)accounts_machine(accounts, (enum accounts_machine)part, text);
		if (is_first || !**kept)
			*kept = model_keep(model, text, strlen(text));
		else if (*text && strcmp(text, *kept) != 0)
			*kept = "several";
		if (!*kept)
			return -1;
	}
	return 0;
}

int model_read_pauses(struct model *model, const struct kymo_ctf_reader *reader)
{
	struct accounts accounts = { 0 };
	char directory[PATH_BYTES] = "";
	int status = 0;

	for (unsigned i = 0; i < kymo_ctf_trace_count(reader) && !status; i++) {
		accounts_of(kymo_ctf_trace(reader, i)->path, &accounts, directory);
		status = keep(model, i, &accounts) || keep_machine(model, &accounts, !i) ? -1 : 0;
	}
	accounts_free(&accounts);
	return status;
}

int64_t model_resumed(const struct model *model, const struct model_thread *thread, int64_t ns)
{
	const uint32_t trace = thread ? ((const struct thread *)thread)->trace : UINT32_MAX;
	struct trace *of = trace < model->trace_count ? &model->trace[trace] : NULL;

	if (!of || !of->pauses)
		return INT64_MIN;
	while (of->pause_at < of->pauses && of->pause[of->pause_at].end_ns <= ns)
		of->pause_at++;
	return of->pause_at ? of->pause[of->pause_at - 1].end_ns : INT64_MIN;
}
