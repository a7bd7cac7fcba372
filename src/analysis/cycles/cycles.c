/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counter values of callbacks and threads; see cycles.h.
 *
 * The idea: collect the runs of a thread until the count of the present stretch comes. Then charge
 * each of these runs, and each open run, with the part of the count that corresponds to the time of
 * the run in the stretch.
 */
#include "analysis/cycles/cycles.h"

#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/order.h"

#define PIECES_MAX 4096u	/* runs in one stretch that are kept individually */

enum { CYCLES, CLOCK, ROWS };
enum { TID, NS, COUNT };
static const struct kymo_ctf_bind rows[ROWS] = {
	[CYCLES] = { "cpu-cycles", { "tid", "ns", "count" } },
	[CLOCK] = { "cpu-clock", { "tid", "ns", "count" } },
};

/* A run that has not ended. */
struct cycles_open {
	uint64_t id;
	uint32_t callback;
	int64_t from_ns;
	struct cycles_open *outer;
};

/* A run that ended during the present stretch; at the limit, several runs of the same callback. */
struct piece {
	uint32_t callback;
	int64_t from_ns, to_ns;
	int64_t ns;			/* without the time between several runs */
};

struct cycles_self {
	struct cycles_thread pub;	/* must be the first member */
	struct cycles_open *open;		/* the innermost */
	struct piece *piece;
	unsigned pieces, room;
};

struct cycles {
	const struct kymo_ctf_reader *reader;
	struct map selves;		/* (tid, host) -> struct cycles_self */
	struct cycles_self **self;
	uint32_t self_count, self_room;
	struct cycles_sum *callback;	/* by index */
	uint32_t callbacks;
	int64_t begin_ns, end_ns;
	unsigned first;			/* row */
	bool failed;
};

const char *cycles_name(const struct kymo_ctf_reader *reader)
{
	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		for (unsigned row = 0; row < ROWS; row++)
			if (strcmp(kymo_ctf_class(reader, i)->name, rows[row].event) == 0)
				return rows[row].event;
	return NULL;
}

/* Traces with the same host name are of one host. */
static uint32_t host_named(const struct cycles *cycles, const char *hostname)
{
	uint32_t i;

	for (i = 0; i < kymo_ctf_trace_count(cycles->reader); i++)
		if (strcmp(kymo_ctf_trace(cycles->reader, i)->hostname, hostname) == 0)
			break;
	return i;
}

static struct cycles_self *self_new(struct cycles *cycles, const struct model_thread *thread,
			     uint32_t host)
{
	struct cycles_self *self;

	if (!ARRAY_ROOM(cycles->self, cycles->self_count, cycles->self_room))
		return NULL;
	self = calloc(1, sizeof(*self));
	if (!self || map_put(&cycles->selves, (uint32_t)thread->tid, host, self)) {
		free(self);
		return NULL;
	}
	self->pub.thread = thread;
	return cycles->self[cycles->self_count++] = self;
}

static struct cycles_self *self_of(struct cycles *cycles, const struct model_thread *thread)
{
	uint32_t host = host_named(cycles, thread->process->hostname);
	struct cycles_self *self = map_get(&cycles->selves, (uint32_t)thread->tid, host);

	if (!self)
		self = self_new(cycles, thread, host);
	cycles->failed |= !self;
	return self;
}

static struct cycles_sum *callback_at(struct cycles *cycles, uint32_t index)
{
	struct cycles_sum *callback = ARRAY_AT(cycles->callback, cycles->callbacks, index);

	cycles->failed |= !callback;
	return callback;
}

/* ---- runs ---- */

static void on_started(void *context, const struct model_instance *instance)
{
	struct cycles *cycles = context;
	struct cycles_self *self = self_of(cycles, instance->thread);
	struct cycles_open *open = self ? malloc(sizeof(*open)) : NULL;

	if (!open) {
		cycles->failed = true;
		return;
	}
	*open = (struct cycles_open){ instance->id, instance->callback->index, instance->start_ns,
				      self->open };
	self->open = open;
}

/* At the limit: add the run to the latest piece of its callback. */
static void merge(struct cycles_self *self, const struct piece *run)
{
	for (unsigned i = self->pieces; i-- > 0;)
		if (self->piece[i].callback == run->callback) {
			self->piece[i].to_ns = run->to_ns;
			self->piece[i].ns += run->ns;
			return;
		}
}

static void add_piece(struct cycles *cycles, struct cycles_self *self, const struct piece *run)
{
	if (self->pieces == PIECES_MAX)
		merge(self, run);
	else if (ARRAY_ROOM(self->piece, self->pieces, self->room))
		self->piece[self->pieces++] = *run;
	else
		cycles->failed = true;
}

