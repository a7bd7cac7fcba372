/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Spans of programs against hand-made event sequences: which end belongs to which begin, what a
 * loss, a callback, a custom track and the end of the trace do to what is open. What the listener
 * gets is written down as text, so that a test compares lines.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/spans/spans.h"
#include "analysis/spans/spans_stats.h"
#include "base/array.h"

#define OFFSET 1000000		/* epoch minus trace clock */

static const struct kymo_ctf_field at_fields[] = { { "at_ns", "u64" }, { "track", "u64" } };
static const struct kymo_ctf_field track_field[] = { { "track", "u64" } };
static const struct kymo_ctf_field args[] = { { "n", "i32" }, { "flow", "u64" }, { "text", "string" } };
static const struct kymo_ctf_field late_args[] = { { "more", "u64" }, { "text", "string" }, { "n", "i32" } };
static const struct kymo_ctf_field value_u[] = { { "value", "u32" } };
static const struct kymo_ctf_field value_f[] = { { "value", "f64" }, { "category", "string" }, { "name", "string" } };
static const struct kymo_ctf_field named[] = { { "category", "string" }, { "name", "string" } };
static const struct kymo_ctf_field a_track[] = { { "track", "u64" }, { "parent", "u64" }, { "name", "string" } };
static const struct kymo_ctf_field a_name[] = { { "name", "string" } };
static const struct kymo_ctf_field callback[] = { { "callback", "u64 (hex)" } };

#define CLASS(text, what, array)                                                          \
	{                                                                                 \
		.name = text, .uri = what, .field = array, .field_count = COUNT_OF(array) \
	}
#define PLAIN(text, what) { .name = text, .uri = what }

enum {
	A_BEGIN,
	A_END,
	B_BEGIN,
	B_END,
	ARGS,
	AT_BEGIN,
	AT_END,
	ON_BEGIN,
	ON_END,
	POINT,
	STRANGE,
	DEPTH,
	NAMED_BEGIN,
	NAMED_END,
	NAMED_COUNTER,
	TRACK,
	THREAD_NAME,
	CALL_START,
	CALL_END,
	CLASSES,
	/* Declared after the reader was bound. */
	LATE_BEGIN = CLASSES,
	LATE_END,
	LATE_ARGS,
	LATE_NEW,
	ALL_CLASSES
};

static struct kymo_ctf_event_class class[ALL_CLASSES] = {
	[A_BEGIN] = PLAIN("t:a_begin", "kymo:begin"), [A_END] = PLAIN("t:a_end", "kymo:end"),
	[B_BEGIN] = PLAIN("t:b_begin", "kymo:begin"), [B_END] = PLAIN("t:b_end", "kymo:end"),
	[ARGS] = CLASS("t:args", "kymo:instant", args),
	[AT_BEGIN] = CLASS("t:at_begin", "kymo:begin", at_fields),
	[AT_END] = CLASS("t:at_end", "kymo:end", at_fields),
	[ON_BEGIN] = CLASS("t:on_begin", "kymo:begin", track_field), [ON_END] = PLAIN("t:on_end", "kymo:end"),
	[POINT] = CLASS("t:point", "kymo:point", args), [STRANGE] = PLAIN("other:point", NULL),
	[DEPTH] = CLASS("t:depth", "kymo:counter", value_u),
	[NAMED_BEGIN] = CLASS("kymo:begin_begin", "kymo:begin", named),
	[NAMED_END] = PLAIN("kymo:begin_end", "kymo:end"),
	[NAMED_COUNTER] = CLASS("kymo:counter", "kymo:counter", value_f),
	[TRACK] = CLASS("kymo:track", "kymo:point", a_track),
	[THREAD_NAME] = CLASS("kymo:thread_name", NULL, a_name),	/* as older traces have it */
	[CALL_START] = CLASS("ros2:callback_start", NULL, callback),
	[CALL_END] = CLASS("ros2:callback_end", NULL, callback),
	[LATE_BEGIN] = PLAIN("t:a_begin", "kymo:begin"), [LATE_END] = PLAIN("t:a_end", "kymo:end"),
	[LATE_ARGS] = CLASS("t:args", "kymo:instant", late_args),
	[LATE_NEW] = PLAIN("t:new", "kymo:instant"),
};

