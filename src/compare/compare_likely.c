/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Likely renames: old names that only the base side has, and the new names that they may have got.
 *
 * A name is cut into parts: the steps of a chain, and each step into the node and its topic, timer
 * or service. A part that no name of the other side contains may have been renamed.
 *
 * Each pair of a gone and a new entity of the same kind is compared. Their names must have at least
 * one equal part, and may differ only in parts that may have been renamed. Their rates must be
 * similar. Then the pair gives one vote to the rename "A to B" of each differing part. So a node is
 * recognised by its topics and timers, and by its neighbours in chains.
 *
 * A rename is elected if it has more votes than any other rename of A, and than any other rename to
 * B; if two have equally many, neither is elected. It is listed if, with all elected renames, at
 * least half of the gone entities that contain A have the name of a new entity.
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "compare/compare_internal.h"

#define PARTS_MAX 64u
#define RATE_RATIO 1.5
#define RATE_COUNT_LEAST 10.0

struct part {
	const char *at;
	unsigned length;
};

/* The name of an entity, cut into parts. */
struct name {
	const struct summary_entity *entity;
	struct part part[PARTS_MAX];
	unsigned parts; /* 0: too many */
};

struct part_set {
	struct part *part; /* sorted */
	unsigned parts, size;
};

/* A rename, and the number of pairs of entities that it explains. */
struct vote {
	struct part old, new;
	unsigned votes;
};

struct likely {
	const struct comparing *c;
	struct name *gone, *appeared;
	struct part_set base, new; /* of all names of the first run of each side */
	struct vote *vote;
	unsigned votes, size;
};

