/* SPDX-License-Identifier: Apache-2.0 */
/* The flame graph of a trace: reads it, and writes the tree as folded stacks or as SVG. */
#include "export/flame/flame.h"

#include <inttypes.h>

#include "analysis/pass/pass.h"
#include "export/flame/flame_internal.h"

struct flame {
	const struct flame_options *options;
	struct flame_result *result;
	struct pool pool; /* of the frames */
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

static void put_stack(FILE *out, const struct flame_box *frame)
{
	if (frame->parent->parent) {
		put_stack(out, frame->parent);
		fputc(';', out);
	}
	put_folded(out, frame->label);
}

static void folded(FILE *out, const struct flame_box *frame)
{
	if (frame->parent && frame->self_ns > 0) {
		put_stack(out, frame);
		fprintf(out, " %" PRId64 "\n", frame->self_ns);
	}
	for (const struct flame_box *inner = frame->first; inner; inner = inner->next)
		folded(out, inner);
}

/* What is in the graph; SPANS_DEPTH_MAX and PROFILE_DEPTH_MAX bound the recursion. */
static void count(struct flame_result *result, const struct flame_box *frame)
{
	result->spans += frame->count;
	result->stacks += frame->self_ns > 0;
	for (const struct flame_box *inner = frame->first; inner; inner = inner->next)
		count(result, inner);
}

/* ---- the pass ---- */

/* Return: the root of the tree, valid as long as @passes; NULL with @err. */
static const struct spans_frame *read_spans(struct flame *flame, struct passes *passes,
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
	if (model_listen(model, &loss_listener, flame, err) ||
	    pass_run(passes, reader, &progress, err))
		return NULL;
	root = spans_tree_root(tree, loops);
	if (!root)
		(void)err_no_memory(err);
	return root;
}

static struct flame_box *of_spans(struct flame *flame, struct kymo_ctf_reader *reader,
				    struct kymo_err *err)
{
	struct passes passes = { 0 };
	const struct spans_frame *root = read_spans(flame, &passes, reader, err);
	struct flame_box *frames = root ? flame_of_spans(&flame->pool, root) : NULL;

	if (root && !frames)
		(void)err_no_memory(err);
	passes_free(&passes);
	return frames;
}

/*
 * The functions of the trace: samples of call stacks, or entries and exits if it has none. The
 * trace is read twice: their events are others than those of the model, which names callbacks.
 */
static struct flame_box *of_functions(struct flame *flame, struct kymo_ctf_reader *reader,
					struct kymo_err *err)
{
	const struct pass_options progress = { .progress = flame->options->progress,
					       .context = flame->options->context };
	struct flame_box *frames = NULL;
	struct passes passes = { 0 }, again = { 0 };
	struct profile profile;
	struct model *model;

	if (model_create(&model, err))
		return NULL;
	pass_add(&passes, &model_pass, model);
	profile_init(&profile, reader, flame->options->begin_ns, flame->options->end_ns);
	profile.sampled = profile_has(reader, true);
	pass_add(&again, &profile_pass, &profile);
	if (!model_listen(model, &loss_listener, flame, err) &&
	    !pass_run(&passes, reader, &progress, err) &&
	    !pass_run(&again, reader, &progress, err)) {
		frames = flame_of_profile(&flame->pool, &profile, reader, model);
		if (!frames)
			(void)err_no_memory(err);
	}
	passes_free(&again);
	passes_free(&passes);
	return frames;
}

int flame_export(struct kymo_ctf_reader *reader, FILE *out, const struct flame_options *options,
		 struct flame_result *result, struct kymo_err *err)
{
	struct flame flame = { .options = options, .result = result };
	const struct flame_box *root;

	*result = (struct flame_result){ 0 };
	root = options->functions ? of_functions(&flame, reader, err)
				  : of_spans(&flame, reader, err);
	if (root) {
		count(result, root);
		if (options->folded)
			folded(out, root);
		else
			flame_svg(out, root, options->functions ? "functions" : "spans",
				  options->title);
		if (options->told_lost > result->lost_events)
			result->lost_events = options->told_lost;
	}
	pool_free(&flame.pool);
	return root ? 0 : -1;
}
