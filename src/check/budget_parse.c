/* SPDX-License-Identifier: Apache-2.0 */
/* One budget, as it is written: "latency p99 <= 20 ms", "lost = 0", "duration p50 within 10 %". */
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "check/budget.h"

#define WORDS_MAX 256u

#define TIME(entity, what, distribution)                                              \
	{                                                                             \
		.kind = entity, .name = what, .unit = BUDGET_TIME, .of = distribution \
	}
#define RATE(entity, counter)                                                         \
	{                                                                             \
		.kind = entity, .name = "rate", .unit = BUDGET_RATE, .count = counter \
	}
#define COUNT(entity, what, part, whole, is_apart)                                               \
	{                                                                                        \
		.kind = entity, .name = what, .unit = BUDGET_COUNT, .count = part, .all = whole, \
		.apart = is_apart                                                                \
	}

/* The first time of a kind is meant by "p99 <= 20 ms". */
static const struct budget_metric metrics[] = {
	TIME(SUMMARY_CHAIN, "latency", SUMMARY_LATENCY),
	RATE(SUMMARY_CHAIN, SUMMARY_RUNS),
	TIME(SUMMARY_CALLBACK, "duration", SUMMARY_DURATION),
	TIME(SUMMARY_CALLBACK, "latency", SUMMARY_LATENCY),
	TIME(SUMMARY_CALLBACK, "wait", SUMMARY_WAIT),
	RATE(SUMMARY_CALLBACK, SUMMARY_RUNS),
	TIME(SUMMARY_TIMER, "late", SUMMARY_WAIT),
	TIME(SUMMARY_TIMER, "period", SUMMARY_PERIOD),
	COUNT(SUMMARY_TIMER, "overruns", SUMMARY_OVERRUN, SUMMARY_RUNS, false),
	RATE(SUMMARY_TIMER, SUMMARY_RUNS),
	TIME(SUMMARY_TOPIC, "latency", SUMMARY_LATENCY),
	RATE(SUMMARY_TOPIC, SUMMARY_PUBLISHED),
	COUNT(SUMMARY_TOPIC, "lost", SUMMARY_NEVER_RECEIVED, SUMMARY_RECEIVED, true),
	COUNT(SUMMARY_TOPIC, "overwritten", SUMMARY_OVERWRITTEN, SUMMARY_RECEIVED, true),
	TIME(SUMMARY_SERVICE, "latency", SUMMARY_LATENCY),
	COUNT(SUMMARY_SERVICE, "unanswered", SUMMARY_UNFINISHED, SUMMARY_RUNS, false),
	TIME(SUMMARY_ACTION, "total", SUMMARY_LATENCY),
	TIME(SUMMARY_ACTION, "accept", SUMMARY_WAIT),
	TIME(SUMMARY_ACTION, "execution", SUMMARY_DURATION),
	TIME(SUMMARY_ACTION, "silence", SUMMARY_PERIOD),
	COUNT(SUMMARY_ACTION, "aborted", SUMMARY_ABORTED, SUMMARY_RUNS, false),
	COUNT(SUMMARY_ACTION, "canceled", SUMMARY_CANCELED, SUMMARY_RUNS, false),
	COUNT(SUMMARY_ACTION, "rejected", SUMMARY_REJECTED, SUMMARY_RUNS, true),
	COUNT(SUMMARY_ACTION, "unfinished", SUMMARY_UNFINISHED, SUMMARY_RUNS, true),
	TIME(SUMMARY_LOOP, "wake-up", SUMMARY_LATENCY),
	TIME(SUMMARY_LOOP, "duration", SUMMARY_DURATION),
	TIME(SUMMARY_LOOP, "period", SUMMARY_PERIOD),
	COUNT(SUMMARY_LOOP, "missed", SUMMARY_MISSED, SUMMARY_RUNS, false),
	COUNT(SUMMARY_LOOP, "overruns", SUMMARY_OVERRUN, SUMMARY_RUNS, false),
	RATE(SUMMARY_LOOP, SUMMARY_RUNS),
	TIME(SUMMARY_SPAN, "duration", SUMMARY_DURATION),
	RATE(SUMMARY_SPAN, SUMMARY_RUNS),
	{ .kind = SUMMARY_PROCESS, .name = "busy", .unit = BUDGET_BUSY },
	COUNT(BUDGET_WHOLE, "messages", SUMMARY_NEVER_RECEIVED, SUMMARY_RECEIVED, true),
	{ .kind = BUDGET_WHOLE, .name = "events", .unit = BUDGET_COUNT },
};

