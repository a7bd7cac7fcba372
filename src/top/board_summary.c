/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The board's summary, and what is wrong in it. See board.h.
 *
 * While programs run, each slice is summed up and merged into a window of the last half minute to
 * minute, and the analyses count from 0 again. A whole trace is summed up once, at its end, as
 * `kymo report` does it.
 */
#include <string.h>

#include "summary/summary_collect.h"
#include "top/board_internal.h"

/* ---- life ---- */

int board_listen_summary(struct board *board, struct kymo_err *err)
{
	struct summary_sources from = { .model = board->model,
					.begin_ns = INT64_MIN,
					.end_ns = INT64_MAX };
	struct why_callbacks_options callbacks;
	struct chains_options chains;

	summary_options(board->reader, INT64_MIN, INT64_MAX, &chains, &callbacks);
	if (!board->options.whole) {
		chains.all_topics = board->options.all;
		chains.calls = true;
	}
	if (!board->window)
		board->window = summary_window_new(board->options.whole ? 0 : BOARD_SLICES / 2);
	if (!board->window)
		return err_no_memory(err);
	if (summary_collect_beside(&board->collect, &from, board->spans, &chains, &board->analyses,
				   err) < 0)
		return -1;
	board->loops = from.loops;
	board->view = from.view;
	if (!board->options.whole)
		board->chains = from.chains;
	return 0;
}

void board_take_summary(struct board *board)
{
	struct summary *slice = board->collect && !board->skips ? summary_new() : NULL;

	if (!board->collect || board->skips)
		return;
	if (!slice || summary_collect_take(board->collect, slice) < 0 ||
	    summary_window_add(board->window, slice) < 0)
		board->no_memory = true;
	summary_free(slice);
	summary_collect_forget(board->collect);
	board->is_judged = false;
}

/* ---- what is wrong ---- */

/* Is one of the names in @text, "/driver timer 10 ms -> /scan -> /planner", selected? */
static bool has_selected(const struct selection *selection, const char *text)
{
	char word[512];

	for (const char *at = strchr(text, '/'); at; at = strchr(at, '/')) {
		const size_t length = strcspn(at, " ,:");

		(void)snprintf(word, sizeof(word), "%.*s", (int)length, at);
		if ((selection->node.count && selection_node(selection, word)) ||
		    (selection->topic.count && selection_topic(selection, word)))
			return true;
		at += length;
	}
	return false;
}

/* A chain has no process: one of its callbacks must be of a selected one. */
static bool is_of_process(const struct selection *selection, const struct summary *summary,
			  const struct summary_entity *chain)
{
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *entity = summary->entity[i];

		if (entity->kind == SUMMARY_CALLBACK && strstr(chain->name, entity->name) &&
		    selection_process(selection, entity->of, 0))
			return true;
	}
	return false;
}

static bool is_shown(const struct board *board, const struct summary *summary,
		     const struct summary_finding *finding)
{
	const struct selection *selection = board->options.selection;
	const struct summary_entity *entity = finding->entity;

	if (!entity || !selection || !selection_any(selection))
		return true;
	if (selection->process.count && entity->kind == SUMMARY_CHAIN &&
	    !is_of_process(selection, summary, entity))
		return false;
	if (selection->process.count && entity->kind != SUMMARY_CHAIN &&
	    entity->kind != SUMMARY_SUBSCRIPTION && !selection_process(selection, entity->of, 0))
		return false;
	return !selection_objects(selection) || has_selected(selection, entity->name);
}

const struct summary *board_summary(const struct board *board)
{
	return board->window ? summary_window_get(board->window) : NULL;
}

unsigned board_findings(struct board *board, const struct summary_finding **findings)
{
	struct summary_finding all[SUMMARY_FINDINGS_MAX];
	const struct summary *summary;
	unsigned count;

	*findings = board->finding;
	if (board->is_judged)
		return board->findings;
	summary = board_summary(board);
	count = summary ? summary_findings(summary, all, SUMMARY_FINDINGS_MAX) : 0;
	board->findings = 0;
	for (unsigned i = 0; i < count && board->findings < BOARD_FINDINGS_MAX; i++)
		if (is_shown(board, summary, &all[i]))
			board->finding[board->findings++] = all[i];
	board->is_judged = true;
	return board->findings;
}

/* What the rows of a page are in the summary; SUMMARY_KINDS: the summary has nothing like them. */
static enum summary_kind kind_of(enum board_page page)
{
	static const enum summary_kind kinds[BOARD_LISTS] = {
		[BOARD_CALLBACKS] = SUMMARY_CALLBACK, [BOARD_TOPICS] = SUMMARY_TOPIC,
		[BOARD_CHAINS] = SUMMARY_CHAIN,       [BOARD_EXECUTORS] = SUMMARY_KINDS,
		[BOARD_THREADS] = SUMMARY_KINDS,      [BOARD_SPANS] = SUMMARY_SPAN,
		[BOARD_WORKERS] = SUMMARY_KINDS,
	};

