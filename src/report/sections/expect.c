/* SPDX-License-Identifier: Apache-2.0 */
/* Whether what was expected happened; see expect.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/sections/expect_internal.h"
#include "base/array.h"

/* What caret_report has. */
#define LOWER 0.8		/* of the expected frequency */
#define RATIO_MAX 0.2		/* of the values may be outside, */
#define RATIO_SLOW_MAX 0.5	/* of those of topics of 1 Hz or less */
#define BURST_MAX 5u		/* of them in a row */
#define SECONDS_LEFT_OUT 2u	/* at the end: the last one is not over */

enum result { PASS, FAILED, OUT_OF_SCOPE, NOT_MEASURED, DONT_CARE, RESULTS };

static const char *const result_names[RESULTS] = { "PASS", "FAILED", "OUT_OF_SCOPE", "NOT_MEASURED", "DONT_CARE" };

/* Values one after the other, and how many of them were out of bounds. */
struct series {
	double lower, upper;		/* upper 0: there is none */
	uint64_t count, low, high, burst_low, burst_high, now_low, now_high;
	double sum, min, max;
};

struct report_expect {
	int64_t begin_ns, end_ns;
	struct array latency;		/* of struct series: of timers' callbacks, by index */
	bool failed;			/* memory ran out */
};

static void series_add(struct series *s, double value)
{
	bool low = value < s->lower, high = s->upper > 0 && value > s->upper;

	s->min = s->count && s->min < value ? s->min : value;
	s->max = s->count && s->max > value ? s->max : value;
	s->sum += value;
	s->count++;
	s->low += low;
	s->high += high;
	s->now_low = low ? s->now_low + 1 : 0;
	s->now_high = high ? s->now_high + 1 : 0;
	s->burst_low = s->now_low > s->burst_low ? s->now_low : s->burst_low;
	s->burst_high = s->now_high > s->burst_high ? s->now_high : s->burst_high;
}

static bool is_measured(const struct series *s)
{
	return s->count >= 2;
}

static enum result judge(const struct series *s, double expected, double ratio)
{
	if (expected <= 0)
		return DONT_CARE;
	if (!is_measured(s))
		return NOT_MEASURED;
	if ((double)s->low > ratio * (double)s->count || (double)s->high > ratio * (double)s->count)
		return FAILED;
	return s->burst_low > BURST_MAX || s->burst_high > BURST_MAX ? FAILED : PASS;
}

/* ---- while the trace is read: how long timers' callbacks take ---- */

static void on_instance(void *context, const struct model_instance *instance)
{
	struct report_expect *expect = context;
	const struct model_timer *timer = instance->callback->timer;
	struct series *latency;

	if (!timer || instance->start_ns < expect->begin_ns || instance->start_ns > expect->end_ns)
		return;
	latency = array_at(&expect->latency, instance->callback->index, sizeof(*latency));
	if (!latency) {
		expect->failed = true;
		return;
	}
	latency->upper = (double)timer->period_ns / 1e6;
	series_add(latency, (double)instance->duration_ns / 1e6);
}

static const struct model_listener listener = { .instance = on_instance };

PASS_CREATE(report_expect, model)

static void report_expect_destroy(struct report_expect *expect)
{
	array_free(&expect->latency);
	free(expect);
}

PASS_LISTENER(report_expect);

/* ---- rows ---- */

static const struct table_column columns[] = {
	{ "result", "Result" }, { "what", "What" }, { "object", "Of" }, { "source", "Topic/period" },
	{ "unit", NULL }, { "expected", "Expected" }, { "lower", "At least" }, { "upper", "At most" },
	{ "count", "Values" }, { "mean", "Mean" }, { "min", "Min" }, { "max", "Max" },
	{ "ratio_lower", "Below" }, { "ratio_upper", "Above" }, { "burst_lower", "In a row" }, { "burst_upper", "above" },
};

struct verdict {
	const char *what, *object, *source, *unit;
	double expected;		/* -1: nothing */
	enum result result;
	struct series series;
	const struct expectation *of; /* NULL: there is none */
};

static void cell(struct table *t, bool is, double value)
{
	CELL_IF(t, is, table_f64(t, value));
}

/* For expectations_verdict(). Without memory it is missing, as if nothing was measured. */
static void keep(struct expectations *all, const struct verdict *v)
{
	const struct series *s = &v->series;
	struct expect_verdict *kept;

	if (!v->of || v->result == DONT_CARE || v->result == OUT_OF_SCOPE ||
	    !ARRAY_ROOM(all->verdict, all->verdicts, all->verdicts_size))
		return;
	kept = &all->verdict[all->verdicts++];
	*kept = (struct expect_verdict){
		.line = v->of->line,
		.is_kept = v->result == PASS,
		.is_measured = v->result != NOT_MEASURED,
		.what = v->what,
		.unit = v->unit,
		.count = s->count,
		.mean = s->count ? s->sum / (double)s->count : 0,
		.outside = s->count ? (double)(s->low + s->high) / (double)s->count : 0,
	};
	(void)snprintf(kept->object, sizeof(kept->object), "%s", v->object ? v->object : "");
}