/* Nested runs without an end are over, too. */
static void on_end(void *context, const struct model_instance *instance)
{
	struct cycles *cycles = context;
	struct cycles_self *self = self_of(cycles, instance->thread);
	const int64_t end_ns = instance->start_ns + instance->duration_ns;
	struct cycles_open *open, *its;
	struct cycles_sum *callback;

	for (its = self ? self->open : NULL; its && its->id != instance->id; its = its->outer)
		;
	if (!its)
		return;
	while ((open = self->open) != its) {
		self->open = open->outer;
		free(open);
	}
	self->open = its->outer;
	free(its);
	if (instance->duration_ns < 0)
		return;
	add_piece(cycles, self,
		  &(struct piece){ instance->callback->index, instance->start_ns, end_ns,
				   instance->duration_ns });
	callback = end_ns >= cycles->begin_ns && end_ns <= cycles->end_ns
			   ? callback_at(cycles, instance->callback->index)
			   : NULL;
	if (!callback)
		return;
	callback->runs++;
	self->pub.sum.runs++;
}

static const struct model_listener listener = { .started = on_started,
						.instance = on_end,
						.unfinished = on_end };

/* ---- stretches ---- */

static void charge(struct cycles *cycles, uint32_t index, int64_t part_ns, int64_t ns,
		   int64_t count)
{
	struct cycles_sum *callback = part_ns > 0 ? callback_at(cycles, index) : NULL;

	if (!callback)
		return;
	part_ns = part_ns < ns ? part_ns : ns;	/* it can be larger only in a damaged trace */
	callback->ns += part_ns;
	callback->count += (double)count * ((double)part_ns / (double)ns);
}

/* The thread was on a CPU for @ns until now, and the counter counted @count. */
static void stretch(struct cycles *cycles, struct cycles_self *self, int64_t now_ns, int64_t ns,
		    int64_t count)
{
	const int64_t from_ns = now_ns - ns;
	const bool counts = now_ns >= cycles->begin_ns && now_ns <= cycles->end_ns;

	for (unsigned i = 0; i < self->pieces; i++) {
		const struct piece *piece = &self->piece[i];
		const bool inside = piece->to_ns > from_ns;

		self->pub.inside += inside;
		self->pub.outside += !inside;
		if (counts && inside)
			charge(cycles, piece->callback,
			       lesser(piece->ns,
				      piece->to_ns - larger(piece->from_ns, from_ns)),
			       ns, count);
	}
	for (const struct cycles_open *open = self->open; counts && open; open = open->outer)
		charge(cycles, open->callback, now_ns - larger(open->from_ns, from_ns), ns, count);
	self->pieces = 0;
	if (counts) {
		self->pub.sum.count += (double)count;
		self->pub.sum.ns += ns;
	}
}

static int cycles_event(struct cycles *cycles, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct cycles_self *self;

	if (event->bound < (int)cycles->first || event->bound >= (int)(cycles->first + ROWS) ||
	    !value[TID].present || !value[NS].present || !value[COUNT].present)
		return cycles->failed ? -1 : 0;
	self = map_get(&cycles->selves, (uint32_t)value[TID].i,
		       host_named(cycles, kymo_ctf_trace(cycles->reader, event->trace)->hostname));
	if (self && value[NS].i > 0 && value[NS].i <= event->ns && value[COUNT].i >= 0)
		stretch(cycles, self, event->ns, value[NS].i, value[COUNT].i);
	return cycles->failed ? -1 : 0;
}

/* ---- life cycle and queries ---- */

static void cycles_window(struct cycles *cycles, int64_t begin_ns, int64_t end_ns)
{
	cycles->begin_ns = begin_ns;
	cycles->end_ns = end_ns;
}

static void cycles_destroy(struct cycles *cycles)
{
	struct cycles_open *open;

	if (!cycles)
		return;
	for (uint32_t i = 0; i < cycles->self_count; i++) {
		while ((open = cycles->self[i]->open)) {
			cycles->self[i]->open = open->outer;
			free(open);
		}
		free(cycles->self[i]->piece);
		free(cycles->self[i]);
	}
	free(cycles->self);
	free(cycles->callback);
	map_free(&cycles->selves);
	free(cycles);
}

int cycles_create(struct cycles **out, struct model *model, const struct kymo_ctf_reader *reader,
		  struct kymo_err *err)
{
	struct cycles *cycles = calloc(1, sizeof(*cycles));

	if (!cycles)
		return err_no_memory(err);
	cycles->reader = reader;
	cycles_window(cycles, INT64_MIN, INT64_MAX);
	if (model_listen(model, &listener, cycles, err) ||
	    model_bind_also(model, rows, ROWS, &cycles->first, err)) {
		cycles_destroy(cycles);
		return -1;
	}
	*out = cycles;
	return 0;
}

PASS_EVENT(cycles)
PASS_WINDOW(cycles)
PASS_DESTROY(cycles)
const struct pass_ops cycles_pass = {
	.turn = PASS_BEFORE_SPANS,
	.window = cycles_pass_window,
	.event = cycles_pass_event,
	.destroy = cycles_pass_destroy,
};

const struct cycles_sum *cycles_callback(const struct cycles *cycles, uint32_t index)
{
	return index < cycles->callbacks && cycles->callback[index].ns > 0
		       ? &cycles->callback[index]
		       : NULL;
}

const struct cycles_thread *cycles_thread(const struct cycles *cycles, uint32_t index)
{
	return index < cycles->self_count ? &cycles->self[index]->pub : NULL;
}

bool cycles_thread_is_known(const struct cycles_thread *thread)
{
	return thread->inside > 9 * thread->outside;
}
