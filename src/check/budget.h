/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of budgets: what a robot has to keep, in names of its own. docs/answers/check.md defines
 * the file.
 *
 *   topics:
 *     /scan:
 *       - rate >= 9.5 Hz
 *       - latency p99 <= 20 ms
 *
 * Context of all functions: not thread-safe; allocate; budgets_read() blocks.
 */
#ifndef KYMO_CHECK_BUDGET_H
#define KYMO_CHECK_BUDGET_H

#include <stdbool.h>

#include "base/err.h"
#include "base/pool.h"
#include "summary/summary.h"

/* The kind of what belongs to no entity: losses of the whole run. */
#define BUDGET_WHOLE SUMMARY_KINDS

enum budget_unit {
	BUDGET_TIME,  /* ns, of a distribution */
	BUDGET_RATE,  /* per second */
	BUDGET_COUNT, /* how often; or its share, 0 to 1 */
	BUDGET_BUSY,  /* share of the time, 0 to 1 for each thread */
};

/* What can have a budget. */
struct budget_metric {
	enum summary_kind kind;
	const char *name; /* "latency" */
	enum budget_unit unit;
	enum summary_distribution of; /* TIME */
	enum summary_counter count;   /* RATE, COUNT: what is counted */
	enum summary_counter all;     /* COUNT: of which it is a share, ... */
	bool apart;                   /* ... which does not include what is counted */
};

enum budget_how { BUDGET_QUANTILE, BUDGET_MEAN, BUDGET_MAX };
enum budget_op { BUDGET_AT_MOST, BUDGET_AT_LEAST, BUDGET_EQUAL, BUDGET_WITHIN };

struct budget {
	const struct budget_metric *metric;
	const char *name; /* an entity or several: name, label, glob, steps of a chain; WHOLE: "" */
	const char *text; /* as it is written: "latency p99 <= 20 ms" */
	enum budget_how how; /* TIME */
	double quantile;     /* QUANTILE: 0.99 */
	enum budget_op op;
	double limit;  /* ns, Hz, a count, a share; WITHIN: by how much it may be worse, 0.1 */
	bool is_share; /* COUNT: the limit is a share */
	unsigned line;
};

/* Two kinds of budgets are about events, of which a summary has none: who reads the trace tells
 * what became of them (check_told). */
#define BUDGET_REALTIME "real-time" /* the metric's name: @name must do nothing that blocks it */
#define BUDGET_EXPECTED "expected"  /* a line of a list as caret_report has it */

struct budgets {
	const char *path;
	struct budget *budget;
	unsigned count, capacity;
	unsigned keep, of; /* so many of so many runs have to keep each budget */
	double confidence; /* of bounds of quantiles */
	const char **base; /* runs of the base line, relative to the working directory */
	unsigned bases, bases_size;
	struct pool pool;
};

/** budget_metric_at() - all metrics in turn, those of one kind together; NULL behind the last. */
const struct budget_metric *budget_metric_at(unsigned at);

/** budget_section() - the key of @kind in a file: "chains"; WHOLE: "loss"; NULL: none. */
const char *budget_section(enum summary_kind kind);

/**
 * budgets_need_base() - do budgets compare with a base line?
 * @is_given: one was named outside of the file
 *
 * Return: 0: no; 1: yes, and there is one; -1 with @err.
 */
int budgets_need_base(const struct budgets *budgets, bool is_given, struct kymo_err *err);

/**
 * budgets_read() - read the file @path
 * @budgets: to be freed, also after an error
 *
 * Return: 0, or -1 with @err (KYMO_EXIT_INPUT), which names file and line.
 */
int budgets_read(struct budgets *budgets, const char *path, struct kymo_err *err);
void budgets_free(struct budgets *budgets);

/** budget_is_told() - is it about events? */
bool budget_is_told(const struct budget *budget);

/**
 * budgets_add_told() - add a budget about events, @metric BUDGET_REALTIME or BUDGET_EXPECTED
 *
 * Return: 0; -1: no memory.
 */
int budgets_add_told(struct budgets *budgets, const char *metric, const char *name,
		     const char *text, unsigned line);

/** budgets_empty() - a file without budgets, to add some to; @path must stay. One of one run has to
 * keep each, and the confidence is 95 %. */
void budgets_empty(struct budgets *budgets, const char *path);

/**
 * budget_parse() - read one budget, "latency p99 <= 20 ms", of entities of @kind
 * @budget: its metric, how, quantile, op, limit and is_share are set
 *
 * Return: 0; -1 with @err: why not, and what to write instead, without a place.
 */
int budget_parse(struct budget *budget, enum summary_kind kind, const char *text,
		 struct kymo_err *err);

#endif