struct seen {
	struct model *model;
	struct spans *spans;
	struct spans_stats *stats;
	char text[8192];
	int depth;		/* begins without end */
};

static void note(struct seen *s, const char *what, const struct spans_event *event)
{
	char *at = s->text + strlen(s->text);
	size_t room = sizeof(s->text) - strlen(s->text);

	at += snprintf(at, room, "%s %s:%s %d %ld%s%s", what, event->name->category, event->name->name,
		       event->thread->tid, (long)(event->ns - OFFSET), event->track ? " on " : "",
		       event->track ? event->track->name : "");
	for (unsigned i = 0; i < event->args; i++) {
		const struct spans_arg *arg = &event->arg[i];

		room = sizeof(s->text) - strlen(s->text);
		at += arg->kind == SPANS_TEXT ? snprintf(at, room, " %s=%s", arg->name, arg->text) :
						snprintf(at, room, " %s=%ld", arg->name, (long)arg->i);
	}
	(void)snprintf(at, sizeof(s->text) - strlen(s->text), "%s\n", event->unfinished ? " unfinished" : "");
}

static void on_begin(void *context, const struct spans_event *event)
{
	((struct seen *)context)->depth++;
	note(context, "begin", event);
}

static void on_end(void *context, const struct spans_event *event)
{
	assert_true(event->ns >= event->begin_ns);
	((struct seen *)context)->depth--;
	note(context, "end", event);
}

static void on_instant(void *context, const struct spans_event *event)
{
	note(context, "instant", event);
}

static void on_point(void *context, const struct spans_event *event)
{
	note(context, "point", event);
}

static void on_counter(void *context, const struct spans_event *event)
{
	struct seen *s = context;
	char value[32];

	(void)snprintf(value, sizeof(value), "%.10g", event->value.kind == SPANS_DOUBLE ? event->value.f :
		       (double)event->value.u);
	note(s, "counter", event);
	(void)snprintf(s->text + strlen(s->text) - 1, sizeof(s->text) - strlen(s->text), " %s\n", value);
}

static void on_thread_name(void *context, const struct model_thread *thread)
{
	struct seen *s = context;

	(void)snprintf(s->text + strlen(s->text), sizeof(s->text) - strlen(s->text), "thread %d %s\n",
		       thread->tid, thread->name);
}

static const struct spans_listener listener = {
	.begin = on_begin,
	.end = on_end,
	.instant = on_instant,
	.counter = on_counter,
	.point = on_point,
	.thread_name = on_thread_name,
};

static int setup(void **state)
{
	struct seen *s = calloc(1, sizeof(*s));
	struct kymo_err err = { 0 };

	assert_int_equal(model_create(&s->model, &err), 0);
	assert_int_equal(model_set_host(s->model, 0, "host", OFFSET), 0);
	assert_int_equal(spans_create(&s->spans, s->model, &err), 0);
	assert_int_equal(spans_listen(s->spans, &listener, s, NULL), 0);
	assert_int_equal(spans_stats_create(&s->stats, s->spans, INT64_MIN, INT64_MAX, &err), 0);
	for (unsigned i = 0; i < ALL_CLASSES; i++)
		class[i].index = i;
	for (unsigned i = 0; i < CLASSES; i++) {
		assert_int_equal(spans_class(s->spans, &class[i]), 0);
	}
	*state = s;
	return 0;
}

static int teardown(void **state)
{
	struct seen *s = *state;

	spans_stats_destroy(s->stats);
	spans_destroy(s->spans);
	model_destroy(s->model);
	free(s);
	return 0;
}

/* An event at @ns of the trace clock; fields as pairs of name and struct kymo_ctf_value, ends with
 * NULL. */
static void ev(struct seen *s, unsigned what, int tid, int64_t ns, ...)
{
	struct kymo_ctf_event event = { .ns = ns + OFFSET,
					.clock_ns = (uint64_t)ns,
					.bound = KYMO_CTF_UNBOUND,
					.vpid = 7,
					.vtid = tid,
					.stream = (uint32_t)tid,
					.procname = "p",
					.class = &class[what] };
	unsigned count;
	const struct kymo_ctf_bind *bind = spans_bind(s->spans, &count);
	const char *field;
	va_list list;

	for (unsigned i = 0; i < count; i++)
		if (strcmp(bind[i].event, class[what].name) == 0)
			event.bound = (int)i;
	va_start(list, ns);
	while ((field = va_arg(list, const char *))) {
		struct kymo_ctf_value value = va_arg(list, struct kymo_ctf_value);

		for (unsigned i = 0; i < KYMO_CTF_BIND_FIELDS && bind[event.bound].field[i]; i++)
			if (strcmp(bind[event.bound].field[i], field) == 0)
				event.value[i] = value;
	}
	va_end(list);
	assert_int_equal(spans_event(s->spans, &event), 0);
	assert_int_equal(model_event(s->model, &event), 0);
}

