/* SPDX-License-Identifier: Apache-2.0 */
/* `kymo flow --suggest`: message links that the times suggest, beside the evidence. */
#include <inttypes.h>
#include <stdio.h>

#include "analysis/chains/chains_suggest.h"
#include "base/array.h"
#include "base/text.h"
#include "report/flow/flow_internal.h"

static const struct table_column columns[] = {
	{ "node", "Node" },
	{ "keeps", "May keep" },
	{ "publishes", "until it publishes" },
	{ "how", NULL },
	{ "by", NULL },
	{ "evidence", "Because" },
	{ "with_new", NULL },
	{ "with_new_published", NULL },
	{ "without_new", NULL },
	{ "without_new_published", NULL },
	{ "runs", NULL },
	{ "followed", NULL },
	{ "lag_ns", NULL },
	{ "lag_deviation_ns", NULL },
	{ "gap_deviation_ns", NULL },
};

static void evidence(const struct suggestion *it, char *buffer, size_t size)
{
	char label[256], lag[TEXT_QUANTITY_MAX], varies[TEXT_QUANTITY_MAX], gaps[TEXT_QUANTITY_MAX];

	if (it->how == SUGGEST_GATE)
		snprintf(buffer, size,
			 "%s published in %" PRIu64 " of %" PRIu64
			 " runs after a new message, and in %" PRIu64 " of %" PRIu64
			 " without one",
			 model_callback_label(it->by, label, sizeof(label)),
			 it->gate.fresh_published, it->gate.fresh, it->gate.stale_published,
			 it->gate.stale);
	else
		snprintf(buffer, size,
			 "one publication followed %" PRIu64 " of %" PRIu64
			 " messages, %s later; that time varies by %s, the time between messages "
			 "by %s",
			 it->followed, it->runs, text_ns(lag, (int64_t)it->lag_ns),
			 text_ns(varies, (int64_t)it->lag_deviation_ns),
			 text_ns(gaps, (int64_t)it->gap_deviation_ns));
}

static bool is_shown(const struct flow *flow, const struct suggestion *it)
{
	const struct selection *selection = flow->options->selection;
	const char *node = it->publisher->node ? it->publisher->node->full_name : NULL;

	return !selection_any(selection) ||
	       (selection_node(selection, node) &&
		(selection_topic(selection, it->publisher->topic->name) ||
		 selection_topic(selection, it->subscription->topic->name)));
}

static void row(struct table *t, const struct suggestion *it)
{
	const bool gate = it->how == SUGGEST_GATE;
	char text[1024];

	table_text(t, it->publisher->node ? it->publisher->node->full_name : "(not known)");
	table_text(t, it->subscription->topic->name);
	table_text(t, it->publisher->topic->name);
	table_text(t, gate ? "gate" : "follows");
	CELL_IF(t, gate, table_text(t, model_callback_label(it->by, text, sizeof(text))));
	evidence(it, text, sizeof(text));
	table_text(t, text);
	CELL_IF(t, gate, table_u64(t, it->gate.fresh));
	CELL_IF(t, gate, table_u64(t, it->gate.fresh_published));
	CELL_IF(t, gate, table_u64(t, it->gate.stale));
	CELL_IF(t, gate, table_u64(t, it->gate.stale_published));
	CELL_IF(t, !gate, table_u64(t, it->runs));
	CELL_IF(t, !gate, table_u64(t, it->followed));
	CELL_IF(t, !gate, table_ns(t, (int64_t)it->lag_ns));
	CELL_IF(t, !gate, table_ns(t, (int64_t)it->lag_deviation_ns));
	CELL_IF(t, !gate, table_ns(t, (int64_t)it->gap_deviation_ns));
}

int flow_suggest(struct flow *flow, bool *lost, struct kymo_err *err)
{
	const struct flow_options *options = flow->options;
	const struct pass_options progress = { .progress = options->progress,
					       .context = options->context };
	struct table *table = flow->table;
	const struct suggestion *it;
	struct suggest *suggest;
	unsigned shown = 0;
	int status = -1;

	if (model_create(&flow->model, err))
		return -1;
	pass_add(&flow->passes, &model_pass, flow->model);
	if (suggest_create(&suggest, flow->model, err))
		goto out;
	pass_add(&flow->passes, &suggest_pass, suggest);
	if (model_listen(flow->model, &flow_loss_listener, flow, err) ||
	    pass_run(&flow->passes, flow->reader, &progress, err))
		goto out;
	*lost = flow->lost_events || flow->lost_packets;
	table_section(table, "suggestions", "Message links that the times suggest",
		      columns, COUNT_OF(columns));
	for (unsigned i = 0; (it = suggest_at(suggest, i)); i++)
		if (is_shown(flow, it)) {
			row(table, it);
			shown++;
		}
	if (options->format == TABLE_TEXT && shown)
		table_note(table, "Each is a guess, and no verb uses it. If one is right, annotate "
				  "it in the program: docs/answers/flow.md.");
	else if (options->format == TABLE_TEXT)
		table_note(table, "Nothing in the times of this trace suggests a link%s.",
			   selection_any(options->selection)
				   ? " that --node, --topic and --process select"
				   : "");
	status = shown ? KYMO_EXIT_OK : KYMO_EXIT_EMPTY;
out:
	passes_free(&flow->passes);
	return status;
}