static void row(struct report *report, unsigned *counts, const struct verdict *v)
{
	struct table *t = report->table;
	const struct series *s = &v->series;
	bool some = is_measured(s);

	counts[v->result]++;
	keep(report->options->expect, v);
	if (report->options->format == TABLE_TEXT && v->result == OUT_OF_SCOPE)
		return;
	table_text(t, result_names[v->result]);
	table_text(t, v->what);
	table_text(t, v->object);
	table_text(t, v->source);
	table_text(t, v->unit);
	cell(t, v->expected > 0, v->expected);
	cell(t, s->lower > 0, s->lower);
	cell(t, s->upper > 0, s->upper);
	table_u64(t, s->count);
	cell(t, some, some ? s->sum / (double)s->count : 0);
	cell(t, some, s->min);
	cell(t, some, s->max);
	cell(t, some && s->lower > 0, some ? (double)s->low / (double)s->count : 0);
	cell(t, some && s->upper > 0, some ? (double)s->high / (double)s->count : 0);
	table_u64(t, s->burst_low);
	table_u64(t, s->burst_high);
}

/* How often in each second; 0 and less is expected of nothing. */
static struct series frequency_of(const struct activity_frequency *frequency, double expected)
{
	struct series s = { .lower = expected > 0 ? expected * LOWER : 0 };

	for (unsigned i = 0; i + SECONDS_LEFT_OUT < frequency->seconds; i++)
		series_add(&s, frequency->count[i]);
	return s;
}

/* ---- callbacks ---- */

static bool is_of(const struct expectation *e, const struct model_callback *callback)
{
	const struct model_node *node = model_callback_node(callback);

	if (!node || !e->has_regex || regexec(&e->regex, node->full_name, 0, NULL, 0))
		return false;
	if (e->kind == EXPECT_TIMER)
		return callback->timer && callback->timer->period_ns == e->period_ns;
	return e->kind == EXPECT_SUBSCRIPTION && callback->subscription &&
	       !strcmp(callback->subscription->topic->name, e->topic);
}

/* The first one that fits, as in caret_report. */
static struct expectation *expected_of(struct expectations *all,
				       const struct model_callback *callback)
{
	for (unsigned i = 0; i < all->count; i++)
		if (is_of(&all->item[i], callback))
			return &all->item[i];
	return NULL;
}

static void callback_rows(struct report *report, struct expectations *all, unsigned *counts)
{
	char source[64];

	for (unsigned i = 0; i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct activity_frequency *runs = activity_runs(report->activity, i);
		struct expectation *e = expected_of(all, callback);
		struct verdict v = {
			.what = "callback frequency",
			.unit = "Hz",
			.expected = e ? e->value : -1,
			.source = model_callback_what(callback, source, sizeof(source)),
			.object = model_callback_node(callback)
					  ? model_callback_node(callback)->full_name
					  : NULL,
			.series = frequency_of(runs, e ? e->value : 0),
			.of = e,
		};

		if (!report_wants_callback(report, callback) || !is_measured(&v.series))
			continue;
		v.result = e ? judge(&v.series, v.expected, RATIO_MAX) : OUT_OF_SCOPE;
		row(report, counts, &v);
		if (e)
			e->measured = true;
		if (!e || e->kind != EXPECT_TIMER || e->value <= 0 ||
		    i >= report->report_expect->latency.count)
			continue;
		v.what = "callback latency";
		v.unit = "ms";
		v.series = ((const struct series *)report->report_expect->latency.item)[i];
		v.expected = v.series.upper;
		v.result = judge(&v.series, v.expected, RATIO_MAX);
		row(report, counts, &v);
	}
}

/* ---- topics ---- */

static void topic_row(struct report *report, unsigned *counts, struct expectation *e,
		      const char *object, const struct activity_frequency *frequency)
{
	struct verdict v = {
		.what = "topic frequency",
		.object = object,
		.source = e->name,
		.unit = "Hz",
		.expected = e->value,
		.series = frequency_of(frequency, e->value),
		.of = e,
	};

	if (!is_measured(&v.series))
		return;
	v.result = judge(&v.series, v.expected, e->value > 1 ? RATIO_MAX : RATIO_SLOW_MAX);
	row(report, counts, &v);
	e->measured = true;
}