static void lose(struct seen *s, int tid, int64_t begin_ns, int64_t end_ns)
{
	struct kymo_ctf_event event = { .ns = end_ns + OFFSET,
					.bound = KYMO_CTF_LOSS,
					.stream = (uint32_t)tid,
					.vpid = 7,
					.vtid = tid,
					.procname = "p",
					.loss_begin_ns = (uint64_t)begin_ns,
					.loss_end_ns = (uint64_t)end_ns,
					.lost = 3 };

	assert_int_equal(spans_event(s->spans, &event), 0);
	assert_int_equal(model_event(s->model, &event), 0);
}

#define U(number) ((struct kymo_ctf_value){ .u = (uint64_t)(number), .size = 64, .present = 1 })
#define F(number) ((struct kymo_ctf_value){ .f = (number), .size = 64, .present = 1 })
#define T(string) \
	((struct kymo_ctf_value){ .bytes = (string), .size = sizeof(string) - 1, .present = 1 })

static void expect(struct seen *s, const char *text)
{
	spans_finish(s->spans);
	model_finish(s->model);
	assert_string_equal(s->text, text);
	assert_int_equal(s->depth, 0);
}

static void nested(void **state)
{
	struct seen *s = *state;
	const struct spans_row *row;

	ev(s, A_BEGIN, 7, 10, NULL);
	ev(s, B_BEGIN, 7, 20, NULL);
	ev(s, A_BEGIN, 8, 25, NULL);
	ev(s, B_END, 7, 30, NULL);
	ev(s, STRANGE, 7, 35, NULL);
	ev(s, A_END, 7, 50, NULL);
	ev(s, A_END, 8, 66, NULL);
	expect(s, "begin t:a 7 10\nbegin t:b 7 20\nbegin t:a 8 25\nend t:b 7 30\nend t:a 7 50\nend t:a 8 66\n");
	assert_int_equal(spans_stats_count(s->stats, SPANS_OF_SPANS), 2);
	for (unsigned i = 0; i < 2; i++) {
		row = spans_stats_row(s->stats, SPANS_OF_SPANS, i);
		assert_int_equal(row->duration.count, *row->name->name == 'a' ? 2 : 1);
		assert_int_equal(row->threads, *row->name->name == 'a' ? 2 : 1);
		assert_int_equal(row->duration.sum, *row->name->name == 'a' ? 81 : 10);
		assert_int_equal(row->longest_at_ns - row->first_ns,
				 *row->name->name == 'a' ? 15 : 0);
	}
}

/* A later chunk declares the same again, and with fields in another order; what is new is not
 * bound. */
static void declared_later(void **state)
{
	struct seen *s = *state;

	ev(s, LATE_NEW, 7, 5, NULL);
	ev(s, LATE_BEGIN, 7, 10, NULL);
	ev(s, LATE_ARGS, 7, 15, "n", U(4), "text", T("x"), "more", U(9), NULL);
	ev(s, A_BEGIN, 7, 20, NULL);
	ev(s, LATE_END, 7, 30, NULL);
	ev(s, A_END, 7, 50, NULL);
	expect(s, "begin t:a 7 10\ninstant t:args 7 15 text=x n=4\nbegin t:a 7 20\nend t:a 7 30\nend t:a 7 50\n");
	assert_int_equal(spans_stats_count(s->stats, SPANS_OF_SPANS), 1);
}

