/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that recorded itself (kymo/session.h) and was killed leaves events of its own trace,
 * which nobody continues. They are older than the recording that begins now, and not of it: they
 * become a trace of their own beside it.
 */
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "recorder/record/record_selves.h"
#include "recorder/runtime/claim.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/rundir.h"

#define SUFFIXES_MAX 1000

struct search {
	const struct rundir *dir;
	unsigned found;
	char name[64]; /* of the first program */
};

static void look_at(void *context, const char *name)
{
	struct search *search = context;
	struct region region;
	struct kymo_err err;
	int pid;

	if (!region_is_name(name) || region_open(&region, search->dir, name, false, &err) != 0)
		return;
	if (region_recorded_itself(&region) && !claim_is_taken(region.fd) &&
	    region_alive(&region, &pid) == ALIVE_DEAD && !search->found++)
		(void)snprintf(search->name, sizeof search->name, "%s (%u)", region.procname,
			       region.pid);
	region_close(&region);
}

static bool is_there(const struct session_options *options, struct search *search)
{
	struct rundir dir;
	struct kymo_err err;

	if (rundir_open(&dir, options->runtime_dir, false, &err) != 0)
		return false;
	search->dir = &dir;
	(void)rundir_list(&dir, look_at, search);
	rundir_close(&dir);
	return search->found;
}

static bool new_name(const char *output, char path[PATH_MAX])
{
	for (unsigned i = 1; i < SUFFIXES_MAX; i++) {
		char number[16] = "";

		if (i > 1)
			(void)snprintf(number, sizeof number, "-%u", i);
		if (snprintf(path, PATH_MAX, "%s-recovered%s", output, number) >= PATH_MAX)
			return false;
		if (access(path, F_OK) < 0)
			return true;
	}
	return false;
}

void record_selves(const struct session_options *options)
{
	char path[PATH_MAX], text[PATH_MAX + 256];
	struct session_options these = {
		.runtime_dir = options->runtime_dir,
		.output = path,
		.version = options->version,
		.only_dead = true,
		.only_selves = true,
		.say = options->say,
		.context = options->context,
	};
	struct search search = { 0 };
	struct session_stats stats;
	struct session *session;
	struct kymo_err err;

	if (!options->output || options->tag || options->pid_count || options->name_count ||
	    !is_there(options, &search) || !new_name(options->output, path) ||
	    session_begin(&these, &session, &err) < 0)
		return;
	(void)session_poll(session);
	(void)session_end(session, &err);
	session_stats(session, &stats);
	session_free(session);
	if (!stats.processes || !stats.bytes || !options->say)
		return;
	(void)snprintf(text, sizeof text,
		       "%s%s recorded itself and was killed: the %llu events that it had left are in %s",
		       search.name, search.found > 1 ? " and others" : "",
		       (unsigned long long)stats.recorded, path);
	options->say(options->context, text);
}
