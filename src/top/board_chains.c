/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of the board: the analysis collects for the length of a slice, then forgets. See board.h.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "summary/summary_collect.h"
#include "top/board_internal.h"

#define LABEL_MAX 2048

static bool is_selected(const struct board *board, const struct chains_path *path)
{
	const struct selection *selection = board->options.selection;
	const struct chains_path *step[CHAINS_STEPS_MAX];
	unsigned count;

	if (!board->options.pid && (!selection || !selection_any(selection)))
		return true;
	count = chains_steps(path, step);
	for (unsigned i = 0; i < count; i++) {
		const struct model_node *node =
			step[i]->callback ? model_callback_node(step[i]->callback) : NULL;

		if (step[i]->callback && board->options.pid == step[i]->callback->process->pid)
			return true;
		if (!selection)
			continue;
		if (node && selection->node.count && selection_node(selection, node->full_name))
			return true;
		if (step[i]->publisher && selection->topic.count &&
		    selection_topic(selection, step[i]->publisher->topic->name))
			return true;
		if (step[i]->callback && selection->process.count &&
		    selection_process(selection, step[i]->callback->process->name,
				      step[i]->callback->process->pid))
			return true;
	}
	return false;
}

struct label {
	char text[LABEL_MAX];
	size_t used;
};

static void append(struct label *label, const char *text)
{
	if (label->used < sizeof(label->text))
		label->used += (size_t)snprintf(label->text + label->used,
						sizeof(label->text) - label->used, "%s%s",
						label->used ? " -> " : "", text);
}

static const char *step_name(const struct chains_path *step)
{
	const struct model_node *node = step->callback ? model_callback_node(step->callback) : NULL;

	return step->publisher ? step->publisher->topic->name : node ? node->full_name : NULL;
}

/* Each process when the way enters it: "driver 4710, filter 4711". Return: @buffer. */
static char *processes_of(const struct chains_path *const *step, unsigned count, char *buffer,
			  size_t size)
{
	const struct model_process *last = NULL;

	*buffer = '\0';
	for (unsigned i = 0; i < count; i++) {
		const size_t used = strlen(buffer);

		if (!step[i]->callback || step[i]->callback->process == last)
			continue;
		last = step[i]->callback->process;
		(void)snprintf(buffer + used, size - used, "%s%s %" PRId32, used ? ", " : "",
			       last->name, last->pid);
	}
	return buffer;
}

/*
 * Shown are the topics, and the last node; asked for is the whole path, as `kymo why` reads it. A
 * row for each way through processes: whether two of them are twins, is known later.
 */
static struct row *make_row(struct board *board, const struct chains_path *path)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned count = chains_steps(path, step);
	struct label topics = { "", 0 }, whole = { "", 0 };
	char entity[2 * LABEL_MAX], processes[LABEL_MAX];

	for (unsigned i = 0; i < count; i++) {
		const char *name = step_name(step[i]);

		if (name)
			append(&whole, name);
		if (name && step[i]->publisher)
			append(&topics, name);
	}
	if (path->callback && step_name(path))
		append(&topics, step_name(path));
	return board_find(board, &(struct board_row){
					 .page = BOARD_CHAINS,
					 .name = topics.text,
					 .ask = whole.text,
					 .process = processes_of(step, count, processes,
								 sizeof(processes)),
					 .entity = chains_label(path, entity, sizeof(entity)) });
}

static struct row *row_of(struct board *board, const struct chains_path *path)
{
	struct row **row = array_at(&board->row_of[BOARD_CHAINS], path->index, sizeof(*row));

	if (!row) {
		board->no_memory = true;
		return NULL;
	}
	if (!*row && is_selected(board, path))
		*row = make_row(board, path);
	return *row;
}

static void take(struct board *board, const struct chains_path *path)
{
	struct row *row = row_of(board, path);
	struct board_slice *slice = row ? board_now(board, row) : NULL;
	const struct chains_stats *stats = path->stats;

	if (!slice)
		return;
	slice->median_ns = (int64_t)histogram_quantile(&stats->total, 0.5);
	slice->count += stats->total.count;
	if ((int64_t)stats->total.max >= slice->max_ns && stats->worst_count) {
		slice->max_ns = (int64_t)stats->total.max;
		slice->max_at_ns = stats->worst[0].begin_ns + stats->worst[0].total_ns;
	}
}

void board_take_chains(struct board *board)
{
	const unsigned count = chains_path_count(board->chains);

	for (unsigned i = 0; i < count && !board->skips; i++) {
		const struct chains_path *path = chains_path(board->chains, i);

		if (path->stats && path->stats->total.count && chains_is_chain(board->chains, path))
			take(board, path);
	}
	if (board->options.whole)
		chains_forget_stats(board->chains);
}

/* ---- twins ---- */

static void set_text(struct board *board, const char **text, char *value)
{
	if (!value) {
		board->no_memory = true;
		return;
	}
	free((char *)*text);
	*text = value;
}

/* "/scan -> /cmd_vel" becomes "/scan -> /cmd_vel (filter 4711)", of "filter #2". */
static void name_row(struct board *board, struct row *row, const struct summary_ways *ways)
{
	char clean[4 * sizeof(ways->text) + 1], *name;

	if (strcmp(row->pub.process, ways->of) != 0)
		set_text(board, &row->pub.process, strdup(ways->of));
	if (!*ways->text)
		return;
	(void)text_clean(clean, sizeof(clean), ways->text);
	row->plain = row->plain ? row->plain : strlen(row->pub.name);
	if (asprintf(&name, "%.*s (%s)", (int)row->plain, row->pub.name, clean) < 0)
		name = NULL;
	set_text(board, &row->pub.name, name);
}

void board_name_chains(struct board *board)
{
	const unsigned count = board->chains && board->collect && !board->skips
				       ? chains_path_count(board->chains)
				       : 0;
	struct summary_ways ways;

	for (unsigned i = 0; i < count; i++) {
		const struct chains_path *path = chains_path(board->chains, i);
		struct row **row = array_at(&board->row_of[BOARD_CHAINS], i, sizeof(*row));

		if (!row || !*row)
			continue;
		(void)summary_collect_ways(board->collect, path, &ways);
		name_row(board, *row, &ways);
	}
}