static void end_without_begin_and_the_reverse(void **state)
{
	struct seen *s = *state;

	ev(s, A_END, 7, 5, NULL);
	ev(s, A_BEGIN, 7, 10, NULL);
	ev(s, B_BEGIN, 7, 20, NULL);
	ev(s, A_END, 7, 30, NULL);	/* of the outer one: the inner one has no end */
	ev(s, B_END, 7, 40, NULL);	/* too late */
	ev(s, A_BEGIN, 7, 50, NULL);
	ev(s, ARGS, 7, 60, NULL);
	expect(s, "begin t:a 7 10\nbegin t:b 7 20\nend t:b 7 30 unfinished\nend t:a 7 30\nbegin t:a 7 50\n"
		  "instant t:args 7 60\nend t:a 7 60 unfinished\n");
	assert_int_equal(spans_facts(s->spans)->ends_without_begin, 2);
	assert_int_equal(spans_facts(s->spans)->unfinished, 2);
	assert_int_equal(spans_facts(s->spans)->spans, 3);
}

static void loss_ends_what_is_open(void **state)
{
	struct seen *s = *state;

	ev(s, A_BEGIN, 7, 10, NULL);
	ev(s, A_BEGIN, 8, 11, NULL);
	ev(s, B_BEGIN, 7, 20, NULL);
	lose(s, 7, 22, 90);		/* an end of b, of a, and a begin of a may be in it */
	ev(s, A_END, 7, 100, NULL);
	ev(s, A_END, 8, 101, NULL);
	expect(s, "begin t:a 7 10\nbegin t:a 8 11\nbegin t:b 7 20\nend t:b 7 22 unfinished\n"
		  "end t:a 7 22 unfinished\nend t:a 8 101\n");
	assert_int_equal(spans_facts(s->spans)->ends_without_begin, 1);
}

static void custom_tracks(void **state)
{
	struct seen *s = *state;

	ev(s, TRACK, 7, 1, "track", U(99), "parent", U(99), "name", T("jobs"), NULL);
	ev(s, ON_BEGIN, 7, 10, "track", U(99), NULL);
	ev(s, A_BEGIN, 7, 20, NULL);
	ev(s, ON_END, 7, 30, NULL);	/* of a scope: it does not say where */
	ev(s, A_END, 7, 40, NULL);
	ev(s, AT_BEGIN, 7, 50, "track", U(99), "at_ns", U(45), NULL);
	ev(s, AT_END, 8, 60, "track", U(99), "at_ns", U(55), NULL);	/* by another thread */
	ev(s, ON_BEGIN, 8, 70, "track", U(99), NULL);
	lose(s, 8, 71, 72);
	ev(s, ON_BEGIN, 7, 80, "track", U(0), NULL);
	expect(s, "begin t:on 7 10 on jobs\nbegin t:a 7 20\nend t:on 7 30 on jobs\nend t:a 7 40\n"
		  "begin t:at 7 45 on jobs\nend t:at 7 55 on jobs\nbegin t:on 8 70 on jobs\n"
		  "end t:on 8 71 on jobs unfinished\nbegin t:on 7 80\nend t:on 7 80 unfinished\n");
}

static void times_of_their_own_nest(void **state)
{
	struct seen *s = *state;

	ev(s, A_BEGIN, 7, 100, NULL);
	ev(s, AT_BEGIN, 7, 110, "at_ns", U(50), NULL);
	ev(s, AT_END, 7, 120, "at_ns", U(500), NULL);
	ev(s, A_END, 7, 130, NULL);
	ev(s, AT_BEGIN, 7, 140, "at_ns", U(UINT64_MAX), NULL);
	ev(s, AT_END, 7, 150, "at_ns", U(3), NULL);
	expect(s, "begin t:a 7 100\nbegin t:at 7 100\nend t:at 7 500\nend t:a 7 500\n"
		  "begin t:at 7 140\nend t:at 7 140\n");
}

