/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parts of one cycle or span.
 *
 * The idea: at each moment one span is the innermost. The instance is cut where the innermost one
 * changes, and each piece again where the thread left or got a CPU, if the trace has the kernel's
 * events. Pieces of the same kind, span and culprit are one part. So the parts add up to the
 * duration, to the nanosecond, and the time of a span is its self time.
 *
 *   due |-- late --|== step ==|== plan ==|~ blocked ~|== plan ==|== step ==| end
 *                woke
 */
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "report/why/report_why_spans.h"

struct cut {
	const struct span_answer *answer;
	struct span_instance *instance;
	const struct model_thread *thread;
	const struct spans_name *of; /* the innermost span; NULL: before the thread woke */
	bool failed;
};

static bool is_same(const struct span_part *a, const struct span_part *b)
{
	const char *call = a->call ? a->call : "", *other = b->call ? b->call : "";

	return a->kind == b->kind && a->of == b->of && a->by_tid == b->by_tid &&
	       strcmp(a->by, b->by) == 0 && strcmp(call, other) == 0;
}

const struct span_part *why_spans_same(const struct span_parts *parts, const struct span_part *part)
{
	for (unsigned i = 0; i < parts->count; i++)
		if (is_same(&parts->part[i], part))
			return &parts->part[i];
	return NULL;
}

static void add(struct cut *cut, struct span_part piece)
{
	struct span_parts *parts = &cut->instance->parts;
	struct span_part *same = (struct span_part *)why_spans_same(parts, &piece);

	if (piece.ns <= 0)
		return;
	if (same) {
		same->ns += piece.ns;
		same->pieces++;
		return;
	}
	if (!ARRAY_ROOM(parts->part, parts->count, parts->room)) {
		cut->failed = true;
		return;
	}
	piece.pieces = 1;
	parts->part[parts->count++] = piece;
}

static void on_spell(void *context, const struct why_spell *spell)
{
	struct cut *cut = context;
	struct span_part piece = {
		.kind = cut->of ? SPAN_RUNNING : SPAN_LATE,
		.of = cut->of ? cut->of : NULL,
		.ns = spell->to_ns - spell->from_ns,
		.begin_ns = spell->from_ns,
	};

	/* Before it woke, it slept: that is what a loop does. */
	if (spell->state == WHY_READY || (spell->state == WHY_ASLEEP && cut->of)) {
		piece.kind = spell->state == WHY_READY ? SPAN_PREEMPTED : SPAN_BLOCKED;
		piece.by_tid = spell->by_tid;
		memcpy(piece.by, spell->by, sizeof(piece.by));
	}
	if (piece.kind == SPAN_BLOCKED)
		piece.call = why_call(cut->answer->cpu, cut->thread, spell->from_ns, spell->to_ns);
	add(cut, piece);
}

/* From @from_ns to @to_ns, @of is the innermost span. */
static void cut_piece(struct cut *cut, const struct spans_name *of, int64_t from_ns, int64_t to_ns)
{
	cut->of = of;
	if (from_ns >= to_ns)
		return;
	if (cut->answer->cpu && cut->thread)
		why_spells(cut->answer->cpu, cut->thread, from_ns, to_ns, on_spell, cut);
	else
		add(cut, (struct span_part){ .kind = of ? SPAN_RUNNING : SPAN_LATE,
					     .of = of,
					     .ns = to_ns - from_ns,
					     .begin_ns = from_ns });
}

/* Outer spans before inner ones. */
static int by_begin(const void *a, const void *b)
{
	const struct span_inner *one = a, *other = b;

	if (one->begin_ns != other->begin_ns)
		return one->begin_ns < other->begin_ns ? -1 : 1;
	return one->end_ns > other->end_ns ? -1 : one->end_ns < other->end_ns;
}

static void cut_spans(struct cut *cut)
{
	struct span_instance *instance = cut->instance;
	const struct span_inner *open[SPANS_DEPTH_MAX];
	int64_t now = instance->woke_ns;
	unsigned depth = 0;

	for (unsigned i = 0; i < instance->inners; i++) {
		const struct span_inner *next = &instance->inner[i];

		while (depth && open[depth - 1]->end_ns <= next->begin_ns) {
			cut_piece(cut, open[depth - 1]->name, now, open[depth - 1]->end_ns);
			now = open[--depth]->end_ns;
		}
		if (depth == SPANS_DEPTH_MAX)
			break;
		if (depth)
			cut_piece(cut, open[depth - 1]->name, now, next->begin_ns);
		now = next->begin_ns;
		open[depth++] = next;
	}
	while (depth) {
		cut_piece(cut, open[depth - 1]->name, now, open[depth - 1]->end_ns);
		now = open[--depth]->end_ns;
	}
}

int why_spans_cut(const struct span_answer *answer, struct span_instance *instance)
{
	struct cut cut = { .answer = answer, .instance = instance };

	/* Several threads may have spans on one track, so nothing is known about a CPU. */
	if (instance->track == UINT32_MAX)
		cut.thread = model_thread(answer->model, instance->thread);
	if (instance->inners)
		qsort(instance->inner, instance->inners, sizeof(*instance->inner), by_begin);
	cut_piece(&cut, NULL, instance->begin_ns, instance->woke_ns);
	cut_spans(&cut);
	return cut.failed ? -1 : 0;
}
