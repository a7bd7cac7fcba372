/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One life cycle for every analysis, and the one loop that reads a trace for them.
 *
 *   struct passes passes = { 0 };
 *
 *   model_create(&model, err);		pass_add(&passes, &model_pass, model);
 *   spans_create(&spans, model, err);	pass_add(&passes, &spans_pass, spans);
 *   stats_create(&stats, model, ...);	pass_add(&passes, &stats_pass, stats);
 *   pass_run(&passes, reader, &options, err);
 *   ... what model, spans and stats now say ...
 *   passes_free(&passes);
 *
 * An analysis has a constant `NAME_pass` of type struct pass_ops. Most analyses only listen to the
 * model; for them the line PASS_LISTENER(NAME) in NAME.c is all. An analysis that also reads events
 * of its own says in `turn` whether it sees an event before the model does; the runner keeps that
 * order, callers do not need to know it.
 *
 * Context of all functions: not thread-safe; pass_run() blocks and lets the reader decode in
 * threads, see kymo_ctf_threads(); the analyses are called on the calling thread, but for what
 * behind.h says.
 */
#ifndef KYMO_ANALYSIS_PASS_H
#define KYMO_ANALYSIS_PASS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "ctf/read/reader.h"

#define PASSES_MAX 32u

/* The order in which the analyses receive an event, and the end of the trace. */
enum pass_turn {
	PASS_FIRST, /* for what makes the others' data safe to use, see behind.h */
	/*
	 * For analyses that must know the CPU state or the allocations when a span or a callback
	 * begins.
	 */
	PASS_BEFORE_SPANS,
	PASS_SPANS, /* for the spans: they must be known when the model ends a callback */
	PASS_MODEL,
	PASS_AFTER_MODEL, /* for all analyses that only listen */
	PASS_TURNS
};

/*
 * The functions of an analysis; any member may be NULL. Without destroy() the owner destroys the
 * analysis.
 */
struct pass_ops {
	enum pass_turn turn;
	/*
	 * Bind the events and fields that the analysis reads. The model binds first, so its rows
	 * come first. Return: 0, or -1 with @err.
	 */
	int (*bind)(void *analysis, struct kymo_ctf_reader *reader, struct kymo_err *err);
	/* Only events between these times count; called before the first event. */
	void (*window)(void *analysis, int64_t begin_ns, int64_t end_ns);
	/*
	 * After all have bound: event() is only interested in events that are bound to rows from
	 * @first up to, but without, @end; and in losses. NULL: in all events.
	 */
	void (*rows)(const void *analysis, int *first, int *end);
	/*
	 * Process one event or loss, in order of time. Return: 0; any other value: out of memory.
	 */
	int (*event)(void *analysis, const struct kymo_ctf_event *event);
	/* The whole trace has been read. Return: 0, or -1 with @err. */
	int (*finish)(void *analysis, struct kymo_err *err);
	/* Did memory run out, so that the results are incomplete? */
	bool (*failed)(const void *analysis);
	void (*destroy)(void *analysis);
};

/*
 * The runner knows an analysis as void *. These macros define NAME_pass_event() and so on, which
 * call NAME_event() and so on with a struct NAME. PASS_LISTENER() defines the whole NAME_pass of an
 * analysis that only listens; its struct has a member @failed, or it uses PASS_FAILED() and
 * PASS_LISTENER_FAILED().
 */
#define PASS_EVENT(name)							\
	static int name##_pass_event(void *analysis, const struct kymo_ctf_event *event) \
	{									\
		return name##_event(analysis, event);				\
	}
#define PASS_WINDOW(name)							\
	static void name##_pass_window(void *analysis, int64_t begin_ns, int64_t end_ns) \
	{									\
		name##_window(analysis, begin_ns, end_ns);			\
	}
#define PASS_FINISH(name)							\
	static int name##_pass_finish(void *analysis, struct kymo_err *err)	\
	{									\
		(void)err;							\
		name##_finish(analysis);					\
		return 0;							\
	}
#define PASS_FAILED(name)							\
	static bool name##_pass_failed(const void *analysis)			\
	{									\
		return name##_failed(analysis);					\
	}
#define PASS_DESTROY(name)							\
	static void name##_pass_destroy(void *analysis)				\
	{									\
		name##_destroy(analysis);					\
	}
/*
 * NAME_create() of an analysis that listens to a model or spans, with the file's @listener: its
 * struct begins zeroed, with the members @begin_ns and @end_ns, between which it looks.
 */
#define PASS_CREATE(name, source)						\
	int name##_create(struct name **result, struct source *source, int64_t begin_ns, \
			  int64_t end_ns, struct kymo_err *err)			\
	{									\
		struct name *analysis = calloc(1, sizeof(*analysis));		\
										\
		if (!analysis)							\
			return err_no_memory(err);				\
		if (source##_listen(source, &listener, analysis, err)) {	\
			free(analysis);						\
			return -1;						\
		}								\
		analysis->begin_ns = begin_ns;					\
		analysis->end_ns = end_ns;					\
		*result = analysis;						\
		return 0;							\
	}
#define PASS_LISTENER(name)                                     \
	static bool name##_pass_failed(const void *analysis)    \
	{                                                       \
		return ((const struct name *)analysis)->failed; \
	}                                                       \
	PASS_LISTENER_FAILED(name)
#define PASS_LISTENER_FAILED(name)              \
	PASS_DESTROY(name)                      \
	const struct pass_ops name##_pass = {   \
		.turn = PASS_AFTER_MODEL,       \
		.failed = name##_pass_failed,   \
		.destroy = name##_pass_destroy, \
	}

/* The analyses of one pass, in the order in which they were created. */
struct passes {
	struct { const struct pass_ops *ops; void *analysis; } pass[PASSES_MAX];
	unsigned count;
};

struct pass_options {
	bool has_window;
	int64_t begin_ns, end_ns;	/* for window(); as the reader gives times */
	/*
	 * Called from time to time with the position, @clock_ns on the trace's clock, and with 0
	 * events at the end. May be NULL.
	 */
	void (*progress)(void *context, uint64_t events, uint64_t clock_ns);
	void *context;
};

/** pass_add() - add @analysis to the pass; passes_free() destroys it. */
void pass_add(struct passes *passes, const struct pass_ops *ops, void *analysis);

/**
 * pass_run() - bind, read the whole trace once, finish
 * @options: NULL: no window, no progress
 *
 * Return: 0, or -1 with @err: a trace error, or out of memory. The caller calls passes_free() in
 * each case.
 */
int pass_run(const struct passes *passes, struct kymo_ctf_reader *reader,
	     const struct pass_options *options, struct kymo_err *err);

/** pass_end() - the last step of pass_run() alone, for analyses that were fed by hand. Return: 0,
 * or -1 with @err. */
int pass_end(const struct passes *passes, struct kymo_err *err);

/** passes_free() - destroy the analyses in reverse order. The set is empty afterwards. */
void passes_free(struct passes *passes);

#endif