static const struct budget_metric told_metrics[] = {
	{ .kind = BUDGET_WHOLE, .name = BUDGET_REALTIME, .unit = BUDGET_COUNT },
	{ .kind = BUDGET_WHOLE, .name = BUDGET_EXPECTED, .unit = BUDGET_COUNT },
};

bool budget_is_told(const struct budget *budget)
{
	return budget->metric >= told_metrics &&
	       budget->metric < told_metrics + COUNT_OF(told_metrics);
}

int budgets_add_told(struct budgets *budgets, const char *metric, const char *name,
		     const char *text, unsigned line)
{
	struct budget budget = {
		.metric = &told_metrics[strcmp(metric, BUDGET_REALTIME) != 0],
		.name = pool_text(&budgets->pool, name, strlen(name)),
		.text = pool_text(&budgets->pool, text, strlen(text)),
		.op = BUDGET_EQUAL,
		.line = line,
	};

	if (!budget.name || !budget.text ||
	    !ARRAY_ROOM(budgets->budget, budgets->count, budgets->capacity))
		return -1;
	budgets->budget[budgets->count++] = budget;
	return 0;
}

const struct budget_metric *budget_metric_at(unsigned at)
{
	return at < COUNT_OF(metrics) ? &metrics[at] : NULL;
}

/* ---- what is measured ---- */

/* "p99.9": 0.999. */
static bool read_quantile(const char *word, double *quantile)
{
	char *end;

	if (*word != 'p' || !isdigit((unsigned char)word[1]))
		return false;
	*quantile = strtod(word + 1, &end) / 100;
	return !*end && *quantile > 0 && *quantile < 1;
}

static bool read_how(struct budget *budget, const char *word)
{
	if (read_quantile(word, &budget->quantile))
		budget->how = BUDGET_QUANTILE;
	else if (!strcmp(word, "max"))
		budget->how = BUDGET_MAX;
	else if (!strcmp(word, "mean"))
		budget->how = BUDGET_MEAN;
	else
		return false;
	return true;
}

/* The metric of @kind called @name; "": its first time. */
static const struct budget_metric *find(enum summary_kind kind, const char *name)
{
	for (unsigned i = 0; i < COUNT_OF(metrics); i++)
		if (metrics[i].kind == kind &&
		    (*name ? !strcmp(metrics[i].name, name) : metrics[i].unit == BUDGET_TIME))
			return &metrics[i];
	return NULL;
}

static int unknown(enum summary_kind kind, const char *name, struct kymo_err *err)
{
	struct text_nearest nearest = { 0 };
	char all[256] = "";

	for (unsigned i = 0; i < COUNT_OF(metrics); i++) {
		if (metrics[i].kind != kind)
			continue;
		text_nearest_try(&nearest, name, metrics[i].name);
		(void)snprintf(all + strlen(all), sizeof(all) - strlen(all), "%s%s",
			       *all ? ", " : "", metrics[i].name);
	}
	if (nearest.name)
		return err_set(err, KYMO_EXIT_INPUT, "'%.60s' is not known; did you mean '%s'?",
			       name, nearest.name);
	return err_set(err, KYMO_EXIT_INPUT, "'%.60s' is not known; %s can have budgets of: %s",
		       name, budget_section(kind), all);
}

/* "latency p99", "p99", "rate". @words is changed. */
static int read_metric(struct budget *budget, enum summary_kind kind, char *words,
		       struct kymo_err *err)
{
	char *last = strrchr(words, ' ');
	const char *how = last ? last + 1 : words;
	const bool has_how = read_how(budget, how);

	if (has_how)
		*(last ? last : words) = '\0';
	budget->metric = find(kind, words);
	if (!budget->metric || (!*words && !has_how))
		return unknown(kind, words, err);
	if (budget->metric->unit == BUDGET_TIME && !has_how)
		return err_set(err, KYMO_EXIT_INPUT,
			       "which %s? Write '%s p99', '%s max' or '%s mean'", words, words,
			       words, words);
	if (budget->metric->unit != BUDGET_TIME && has_how)
		return err_set(err, KYMO_EXIT_INPUT, "%s has no p99, max or mean: leave it out",
			       words);
	return 0;
}

/* ---- the limit ---- */