/* By the publisher of each communication; without one, by a callback of a subscription. */
static void topic_rows(struct report *report, unsigned *counts, struct expectation *e)
{
	char object[512];

	for (unsigned i = 0; i < activity_link_count(report->activity); i++) {
		const struct activity_link *link = activity_link(report->activity, i);
		const struct model_node *from = link->publisher->node,
					*to = link->subscription->node;

		if (strcmp(link->publisher->topic->name, e->name) != 0)
			continue;
		(void)snprintf(object, sizeof(object), "%s -> %s", from ? from->full_name : "?", to ? to->full_name : "?");
		topic_row(report, counts, e, object,
			  activity_publications(report->activity, link->publisher->index));
	}
	for (unsigned i = 0; !e->measured && i < model_count(report->model, MODEL_CALLBACK); i++) {
		const struct model_callback *callback = model_callback(report->model, i);
		const struct model_node *to = model_callback_node(callback);

		if (!callback->subscription ||
		    strcmp(callback->subscription->topic->name, e->name) != 0)
			continue;
		(void)snprintf(object, sizeof(object), "? -> %s", to ? to->full_name : "?");
		topic_row(report, counts, e, object, activity_runs(report->activity, i));
	}
}

/* ---- paths ---- */

static void path_row(struct report *report, unsigned *counts, struct expectation *e)
{
	for (unsigned i = 0; report->caret && i < caret_path_count(report->caret); i++) {
		const struct caret_path *path = caret_path(report->caret, i);
		struct verdict v = {
			.what = "response time",
			.object = path->path->name,
			.source = caret_case_name(e->which),
			.unit = "ms",
			.expected = e->value,
			.series = { .upper = e->value > 0 ? e->value : 0 },
			.of = e,
		};

		if (strcmp(path->path->name, e->name) != 0 || path->problem)
			continue;
		for (size_t k = 0; k < path->count[e->which]; k++)
			/* Between hosts whose clocks do not compare nothing is measured. */
			if (caret_path_error(path, 0, path->records.columns - 1,
					     path->response[e->which][k].start_ns) !=
			    KYMO_CTF_ERROR_UNKNOWN)
				series_add(&v.series,
					   (double)path->response[e->which][k].value_ns / 1e6);
		if (!is_measured(&v.series))
			continue;
		v.result = judge(&v.series, v.expected, RATIO_MAX);
		row(report, counts, &v);
		e->measured = true;
	}
}

/* ---- all of it ---- */

static void unmeasured_row(struct report *report, unsigned *counts, const struct expectation *e)
{
	static const char *const what[] = {
		[EXPECT_TIMER] = "callback frequency", [EXPECT_SUBSCRIPTION] = "callback frequency",
		[EXPECT_TOPIC] = "topic frequency", [EXPECT_PATH] = "response time",
	};
	struct verdict v = {
		.what = what[e->kind],
		.expected = e->value,
		.unit = e->kind == EXPECT_PATH ? "ms" : "Hz",
		.object = e->kind == EXPECT_TOPIC ? NULL : e->name,
		.result = NOT_MEASURED,
		.of = e,
	};
	char period[32];

	(void)snprintf(period, sizeof(period), "%lld ns", (long long)e->period_ns);
	v.source = e->kind == EXPECT_TIMER ? period : e->kind == EXPECT_SUBSCRIPTION ? e->topic :
		   e->kind == EXPECT_PATH ? caret_case_name(e->which) : e->name;
	if (e->value > 0 && !e->measured)
		row(report, counts, &v);
}

void report_validation(struct report *report)
{
	struct expectations *all = report->options->expect;
	unsigned counts[RESULTS] = { 0 };

	table_section(report->table, "validation", "Validation: what was expected, and what happened", columns, COUNT_OF(columns));
	all->verdicts = 0;
	for (unsigned i = 0; i < all->count; i++)
		all->item[i].measured = false;
	callback_rows(report, all, counts);
	for (unsigned i = 0; i < all->count; i++) {
		if (all->item[i].kind == EXPECT_TOPIC)
			topic_rows(report, counts, &all->item[i]);
		else if (all->item[i].kind == EXPECT_PATH)
			path_row(report, counts, &all->item[i]);
	}
	for (unsigned i = 0; i < all->count; i++)
		unmeasured_row(report, counts, &all->item[i]);
	all->broken = counts[FAILED] + counts[NOT_MEASURED];
	report->rows += all->count;
	for (unsigned i = 0; i < RESULTS; i++)
		if (counts[i])
			table_note(report->table, "%s: %u", result_names[i], counts[i]);
	if (counts[OUT_OF_SCOPE])
		table_note(report->table, "OUT_OF_SCOPE are callbacks without an expectation; JSON and CSV list them.");
}
