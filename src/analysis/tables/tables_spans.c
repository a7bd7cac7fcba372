/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Turns the events of programs (kymo.h) into rows. The row of a span comes at its end. Until then,
 * the arguments of its begin are kept on a stack per thread and custom track, as in spans.h.
 */
#include "analysis/tables/tables_internal.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"

struct span_stack {
	char *args[SPANS_DEPTH_MAX];	/* of the open spans: "\"name\":value,..."; NULL: none */
	unsigned depth;
};

/* ---- arguments as JSON ---- */

static void put_value(FILE *out, const struct spans_arg *arg)
{
	switch (arg->kind) {
	case SPANS_UNSIGNED:
	case SPANS_POINTER:
		fprintf(out, "%" PRIu64, arg->u);
		break;
	case SPANS_SIGNED:
		fprintf(out, "%" PRId64, arg->i);
		break;
	case SPANS_DOUBLE:
		if (isfinite(arg->f))
			fprintf(out, "%.17g", arg->f);
		else
			fputs("null", out);
		break;
	case SPANS_TEXT:
		text_put_json(out, arg->text ? arg->text : "");
		break;
	}
}

/* Return: the arguments of @event, without braces; NULL: no arguments, or out of memory. */
static char *args_text(struct tables_scan *scan, const struct spans_event *event)
{
	char *text = NULL;
	size_t size;
	FILE *out;

	if (!event->args)
		return NULL;
	out = open_memstream(&text, &size);
	for (unsigned i = 0; out && i < event->args; i++) {
		if (i)
			fputc(',', out);
		text_put_json(out, event->arg[i].name ? event->arg[i].name : "");
		fputc(':', out);
		put_value(out, &event->arg[i]);
	}
	if (out && !fclose(out))
		return text;
	free(text);
	scan->out_of_memory = true;
	return NULL;
}

/*
 * Joins the arguments of begin and end into one JSON object, which is valid as long as the queued
 * rows. Frees both texts.
 */
static const char *join(struct tables_scan *scan, char *begin, char *end)
{
	struct tables_texts *list = &scan->texts;
	char *text = NULL;

	if ((begin || end) && asprintf(&text, "{%s%s%s}", begin ? begin : "", begin && end ? "," : "",
				       end ? end : "") < 0)
		text = NULL;
	free(begin);
	free(end);
	if (!text)
		return NULL;
	if (!ARRAY_ROOM(list->item, list->count, list->size)) {
		scan->out_of_memory = true;
		free(text);
		return NULL;
	}
	list->item[list->count++] = text;
	return text;
}

void tables_spans_settle(struct tables_scan *scan)
{
	for (unsigned i = 0; i < scan->texts.count; i++)
		free(scan->texts.item[i]);
	scan->texts.count = 0;
}

void tables_spans_free(struct tables_scan *scan)
{
	const struct map_slot *slot;
	size_t at = 0;

	while ((slot = map_next(&scan->span_stacks, &at))) {
		struct span_stack *stack = slot->value;

		while (stack->depth)
			free(stack->args[--stack->depth]);
		free(stack);
	}
	map_free(&scan->span_stacks);
	tables_spans_settle(scan);
	free(scan->texts.item);
}

/* ---- rows ---- */

static struct span_stack *stack_of(struct tables_scan *scan, const struct spans_event *event)
{
	uint64_t key = event->track ? event->track->index : event->thread->index;
	struct span_stack *stack =
		map_at(&scan->span_stacks, key, event->track ? 1 : 0, sizeof(*stack));

	scan->out_of_memory |= !stack;
	return stack;
}

static void on_begin(void *context, const struct spans_event *event)
{
	struct tables_scan *scan = context;
	struct span_stack *stack = tables_wants(scan, TABLE_spans) ? stack_of(scan, event) : NULL;

	if (stack && stack->depth < SPANS_DEPTH_MAX)
		stack->args[stack->depth++] = args_text(scan, event);
}

static struct span_row *add(struct tables_scan *scan, enum tables_id table,
			    const struct spans_event *event)
{
	struct tables_row *row = tables_row_new(scan, table);

	if (!row)
		return NULL;
	row->span.event = *event;
	return &row->span;
}

static void on_end(void *context, const struct spans_event *event)
{
	struct tables_scan *scan = context;
	struct span_row *row = add(scan, TABLE_spans, event);
	struct span_stack *stack = row ? stack_of(scan, event) : NULL;

	if (!stack || !stack->depth)
		return;
	row->depth = --stack->depth;
	row->args = join(scan, stack->args[stack->depth], args_text(scan, event));
}

static void on_instant(void *context, const struct spans_event *event)
{
	struct span_row *row = add(context, TABLE_instants, event);

	if (row)
		row->args = join(context, args_text(context, event), NULL);
}

static void on_counter(void *context, const struct spans_event *event)
{
	struct span_row *row = add(context, TABLE_counters, event);

	if (row)
		row->args = join(context, args_text(context, event), NULL);
}

const struct spans_listener tables_spans_listener = {
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
	.counter = on_counter,
};

/* ---- cycles of loops ---- */

static void on_cycle(void *context, const struct loop_cycle *cycle)
{
	struct tables_row *row = tables_row_new(context, TABLE_loop_cycles);

	if (row)
		row->loop.cycle = *cycle;
}

int tables_loops_attach(struct tables_scan *scan, struct kymo_err *err)
{
	if (!tables_wants(scan, TABLE_loop_cycles))
		return 0;
	if (loops_create(&scan->loops, scan->spans, INT64_MIN, INT64_MAX, err))
		return -1;
	loops_listen(scan->loops, on_cycle, scan);
	return 0;
}