/* "10 %", "0.5%": 0.1, 0.005. */
static bool read_percent(const char *text, double *share)
{
	char *end;

	*share = strtod(text, &end) / 100;
	return end != text && !strcmp(end, "%") && isfinite(*share) && *share >= 0;
}

static bool read_number(const char *text, const char *unit, double *value)
{
	char *end;

	*value = strtod(text, &end);
	return end != text && (!*end || !strcmp(end, unit)) && isfinite(*value) && *value >= 0;
}

/* @value has no blanks. */
static int read_limit(struct budget *budget, const char *value, struct kymo_err *err)
{
	const struct budget_metric *metric = budget->metric;
	const size_t length = strlen(value);
	int64_t ns;

	if (budget->op == BUDGET_WITHIN || metric->unit == BUDGET_BUSY) {
		if (read_percent(value, &budget->limit))
			return 0;
		return err_set(err, KYMO_EXIT_INPUT, "'%.40s' is not a share: write 10 %%", value);
	}
	if (metric->unit == BUDGET_TIME) {
		if (length && !isdigit((unsigned char)value[length - 1]) &&
		    text_read_time(value, &ns)) {
			budget->limit = (double)ns;
			return 0;
		}
		return err_set(err, KYMO_EXIT_INPUT,
			       "'%.40s' is not a time with its unit: write 20 ms, 500 us or 1.5 s",
			       value);
	}
	if (metric->unit == BUDGET_COUNT && read_percent(value, &budget->limit)) {
		budget->is_share = true;
		return 0;
	}
	if (read_number(value, metric->unit == BUDGET_RATE ? "Hz" : "", &budget->limit))
		return 0;
	return err_set(err, KYMO_EXIT_INPUT,
		       metric->unit == BUDGET_RATE
			       ? "'%.40s' is not a rate: write 9.5 Hz"
			       : "'%.40s' is not a count or a share: write 0 or 0.5 %%",
		       value);
}

/* Some combinations mean nothing. */
static int check(const struct budget *budget, struct kymo_err *err)
{
	const struct budget_metric *metric = budget->metric;

	if (budget->op == BUDGET_EQUAL && metric->unit != BUDGET_COUNT)
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s never equals a number exactly: write <= or >=", metric->name);
	if (budget->op != BUDGET_WITHIN)
		return 0;
	if (metric->unit == BUDGET_BUSY || metric->kind == BUDGET_WHOLE ||
	    (metric->unit == BUDGET_TIME && budget->how != BUDGET_QUANTILE))
		return err_set(err, KYMO_EXIT_INPUT,
			       "'within' compares quantiles (p50, p90, p99), rates and shares of "
			       "losses");
	return 0;
}

/* ---- a line ---- */

static const struct {
	const char *text;
	enum budget_op op;
} operators[] = {
	{ "<=", BUDGET_AT_MOST },
	{ ">=", BUDGET_AT_LEAST },
	{ " within ", BUDGET_WITHIN },
	{ "=", BUDGET_EQUAL },
};

/* One blank between words, none at the ends. */
static void squeeze(char *out, const char *from, size_t length, bool blanks)
{
	size_t at = 0;

	for (size_t i = 0; i < length; i++) {
		if (!isspace((unsigned char)from[i]))
			out[at++] = from[i];
		else if (blanks && at && out[at - 1] != ' ')
			out[at++] = ' ';
	}
	while (at && out[at - 1] == ' ')
		at--;
	out[at] = '\0';
}

int budget_parse(struct budget *budget, enum summary_kind kind, const char *text,
		 struct kymo_err *err)
{
	char words[WORDS_MAX], value[WORDS_MAX];

	if (strlen(text) >= WORDS_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "the budget is too long");
	for (unsigned i = 0; i < COUNT_OF(operators); i++) {
		const char *at = strstr(text, operators[i].text);

		if (!at)
			continue;
		budget->op = operators[i].op;
		squeeze(words, text, (size_t)(at - text), true);
		at += strlen(operators[i].text);
		squeeze(value, at, strlen(at), false);
		return read_metric(budget, kind, words, err) || read_limit(budget, value, err)
			       ? -1
			       : check(budget, err);
	}
	return err_set(err, KYMO_EXIT_INPUT,
		       "'%.60s' has no limit: write 'latency p99 <= 20 ms', 'rate >= 9.5 Hz', "
		       "'lost = 0' or 'duration p50 within 10 %%'",
		       text);
}