static void names_of_run_time(void **state)
{
	struct seen *s = *state;
	const struct spans_row *row;

	ev(s, THREAD_NAME, 7, 1, "name", T("worker"), NULL);
	ev(s, NAMED_BEGIN, 7, 10, "category", T("x"), "name", T("y"), NULL);
	ev(s, A_BEGIN, 7, 11, NULL);
	ev(s, NAMED_END, 7, 20, NULL);
	ev(s, NAMED_COUNTER, 7, 30, "value", F(2.5), "category", T("x"), "name", T("load"), NULL);
	ev(s, NAMED_COUNTER, 7, 40, "value", F(-1.5), "category", T("x"), "name", T("load"), NULL);
	ev(s, DEPTH, 7, 50, "value", U(4000000000u), NULL);
	ev(s, ARGS, 7, 60, "n", U(-3), "flow", U(42), "text", T("why"), NULL);
	ev(s, POINT, 7, 65, "n", U(4), "text", T("own"), NULL);
	ev(s, NAMED_END, 7, 70, NULL);
	expect(s, "thread 7 worker\nbegin x:y 7 10\nbegin t:a 7 11\nend t:a 7 20 unfinished\nend x:y 7 20\n"
		  "counter x:load 7 30 2.5\ncounter x:load 7 40 -1.5\ncounter t:depth 7 50 4000000000\n"
		  "instant t:args 7 60 n=-3 flow=42 text=why\npoint t:point 7 65 n=4 text=own\n");
	assert_int_equal(spans_facts(s->spans)->instants, 1);
	assert_int_equal(spans_facts(s->spans)->points, 1);
	row = spans_stats_row(s->stats, SPANS_OF_COUNTERS, 0);
	assert_string_equal(row->name->name, "load");
	assert_true(row->min == -1.5 && row->max == 2.5 && row->last == -1.5 && row->sum == 1.0);
	row = spans_stats_row(s->stats, SPANS_OF_COUNTERS, 1);
	assert_true(row->last == 4e9 && row->count == 1);
}

static void callbacks_are_parents(void **state)
{
	struct seen *s = *state;

	ev(s, A_BEGIN, 7, 10, NULL);
	ev(s, CALL_START, 7, 20, "callback", U(0x10), NULL);
	ev(s, B_BEGIN, 7, 30, NULL);
	ev(s, CALL_END, 7, 40, "callback", U(0x10), NULL);
	ev(s, A_END, 7, 50, NULL);
	expect(s, "begin t:a 7 10\nbegin t:b 7 30\nend t:b 7 40 unfinished\nend t:a 7 50\n");
}

static void bounded(void **state)
{
	struct seen *s = *state;
	int64_t ns = 1;

	s->text[0] = 0;
	for (int i = 0; i < 3 * SPANS_DEPTH_MAX + 1; i++) {
		ev(s, A_BEGIN, 7, ns++, NULL);
		s->text[0] = 0;
		assert_in_range(s->depth, 1, SPANS_DEPTH_MAX);
	}
	ev(s, A_END, 7, ns++, NULL);
	ev(s, A_END, 7, ns++, NULL);
	assert_int_equal(s->depth, 0);
	assert_int_equal(spans_facts(s->spans)->unfinished, 3 * SPANS_DEPTH_MAX);
	assert_int_equal(spans_facts(s->spans)->ends_without_begin, 1);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

/* The end of a counter's name tells its unit, and whatever else it may be tells none. */
static void units(void **state)
{
	static const struct { const char *counter, *unit; double ns; } of[] = {
		{ "queue_bytes", "bytes", 0 },        { "wake_us", "us", 1e3 },
		{ "wake [us]", "us", 1e3 },           { "current [A]", "A", 0 },
		{ "temperature [\u00b0C]", "\u00b0C", 0 }, { "a [b] [m/s]", "m/s", 0 },
		{ "queue_bytes [1]", "1", 0 },        { "", NULL, 0 },
		{ "]", NULL, 0 },                     { "[A]", NULL, 0 },
		{ "x []", NULL, 0 },                  { "x [A", NULL, 0 },
		{ "x [A] ", NULL, 0 },                { "bytes", NULL, 0 },
		{ "x [a unit of more than thirty letters]", NULL, 0 },
	};
	struct spans_unit unit;

	(void)state;
	for (size_t i = 0; i < sizeof(of) / sizeof(*of); i++) {
		assert_int_equal(spans_unit(&unit, of[i].counter), of[i].unit != NULL);
		if (!of[i].unit)
			continue;
		assert_string_equal(unit.name, of[i].unit);
		assert_true(unit.ns == of[i].ns);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(nested),
		TEST(declared_later),
		TEST(end_without_begin_and_the_reverse),
		TEST(loss_ends_what_is_open),
		TEST(custom_tracks),
		TEST(times_of_their_own_nest),
		TEST(names_of_run_time),
		TEST(callbacks_are_parents),
		TEST(bounded),
		TEST(units),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
