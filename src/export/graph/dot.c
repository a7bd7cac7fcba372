/* SPDX-License-Identifier: Apache-2.0 */
/* The dependency graph as dot; see dot.h. */
#include "export/graph/dot.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/stats/stats_graph.h"
#include "analysis/symbol/symbol.h"
#include "base/text.h"

struct dot {
	const struct dot_options *options;
	struct dot_result *result;
	FILE *out;
	struct passes passes;			/* of: */
	struct model *model;
	struct graph *graph;
	bool *has_topic, *has_callback;		/* shown, by index */
};

/* ---- texts ---- */

/* Inside a quoted string: names are untrusted, so quotes, backslashes, and & of HTML's entities are
 * escaped. */
static void put_escaped(FILE *out, const char *text)
{
	char clean[1024];

	text_clean(clean, sizeof(clean), text);
	for (text = clean; *text; text++) {
		if (*text == '"' || *text == '\\')
			fputc('\\', out);
		fputs(*text == '&' ? "&amp;" : (const char[]){ *text, 0 }, out);
	}
}

static void put_ns(FILE *out, const char *what, int64_t ns)
{
	char buffer[TEXT_QUANTITY_MAX];

	fprintf(out, "%s %s", what, text_ns(buffer, ns));
}

static void put_rate(FILE *out, uint64_t count, int64_t first_ns, int64_t last_ns)
{
	double rate = stats_rate(count, first_ns, last_ns);
	char buffer[TEXT_QUANTITY_MAX];

	fprintf(out, "\\n%" PRIu64, count);
	if (rate > 0)
		fprintf(out, ", %s Hz", text_f64(buffer, rate));
}

/* @untaken and @overwritten are numbers of messages; 0: not printed. */
static void put_flags(struct dot *dot, unsigned flags, uint64_t untaken, uint64_t overwritten)
{
	enum graph_flag flag;
	uint64_t count;

	if (flags)
		dot->result->unexpected++;
	for (unsigned bit = 0; flags >> bit; bit++) {
		flag = (enum graph_flag)(1u << bit);
		if (!(flags & flag))
			continue;
		count = flag == GRAPH_UNTAKEN       ? untaken
			: flag == GRAPH_OVERWRITTEN ? overwritten
						    : 0;
		fputs("\\n", dot->out);
		if (count)
			fprintf(dot->out, "%" PRIu64 " ", count);
		fputs(graph_flag_text(flag), dot->out);
	}
}

static const char *color(unsigned flags)
{
	/* A missing publisher or subscriber deserves attention; a loss or an unfinished run is
	 * worse. */
	if (flags & (GRAPH_UNTAKEN | GRAPH_OVERWRITTEN | GRAPH_UNFINISHED))
		return ", color=\"#c00000\", fontcolor=\"#c00000\", penwidth=2";
	return flags ? ", color=\"#c06000\", fontcolor=\"#c06000\", style=dashed" : "";
}

/* ---- what is shown ---- */

static bool is_plumbing(const char *topic)
{
	return strcmp(topic, "/rosout") == 0 || strcmp(topic, "/parameter_events") == 0;
}

static bool wants_topic(const struct dot *dot, const struct model_topic *topic)
{
	return selection_topic(dot->options->selection, topic->name) &&
	       (dot->options->all_topics || !is_plumbing(topic->name));
}

static bool wants_node(const struct dot *dot, const struct model_process *process,
		       const struct model_node *node)
{
	const struct selection *selection = dot->options->selection;

	return selection_node(selection, node ? node->full_name : NULL) &&
	       selection_process(selection, process->name, process->pid);
}

/* Each node has services of parameters, which hardly ever run: they are shown only if they ran. */
static bool wants_callback(const struct dot *dot, const struct model_callback *callback)
{
	const struct stats_callback *s = stats_callback(graph_stats(dot->graph), callback->index);
	bool ran = s->duration.count || s->unfinished;

	if (!wants_node(dot, callback->process, model_callback_node(callback)))
		return false;
	if (callback->subscription)
		return wants_topic(dot, callback->subscription->topic) &&
		       (ran || !callback->is_intra);
	return !(dot->options->selection && dot->options->selection->topic.count) &&
	       (ran || callback->timer || dot->options->all_topics);
}

