/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of a trace: reads it, and writes the tree of spans as folded stacks or as SVG. */
#include "export/flame/flame.h"

#include <inttypes.h>

#include "analysis/pass/pass.h"
#include "export/flame/flame_internal.h"

struct flame {
	const struct flame_options *options;
	struct flame_result *result;
};

static void on_loss(void *context, const struct model_loss *loss)
{
	struct flame *flame = context;

	flame->result->lost_events += loss->events;
	flame->result->lost_packets += loss->packets;
}

static const struct model_listener loss_listener = { .loss = on_loss };

/* ---- folded stacks ---- */

/* A semicolon ends a frame, and a line end the stack. */
static void put_folded(FILE *out, const char *text)
{
	for (; *text; text++)
		fputc(*text == ';' ? ':' : (unsigned char)*text < ' ' ? '?' : *text, out);
}

static void put_stack(FILE *out, const struct spans_frame *frame)
{
	char label[512];

	if (frame->parent->parent) {
		put_stack(out, frame->parent);
		fputc(';', out);
	}
	put_folded(out, spans_frame_label(frame, label, sizeof(label)));
}

static void folded(FILE *out, const struct spans_frame *frame)
{
	if (frame->parent && frame->self_ns > 0) {
		put_stack(out, frame);
		fprintf(out, " %" PRId64 "\n", frame->self_ns);
	}
	for (const struct spans_frame *inner = frame->first; inner; inner = inner->next)
		if (!inner->is_sleep)
			folded(out, inner);
}

/* What is in the graph; SPANS_DEPTH_MAX bounds the recursion. */
static void count(struct flame_result *result, const struct spans_frame *frame)
{
	result->spans += frame->spans;
	result->stacks += frame->self_ns > 0;
	for (const struct spans_frame *inner = frame->first; inner; inner = inner->next)
		if (!inner->is_sleep)
			count(result, inner);
}

/* ---- the pass ---- */

/* Return: the root of the tree, valid as long as @passes; NULL with @err. */
static const struct spans_frame *read_trace(struct flame *flame, struct passes *passes,
					    struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const struct pass_options progress = { .progress = flame->options->progress,
					       .context = flame->options->context };
	struct model *model;
	struct spans *spans;
	struct loops *loops;
	struct spans_tree *tree;
	const struct spans_frame *root;

	if (model_create(&model, err))
		return NULL;
	pass_add(passes, &model_pass, model);
	if (spans_create(&spans, model, err))
		return NULL;
	pass_add(passes, &spans_pass, spans);
	if (loops_create(&loops, spans, INT64_MIN, INT64_MAX, err))
		return NULL;
	pass_add(passes, &loops_pass, loops);
	if (spans_tree_create(&tree, spans, flame->options->begin_ns, flame->options->end_ns, err))
		return NULL;
	pass_add(passes, &spans_tree_pass, tree);
	if (model_listen(model, &loss_listener, flame)) {
		(void)err_no_memory(err);
		return NULL;
	}
	if (pass_run(passes, reader, &progress, err))
		return NULL;
	root = spans_tree_root(tree, loops);
	if (!root)
		(void)err_no_memory(err);
	return root;
}

int flame_export(struct kymo_ctf_reader *reader, FILE *out, const struct flame_options *options,
		 struct flame_result *result, struct kymo_err *err)
{
	struct flame flame = { .options = options, .result = result };
	struct passes passes = { 0 };
	const struct spans_frame *root;

	*result = (struct flame_result){ 0 };
	root = read_trace(&flame, &passes, reader, err);
	if (root) {
		count(result, root);
		if (options->folded)
			folded(out, root);
		else
			flame_svg(out, root, options->title);
		if (options->told_lost > result->lost_events)
			result->lost_events = options->told_lost;
	}
	passes_free(&passes);
	return root ? 0 : -1;
}