static int part_order(const void *left, const void *right)
{
	const struct part *a = left, *b = right;
	const int order = strncmp(a->at, b->at, a->length < b->length ? a->length : b->length);

	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static bool is_same(const struct part *a, const struct part *b)
{
	return part_order(a, b) == 0;
}

static void add_part(struct name *name, const char *at, const char *end)
{
	if (at < end && name->parts < PARTS_MAX)
		name->part[name->parts++] = (struct part){ at, (unsigned)(end - at) };
	else if (at < end)
		name->parts = PARTS_MAX + 1;
}

/* Return: where @separator is before @end; @end if it is not. */
static const char *find_end(const char *at, const char *end, const char *separator)
{
	const char *found = memmem(at, (size_t)(end - at), separator, strlen(separator));

	return found ? found : end;
}

/* "/node /topic", "/node timer 25 ms", and of executors "process: /node, /node". */
static void cut_step(struct name *name, const char *at, const char *end)
{
	const char *next = find_end(at, end, " ");
	const char *comma = find_end(at, end, ", ");

	if (next < comma) {
		add_part(name, at, next);
		at = next + 1;
	}
	for (; at < end; at = comma < end ? comma + strlen(", ") : end) {
		comma = find_end(at, end, ", ");
		add_part(name, at, comma);
	}
}

static void cut(struct name *name, const struct summary_entity *entity)
{
	const char *at = entity->name, *all = at + strlen(at);

	name->entity = entity;
	name->parts = 0;
	while (at < all && name->parts <= PARTS_MAX) {
		const char *end = find_end(at, all, " -> ");

		cut_step(name, at, end);
		at = end < all ? end + strlen(" -> ") : all;
	}
	if (name->parts > PARTS_MAX)
		name->parts = 0;
}

/* ---- the parts of a side ---- */

static bool fill(struct part_set *set, const struct summary *run)
{
	struct name name;

	for (unsigned i = 0; i < run->entities; i++) {
		cut(&name, run->entity[i]);
		for (unsigned p = 0; p < name.parts; p++)
			if (!ARRAY_ADD(set->part, set->parts, set->size, name.part[p]))
				return false;
	}
	if (set->parts)
		qsort(set->part, set->parts, sizeof(*set->part), part_order);
	return true;
}

static bool has(const struct part_set *set, const struct part *part)
{
	return set->parts && bsearch(part, set->part, set->parts, sizeof(*set->part), part_order);
}

/* ---- votes of pairs of entities ---- */

/* Return: published messages or runs a second, else received messages; @count: their number. */
static double rate_of(const struct summary *run, const struct summary_entity *entity, double *count)
{
	const double seconds = (double)(run->end_ns - run->begin_ns) / 1e9;

	*count = (double)entity
			 ->count[entity->kind == SUMMARY_TOPIC ? SUMMARY_PUBLISHED : SUMMARY_RUNS];
	if (*count <= 0)
		*count = (double)entity->count[SUMMARY_RECEIVED];
	return seconds > 0 ? *count / seconds : 0;
}

/* Each entity is in all runs of its side: the first run stands for the others. */
static bool have_similar_rates(const struct likely *l, const struct summary_entity *gone,
			const struct summary_entity *appeared)
{
	double old_count, new_count;
	const double was = rate_of(l->c->run[0], gone, &old_count);
	const double is = rate_of(l->c->run[l->c->options->design.bases], appeared, &new_count);

	if (old_count < RATE_COUNT_LEAST || new_count < RATE_COUNT_LEAST)
		return old_count < RATE_COUNT_LEAST && new_count < RATE_COUNT_LEAST;
	return is <= was * RATE_RATIO && was <= is * RATE_RATIO;
}

static bool are_like(const struct likely *l, const struct name *gone, const struct name *appeared)
{
	unsigned equal = 0;

	if (gone->entity->kind != appeared->entity->kind || !gone->parts ||
	    gone->parts != appeared->parts)
		return false;
	for (unsigned i = 0; i < gone->parts; i++)
		if (is_same(&gone->part[i], &appeared->part[i]))
			equal++;
		else if (has(&l->new, &gone->part[i]) || has(&l->base, &appeared->part[i]))
			return false;
	return equal && have_similar_rates(l, gone->entity, appeared->entity);
}

static bool add_vote(struct likely *l, const struct part *old, const struct part *new)
{
	unsigned i = 0;

	while (i < l->votes && !(is_same(&l->vote[i].old, old) && is_same(&l->vote[i].new, new)))
		i++;
	if (i == l->votes &&
	    !ARRAY_ADD(l->vote, l->votes, l->size, (struct vote){ *old, *new, 0 }))
		return false;
	l->vote[i].votes++;
	return true;
}

static bool vote_all(struct likely *l)
{
	const struct comparison *out = l->c->out;

	for (unsigned g = 0; g < out->gones; g++)
		for (unsigned a = 0; a < out->appeareds; a++) {
			const struct name *gone = &l->gone[g], *appeared = &l->appeared[a];

			if (!are_like(l, gone, appeared))
				continue;
			for (unsigned i = 0; i < gone->parts; i++)
				if (!is_same(&gone->part[i], &appeared->part[i]) &&
				    !add_vote(l, &gone->part[i], &appeared->part[i]))
					return false;
		}
	return true;
}

/* Has @one more votes than each other rename of the same old part, or to the same new part? */
static bool is_elected(const struct likely *l, const struct vote *one)
{
	for (unsigned i = 0; i < l->votes; i++) {
		const struct vote *other = &l->vote[i];

		if (other != one && other->votes >= one->votes &&
		    (is_same(&other->old, &one->old) || is_same(&other->new, &one->new)))
			return false;
	}
	return true;
}

/* ---- the list of likely renames ---- */

static const struct part *new_of(const struct likely *l, const struct part *part)
{
	for (unsigned i = 0; i < l->votes; i++)
		if (is_same(&l->vote[i].old, part))
			return &l->vote[i].new;
	return part;
}

/* Has a new entity the name of @gone, after all elected renames? */
static bool is_found(const struct likely *l, const struct name *gone)
{
	for (unsigned a = 0; a < l->c->out->appeareds; a++) {
		const struct name *appeared = &l->appeared[a];
		unsigned i = 0;

		if (appeared->entity->kind != gone->entity->kind || appeared->parts != gone->parts)
			continue;
		while (i < gone->parts && is_same(new_of(l, &gone->part[i]), &appeared->part[i]))
			i++;
		if (i == gone->parts)
			return true;
	}
	return false;
}

static bool list_rename(struct likely *l, const struct vote *one, unsigned *size)
{
	struct comparison *out = l->c->out;
	struct compare_likely likely = { 0 };

	for (unsigned g = 0; g < out->gones; g++)
		for (unsigned i = 0; i < l->gone[g].parts; i++)
			if (is_same(&l->gone[g].part[i], &one->old)) {
				likely.of++;
				likely.found += is_found(l, &l->gone[g]);
				break;
			}
	if (2 * likely.found < likely.of)
		return true;
	if (!ARRAY_ROOM(out->likely, out->likelies, *size))
		return false;
	likely.old = strndup(one->old.at, one->old.length);
	likely.new = strndup(one->new.at, one->new.length);
	out->likely[out->likelies++] = likely;
	return likely.old && likely.new;
}

static int vote_order(const void *left, const void *right)
{
	const struct vote *a = left, *b = right;

	return part_order(&a->old, &b->old);
}

static bool list_all(struct likely *l)
{
	unsigned elected = 0, size = 0;
	struct vote *kept = calloc(l->votes + 1, sizeof(*kept));
	bool done = kept;

	for (unsigned i = 0; done && i < l->votes; i++)
		if (is_elected(l, &l->vote[i]))
			kept[elected++] = l->vote[i];
	if (done) {
		free(l->vote);
		l->vote = kept;
		l->votes = elected;
		qsort(kept, elected, sizeof(*kept), vote_order);
	}
	for (unsigned i = 0; done && i < l->votes; i++)
		done = list_rename(l, &l->vote[i], &size);
	return done;
}

bool compare_likely(struct comparing *c)
{
	const struct comparison *out = c->out;
	struct likely l = { .c = c };
	bool done;

	if (!out->gones || !out->appeareds)
		return true;
	l.gone = calloc(out->gones, sizeof(*l.gone));
	l.appeared = calloc(out->appeareds, sizeof(*l.appeared));
	done = l.gone && l.appeared && fill(&l.base, c->run[0]) &&
	       fill(&l.new, c->run[c->options->design.bases]);
	for (unsigned i = 0; done && i < out->gones; i++)
		cut(&l.gone[i], out->gone[i]);
	for (unsigned i = 0; done && i < out->appeareds; i++)
		cut(&l.appeared[i], out->appeared[i]);
	done = done && vote_all(&l) && list_all(&l);
	free(l.gone);
	free(l.appeared);
	free(l.base.part);
	free(l.new.part);
	free(l.vote);
	return done;
}