/* A subscription with a ring buffer has two callbacks, and often only one of them runs. */
static bool is_spare(const struct dot *dot, const struct model_callback *callback)
{
	const struct stats *stats = graph_stats(dot->graph);

	if (!callback->subscription || stats_callback(stats, callback->index)->duration.count)
		return false;
	for (unsigned i = 0; i < model_count(dot->model, MODEL_CALLBACK); i++) {
		const struct model_callback *other = model_callback(dot->model, i);

		if (other != callback && other->subscription == callback->subscription &&
		    stats_callback(stats, i)->duration.count)
			return true;
	}
	return false;
}

static void choose(struct dot *dot)
{
	unsigned i;

	for (i = 0; i < model_count(dot->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(dot->model, i);

		if (!wants_callback(dot, callback) || is_spare(dot, callback))
			continue;
		dot->has_callback[i] = true;
		if (callback->subscription)
			dot->has_topic[callback->subscription->topic->index] = true;
	}
	for (i = 0; i < model_count(dot->model, MODEL_PUBLISHER); i++) {
		const struct model_publisher *publisher = model_publisher(dot->model, i);

		if (wants_node(dot, publisher->process, publisher->node) &&
		    wants_topic(dot, publisher->topic))
			dot->has_topic[publisher->topic->index] = true;
	}
}

/* ---- parts of the file ---- */

static void put_callback(struct dot *dot, const struct model_callback *callback)
{
	const struct stats_callback *s = stats_callback(graph_stats(dot->graph), callback->index);
	unsigned flags = graph_callback_flags(dot->graph, callback);
	char source[64], symbol[48];
	FILE *out = dot->out;

	dot->result->callbacks++;
	fprintf(out, "\t\tc%u [shape=box%s, label=\"%s ", callback->index, color(flags),
		model_callback_kind_name(callback));
	put_escaped(out, model_callback_source(callback, source, sizeof(source)));
	if (callback->is_intra)
		fputs(" (intra)", out);
	if (*callback->symbol) {
		fputs("\\n", out);
		put_escaped(out, symbol_short(callback->symbol, symbol, sizeof(symbol)));
	}
	if (s->duration.count) {
		put_rate(out, s->duration.count, s->first_ns, s->last_ns);
		put_ns(out, "\\np50", (int64_t)histogram_quantile(&s->duration, 0.5));
		put_ns(out, ", max", (int64_t)s->duration.max);
	}
	put_flags(dot, flags, 0, 0);
	fputs("\"];\n", out);
}

static void put_cluster(struct dot *dot, const struct model_node *node)
{
	bool begun = false;
	unsigned i;

	for (i = 0; i < model_count(dot->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(dot->model, i);

		if (!dot->has_callback[i] || model_callback_node(callback) != node)
			continue;
		if (!begun) {
			fprintf(dot->out, "\tsubgraph cluster_%u {\n\t\tlabel=\"",
				node ? node->index : UINT32_MAX);
			put_escaped(dot->out, node ? node->full_name : "(node unknown)");
			if (node)
				fprintf(dot->out, " (%d)", node->process->pid);
			fputs("\";\n", dot->out);
		}
		begun = true;
		put_callback(dot, callback);
	}
	if (begun)
		fputs("\t}\n", dot->out);
}

static void put_topic(struct dot *dot, const struct model_topic *topic)
{
	const struct stats_topic *s = stats_topic(graph_stats(dot->graph), topic->index);
	unsigned flags = graph_topic_flags(dot->graph, topic);
	FILE *out = dot->out;

	dot->result->topics++;
	fprintf(out, "\tt%u [shape=ellipse%s, label=\"", topic->index, color(flags));
	put_escaped(out, *topic->name ? topic->name : "(unknown)");
	if (s->published)
		put_rate(out, s->published, s->first_ns, s->last_ns);
	if (s->latency.count) {
		put_ns(out, "\\nlatency p50", (int64_t)histogram_quantile(&s->latency, 0.5));
		put_ns(out, ", max", (int64_t)s->latency.max);
	}
	put_flags(dot, flags, s->untaken, s->overwritten + s->cleared);
	fputs("\"];\n", out);
}

/* The publisher is a callback, or outside of callbacks the node itself. */
static void put_publishing(struct dot *dot, const struct intervals_publications *p)
{
	const struct model_node *node = p->publisher->node;
	FILE *out = dot->out;

	if (!dot->has_topic[p->publisher->topic->index])
		return;
	if (p->callback && dot->has_callback[p->callback->index]) {
		fprintf(out, "\tc%u -> t%u [label=\"%" PRIu64 "\"];\n", p->callback->index,
			p->publisher->topic->index, p->count);
		return;
	}
	if (!wants_node(dot, p->publisher->process, node) || p->callback)
		return;
	fprintf(out, "\tp%u [shape=plaintext, label=\"", p->publisher->index);
	put_escaped(out, node ? node->full_name : "(node unknown)");
	fprintf(out, "\\noutside of callbacks\"];\n\tp%u -> t%u [label=\"%" PRIu64 "\"];\n",
		p->publisher->index, p->publisher->topic->index, p->count);
}

static void put_delivery(struct dot *dot, const struct model_callback *callback)
{
	const struct graph_delivery *delivery = graph_delivery(dot->graph, callback->index);
	FILE *out = dot->out;

	if (!callback->subscription || !dot->has_topic[callback->subscription->topic->index])
		return;
	fprintf(out, "\tt%u -> c%u [", callback->subscription->topic->index, callback->index);
	if (!delivery->count) {
		fputs("style=dashed];\n", out);
		return;
	}
	fprintf(out, "label=\"%" PRIu64, delivery->count);
	if (delivery->latency.count) {
		put_ns(out, "\\np50", (int64_t)histogram_quantile(&delivery->latency, 0.5));
		put_ns(out, "\\nmax", (int64_t)delivery->latency.max);
	}
	fputs("\"];\n", out);
}

static void put_graph(struct dot *dot)
{
	FILE *out = dot->out;
	unsigned i;

	fputs("digraph kymo {\n\trankdir=LR;\n\tnode [fontname=\"sans-serif\", fontsize=10];\n"
	      "\tedge [fontname=\"sans-serif\", fontsize=9];\n"
	      "\tgraph [fontname=\"sans-serif\", fontsize=11, style=rounded, color=\"#808080\"];\n"
	      "\tlabelloc=t;\n\tlabel=\"", out);
	put_escaped(out, dot->options->title ? dot->options->title : "");
	if (dot->result->lost_events || dot->result->lost_packets)
		fprintf(out, "\\n%" PRIu64 " events and %" PRIu64 " packets were lost: counts are too low",
			dot->result->lost_events, dot->result->lost_packets);
	fputs("\";\n", out);
	for (i = 0; i < model_count(dot->model, MODEL_NODE); i++)
		put_cluster(dot, model_node(dot->model, i));
	put_cluster(dot, NULL);
	for (i = 0; i < model_count(dot->model, MODEL_TOPIC); i++)
		if (dot->has_topic[i])
			put_topic(dot, model_topic(dot->model, i));
	for (i = 0; i < intervals_publications_count(graph_intervals(dot->graph)); i++)
		put_publishing(dot, intervals_publications(graph_intervals(dot->graph), i));
	for (i = 0; i < model_count(dot->model, MODEL_CALLBACK); i++)
		if (dot->has_callback[i])
			put_delivery(dot, model_callback(dot->model, i));
	fputs("}\n", out);
}

/* ---- all of it ---- */

static int read_trace(struct dot *dot, struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct dot_options *options = dot->options;
	const struct pass_options progress = { .progress = options->progress,
					       .context = options->context };

	if (model_create(&dot->model, err))
		return -1;
	pass_add(&dot->passes, &model_pass, dot->model);
	if (graph_create(&dot->graph, dot->model, options->begin_ns, options->end_ns, err))
		return -1;
	pass_add(&dot->passes, &graph_pass, dot->graph);
	if (pass_run(&dot->passes, reader, &progress, err))
		return -1;
	dot->has_topic = calloc(model_count(dot->model, MODEL_TOPIC) + 1, sizeof(*dot->has_topic));
	dot->has_callback = calloc(model_count(dot->model, MODEL_CALLBACK) + 1,
				   sizeof(*dot->has_callback));
	return dot->has_topic && dot->has_callback ? 0 : err_no_memory(err);
}

int dot_export(struct kymo_ctf_reader *reader, FILE *out, const struct dot_options *options,
	       struct dot_result *result, struct kymo_err *err)
{
	struct dot dot = { .options = options, .result = result, .out = out };
	int status = -1;

	*result = (struct dot_result){ 0 };
	if (!read_trace(&dot, reader, err)) {
		result->events = model_facts(dot.model)->events;
		result->lost_events = stats_lost_events(graph_stats(dot.graph));
		if (result->lost_events < options->told_lost)
			result->lost_events = options->told_lost;
		result->lost_packets = stats_lost_packets(graph_stats(dot.graph));
		choose(&dot);
		put_graph(&dot);
		status = ferror(out) ? err_set(err, KYMO_EXIT_FAILED, "cannot write the graph") : 0;
	}
	free(dot.has_topic);
	free(dot.has_callback);
	passes_free(&dot.passes);
	return status;
}
