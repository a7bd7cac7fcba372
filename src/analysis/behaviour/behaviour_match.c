/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which conditions of a file what happens in a trace fulfils. An object is compared with all
 * conditions when it is first seen; its bits are kept.
 */
#include <fnmatch.h>
#include <stdio.h>

#include "analysis/behaviour/behaviour_internal.h"

/* Those of @kinds whose glob is @text's, and whose node is @node. */
uint64_t behaviour_find(const struct behaviour *b, uint64_t kinds, const char *text,
			const struct model_node *node)
{
	uint64_t set = 0;

	for (; kinds; kinds &= kinds - 1) {
		const unsigned i = (unsigned)__builtin_ctzll(kinds);
		const struct condition *c = &b->file->condition[i];

		if (c->node && (!node || fnmatch(c->node, node->full_name, 0)))
			continue;
		if (text && fnmatch(c->glob, text, 0) == 0)
			set |= UINT64_C(1) << i;
	}
	return set;
}

/* The known bits of an object; NULL: they must be found, and go into *@unknown. */
static uint64_t *bits_of(struct behaviour *b, struct array *array, uint32_t index,
			 struct bits **unknown)
{
	struct bits *bits = array_at(array, index, sizeof(*bits));

	*unknown = NULL;
	if (!bits) {
		b->failed = true;
		return NULL;
	}
	if (!bits->known)
		*unknown = bits;
	bits->known = true;
	return &bits->set;
}

uint64_t behaviour_of_publisher(struct behaviour *b, const struct model_publisher *publisher)
{
	struct bits *unknown;
	const uint64_t *set = bits_of(b, &b->publishers, publisher->index, &unknown);

	if (unknown)
		unknown->set = behaviour_find(b, b->kind[ON_PUBLISH],
					      publisher->topic ? publisher->topic->name : NULL,
					      publisher->node);
	return set ? *set : 0;
}

uint64_t behaviour_of_callback(struct behaviour *b, const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);
	struct bits *unknown;
	const uint64_t *set = bits_of(b, &b->callbacks, callback->index, &unknown);
	char label[512];

	if (unknown) {
		unknown->set =
			behaviour_find(b, b->kind[ON_START] | b->kind[ON_END],
				       model_callback_label(callback, label, sizeof(label)), node);
		if (callback->subscription && callback->subscription->topic)
			unknown->set |= behaviour_find(b, b->kind[ON_RECEIVE],
						       callback->subscription->topic->name, node);
	}
	return set ? *set : 0;
}

uint64_t behaviour_of_name(struct behaviour *b, const struct spans_name *name)
{
	struct bits *unknown;
	const uint64_t *set = bits_of(b, &b->names, name->index, &unknown);
	char text[512];

	if (unknown) {
		(void)snprintf(text, sizeof(text), "%s:%s", name->category, name->name);
		unknown->set = behaviour_find(
			b, b->kind[ON_SPAN_BEGIN] | b->kind[ON_SPAN_END] | b->kind[ON_INSTANT],
			text, NULL);
	}
	return set ? *set : 0;
}

uint64_t behaviour_of_class(struct behaviour *b, const struct kymo_ctf_event_class *class)
{
	struct bits *unknown;
	const uint64_t *set = bits_of(b, &b->classes, class->index, &unknown);

	if (unknown)
		unknown->set = behaviour_find(b, b->kind[ON_EVENT], class->name, NULL);
	return set ? *set : 0;
}
