/* SPDX-License-Identifier: Apache-2.0 */
/* The runs of all callbacks while the instances that are taken apart were under way; see why.h. */
#include <stdlib.h>
#include <string.h>

#include "analysis/why/why.h"

struct why_others {
	struct why_window *window;
	unsigned windows;
	struct why_other *run;
	unsigned count, size;
	bool failed;
};

static bool is_inside(const struct why_others *others, int64_t start_ns, int64_t end_ns)
{
	for (unsigned i = 0; i < others->windows; i++)
		if (start_ns < others->window[i].end_ns && end_ns > others->window[i].begin_ns)
			return true;
	return false;
}

static void add(struct why_others *others, const struct model_instance *instance, int64_t end_ns)
{
	struct why_other *grown;
	unsigned size;

	if (instance->depth || !is_inside(others, instance->start_ns, end_ns))
		return;
	if (others->count == others->size) {
		size = others->size ? others->size * 2 : 256;
		grown = realloc(others->run, size * sizeof(*grown));
		if (!grown) {
			others->failed = true;
			return;
		}
		others->run = grown;
		others->size = size;
	}
	others->run[others->count++] = (struct why_other){
		instance->callback, instance->thread, instance->start_ns, end_ns,
	};
}

/* A run without an end is not known to have held anybody up: it is left out. */
static void on_instance(void *context, const struct model_instance *instance)
{
	add(context, instance, instance->start_ns + instance->duration_ns);
}

static const struct model_listener listener = { .instance = on_instance };

int why_others_create(struct why_others **others, struct model *model, const struct why_window *window,
		      unsigned windows)
{
	struct why_others *new = calloc(1, sizeof(*new));

	*others = new;
	if (!new)
		return -1;
	new->windows = windows;
	new->window = malloc((windows ? windows : 1) * sizeof(*window));
	if (!new->window || model_listen(model, &listener, new)) {
		why_others_destroy(new);
		*others = NULL;
		return -1;
	}
	memcpy(new->window, window, windows * sizeof(*window));
	return 0;
}

void why_others_destroy(struct why_others *others)
{
	if (!others)
		return;
	free(others->window);
	free(others->run);
	free(others);
}

static int by_start(const void *a, const void *b)
{
	const struct why_other *x = a, *y = b;

	return x->start_ns < y->start_ns ? -1 : x->start_ns > y->start_ns;
}

int why_others_finish(struct why_others *others)
{
	if (others->count)
		qsort(others->run, others->count, sizeof(*others->run), by_start);
	return others->failed ? -1 : 0;
}

const struct why_other *why_other(const struct why_others *others, unsigned index)
{
	return index < others->count ? &others->run[index] : NULL;
}
