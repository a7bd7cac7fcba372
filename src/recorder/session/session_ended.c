/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A session that lasts for weeks sees any number of processes. The last ones that ended are kept
 * whole. Of older ones only sums are kept, for the session and for each sink, and an entry each in
 * a list that the sink appends to a file. So neither memory nor the accounts, which are written
 * every second, grow with them.
 */
#include <stdlib.h>

#include "base/json_text.h"
#include "recorder/session/session_internal.h"

#define ENDED_KEPT 256

/* As of a sink that lacks nothing. */
void session_add_totals(struct session_stats *stats, struct drained_process *process)
{
	const struct sink_process all = {.process = process,
					 .init.events = process->init_events,
					 .unwritten = process->unwritten};

	session_add_account(stats, &all);
}

static bool is_held(const struct drain *drain, const struct drained_process *process)
{
	for (unsigned i = 0; i < drain->sink_count; i++)
		if (process->at[i] && drain->sink[i]->ops->holds &&
		    drain->sink[i]->ops->holds(drain->sink[i], process))
			return true;
	return false;
}

/* Return: false: the sink cannot be written at the moment. */
static bool list_process(struct sink *sink, struct sink_process *at)
{
	struct json_text json = { .one_line = true };
	struct sink_counts counts;

	if (at->listed)
		return true;
	if (sink->ops->ended) {
		session_account_process(&json, at);
		json_text_raw(&json, "\n", 1);
		at->listed = !json.failed && sink->ops->ended(sink, json.text, json.size) == 0;
		free(json.text);
		if (!at->listed)
			return false;
	}
	at->listed = true;
	session_add_account(&sink->earlier, at);
	sink_counts(at, &counts);
	sink->earlier.bytes += counts.bytes;
	return true;
}

/* Return: false: it is kept for now. */
static bool forget(struct session *session, struct drained_process *process)
{
	struct drain *drain = &session->drain;

	if (is_held(drain, process))
		return false;
	for (unsigned i = 0; i < drain->sink_count; i++)
		if (process->at[i] && !list_process(drain->sink[i], process->at[i]))
			return false;
	session_add_totals(&session->earlier, process);
	session_free_process(process);
	return true;
}

void session_forget_ended(struct session *session)
{
	unsigned ended = 0, kept = 0;

	for (unsigned i = 0; i < session->process_count; i++)
		ended += session->process[i]->finished && session->process[i]->end != PROCESS_RUNS;
	if (ended <= ENDED_KEPT)
		return;
	for (unsigned i = 0; i < session->process_count; i++) {
		struct drained_process *process = session->process[i];

		if (ended > ENDED_KEPT && process->finished && process->end != PROCESS_RUNS &&
		    forget(session, process))
			ended--;
		else
			session->process[kept++] = process;
	}
	session->process_count = kept;
}
