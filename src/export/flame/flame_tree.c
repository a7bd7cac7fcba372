/* SPDX-License-Identifier: Apache-2.0 */
/* The frames of a flame graph, from spans or from functions; see flame_internal.h. */
#include <inttypes.h>
#include <string.h>

#include "analysis/model/model.h"
#include "export/flame/flame_internal.h"

#define LABEL_MAX 1024

static struct flame_box *add(struct pool *pool, struct flame_box *parent, const char *label,
			     const char *group)
{
	struct flame_box *frame = pool_new(pool, sizeof(*frame));

	if (!frame)
		return NULL;
	frame->label = pool_text(pool, label, strlen(label));
	frame->group = group ? pool_text(pool, group, strlen(group)) : NULL;
	if (!frame->label || (group && !frame->group))
		return NULL;
	frame->parent = parent;
	frame->depth = parent ? parent->depth + 1 : 0;
	if (!parent)
		return frame;
	if (parent->last)
		parent->last->next = frame;
	else
		parent->first = frame;
	parent->last = frame;
	return frame;
}

/* ---- spans ---- */

/* SPANS_DEPTH_MAX bounds the recursion. */
static struct flame_box *add_spans(struct pool *pool, struct flame_box *parent,
				   const struct spans_frame *spans)
{
	char label[512];
	struct flame_box *frame = add(pool, parent, spans_frame_label(spans, label, sizeof(label)),
				      spans->name ? spans->name->category : NULL);

	if (!frame)
		return NULL;
	frame->total_ns = spans->total_ns;
	frame->self_ns = spans->self_ns;
	frame->count = spans->spans;
	for (const struct spans_frame *inner = spans->first; inner; inner = inner->next)
		if (!inner->is_sleep && !add_spans(pool, frame, inner))
			return NULL;
	return frame;
}

struct flame_box *flame_of_spans(struct pool *pool, const struct spans_frame *root)
{
	return add_spans(pool, NULL, root);
}

/* ---- functions ---- */

struct flame_functions {
	struct pool *pool;
	struct profile *profile;
	const struct kymo_ctf_reader *reader;
	const struct model *model;
	const struct profile_thread *thread;
};

static struct flame_box *add_call(const struct flame_functions *of, struct flame_box *parent,
				  const struct profile_call *call)
{
	char label[LABEL_MAX], address[32];
	const char *file, *name = profile_call_name(of->profile, of->reader, of->model, of->thread,
						    call, &file, label, sizeof(label));

	(void)snprintf(address, sizeof(address), "0x%" PRIx64, call->address);
	return add(of->pool, parent, name ? name : address, file ? file : "");
}

/* PROFILE_DEPTH_MAX bounds the recursion. What is around a callback has no frame in it; its own
 * time is the callback's. Return: false without memory. */
static bool add_calls(const struct flame_functions *of, struct flame_box *parent,
		      const struct profile_call *calls)
{
	struct flame_box *frame;

	for (const struct profile_call *call = calls; call; call = call->sibling) {
		frame = call->is_around ? parent : add_call(of, parent, call);
		if (!frame)
			return false;
		frame->self_ns += call->own_ns;
		if (!call->is_around)
			frame->count += of->profile->sampled ? call->samples : call->calls;
		if (!add_calls(of, frame, call->child))
			return false;
	}
	return true;
}

/* SPANS and PROFILE_DEPTH_MAX bound the recursion. */
static int64_t add_up(struct flame_box *frame)
{
	frame->total_ns = frame->self_ns;
	for (struct flame_box *inner = frame->first; inner; inner = inner->next)
		frame->total_ns += add_up(inner);
	return frame->total_ns;
}

struct flame_box *flame_of_profile(struct pool *pool, struct profile *profile,
				   const struct kymo_ctf_reader *reader, const struct model *model)
{
	struct flame_functions of = { pool, profile, reader, model, NULL };
	struct flame_box *root = add(pool, NULL, "all", NULL), *frame;
	char label[LABEL_MAX];

	for (unsigned i = 0; root && (of.thread = profile_thread(profile, i)); i++) {
		if (!of.thread->has_functions || !of.thread->root)
			continue;
		(void)snprintf(label, sizeof(label), "thread %s (%" PRId32 ")", of.thread->os.name,
			       of.thread->os.tid);
		frame = add(pool, root, label, NULL);
		if (!frame || !add_calls(&of, frame, of.thread->root->child))
			return NULL;
	}
	if (root)
		(void)add_up(root);
	return root;
}