	return kinds[page];
}

/* Of several processes of one name, that with the pid of the row; one that was started again is the
 * same as before. */
static const struct summary_entity *twin_of(const struct summary *summary,
					    const struct board_row *row,
					    const struct summary_entity *first)
{
	const struct summary_entity *twin = first;
	char of[512];

	if (row->page == BOARD_CHAINS)
		return first;

	for (unsigned number = 2; twin && twin->pid && twin->pid != row->pid; number++) {
		(void)snprintf(of, sizeof(of), "%s #%u", row->process, number);
		twin = summary_find(summary, first->kind, row->entity, of);
	}
	return twin ? twin : first;
}

static const struct summary_entity *entity_of(const struct board *board,
					      const struct board_row *row)
{
	const struct summary *summary = board_summary(board);
	const enum summary_kind kind = kind_of(row->page);

	return summary && kind < SUMMARY_KINDS && *row->entity
		       ? twin_of(summary, row,
				 summary_find(summary, kind, row->entity, row->process))
		       : NULL;
}

bool board_is_again(const struct board *board, const struct board_row *row,
		    const struct board_row *other)
{
	return board->options.whole && row != other &&
	       (row->pid != other->pid || row->page == BOARD_CHAINS) &&
	       strcmp(row->entity, other->entity) == 0 &&
	       strcmp(row->process, other->process) == 0 && entity_of(board, row) &&
	       entity_of(board, row) == entity_of(board, other);
}

char *board_ask(const struct board *board, const struct board_row *row, char *buffer, size_t size)
{
	const struct summary_entity *entity = entity_of(board, row);
	const char *ways = NULL;

	if (entity && entity->pid)
		for (const char *at = strstr(entity->ask, " ("); at; at = strstr(at + 1, " ("))
			ways = at;
	(void)snprintf(buffer, size, "%s%s", row->ask, ways ? ways : "");
	return buffer;
}

/* A row before it shows it. */
static bool is_hidden(const struct board *board, const struct board_row *row)
{
	for (unsigned i = 0; i < board->count[row->page]; i++) {
		const struct board_row *before = &board->row[row->page][i]->pub;

		if (before == row)
			return false;
		if (board_is_again(board, row, before))
			return true;
	}
	return false;
}

static bool is_row_of(const struct board_row *row, const struct summary_entity *entity)
{
	return strcmp(row->entity, entity->name) == 0 &&
	       (entity->pid ? row->pid == entity->pid : strcmp(row->process, entity->of) == 0);
}

/* Of a whole trace, a path that ended somewhere once, and went on later, is no chain. */
static bool is_no_chain(const struct board *board, const struct board_row *row)
{
	return row->page == BOARD_CHAINS && board->options.whole && !board->options.all &&
	       board_summary(board) && !entity_of(board, row);
}

void board_values_of_summary(const struct board *board, const struct board_row *row,
			     struct board_values *values)
{
	const struct selection *selection = board->options.selection;
	const bool is_part = board->options.pid || (selection && selection_any(selection));
	const bool is_run = row->page == BOARD_CALLBACKS || row->page == BOARD_SPANS;
	const struct summary_entity *entity =
		board->options.whole && !is_part ? entity_of(board, row) : NULL;
	const struct histogram *of;

	if (is_no_chain(board, row))
		values->count = 0;
	if (is_hidden(board, row)) {
		*values = BOARD_NO_VALUES;
		return;
	}
	if (!entity)
		return;
	of = &entity->histogram[is_run ? SUMMARY_DURATION : SUMMARY_LATENCY];
	values->count = entity->count[row->page == BOARD_TOPICS ? SUMMARY_PUBLISHED : SUMMARY_RUNS];
	if (!of->count)
		return;
	values->usual_ns = (int64_t)histogram_quantile(of, 0.5);
	values->worst_ns = (int64_t)of->max;
}

bool board_is_found(const struct board_row *row, const struct summary_finding *finding)
{
	const struct summary_entity *entity = finding->entity;

	if (!entity)
		return false;
	switch (row->page) {
	case BOARD_CALLBACKS:
		return (entity->kind == SUMMARY_CALLBACK || entity->kind == SUMMARY_TIMER) &&
		       is_row_of(row, entity);
	case BOARD_TOPICS:
		return entity->kind == SUMMARY_SUBSCRIPTION && strcmp(row->name, entity->of) == 0;
	case BOARD_CHAINS:
		return entity->kind == SUMMARY_CHAIN && strcmp(row->entity, entity->name) == 0 &&
		       strcmp(row->process, entity->of) == 0;
	case BOARD_SPANS:
		return (entity->kind == SUMMARY_SPAN || entity->kind == SUMMARY_LOOP) &&
		       is_row_of(row, entity);
	default:
		return false;
	}
}
