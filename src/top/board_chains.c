/* SPDX-License-Identifier: Apache-2.0 */
/* Chains of the board: the analysis collects for the length of a slice, then forgets. See board.h.
 */
#include <stdio.h>

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

/* Shown are the topics, and the last node; asked for is the whole path, as `kymo why` reads it. */
static struct row *make_row(struct board *board, const struct chains_path *path)
{
	const struct chains_path *step[CHAINS_STEPS_MAX];
	const unsigned count = chains_steps(path, step);
	struct label topics = { "", 0 }, whole = { "", 0 };
	char entity[2 * LABEL_MAX];

	for (unsigned i = 0; i < count; i++) {
		const char *name = step_name(step[i]);

		if (name)
			append(&whole, name);
		if (name && step[i]->publisher)
			append(&topics, name);
	}
	if (path->callback && step_name(path))
		append(&topics, step_name(path));
	return board_find(board, &(struct board_row){ .page = BOARD_CHAINS,
						      .name = topics.text,
						      .ask = whole.text,
						      .entity = chains_label(path, entity,
									     sizeof(entity)) });
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
