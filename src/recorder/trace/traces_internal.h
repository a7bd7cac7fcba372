/* SPDX-License-Identifier: Apache-2.0 */
/* What traces.c and traces_packets.c share. */
#ifndef KYMO_RECORDER_TRACE_TRACES_INTERNAL_H
#define KYMO_RECORDER_TRACE_TRACES_INTERNAL_H

#include "recorder/drain/drained_process.h"
#include "recorder/drain/promise.h"
#include "recorder/trace/traces.h"

/* Of one process. */
struct traces_process {
	struct traces_process *next, **link;
	struct sink_process *at;
	struct ctf_writer *own; /* its own trace; NULL: it is in the shared one */
	uint64_t own_events;    /* in it */
	bool known;             /* its stream of facts holds those that are known */
	struct {
		bool done;        /* its runtime events are declared in the metadata ... */
		unsigned version; /* ... as this version of tracetools has them; 0: all */
	} declared[CTF_CLASS_COUNT];
};

/* One write, or several that belong together. */
struct traces_write {
	struct drained_process *process;
	enum kymo_promise_moves moves; /* what is taken from it for good with that */
};

/** traces_writer() - the trace that the process @at is in at the moment. */
struct ctf_writer *traces_writer(const struct traces *traces, const struct sink_process *at);

/** traces_before_write() - for ctf_writer_watch(): promise what is about to be written. @context:
 * struct traces_write. */
void traces_before_write(void *context, const struct ctf_place *place);

/** traces_wrote() - the write has ended with @rc: keep the promise, or take it back. Return: @rc.
 */
int traces_wrote(struct ctf_writer *writer, const struct traces_write *writing, int rc);

/**
 * traces_declare_runtime() - declare the runtime events of a process in @class
 *
 * They are declared when the first ones come: the version of tracetools is known by then. Return:
 * 0; -errno.
 */
int traces_declare_runtime(struct traces *traces, struct sink_process *at, enum ctf_class class);

#endif
