/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Counts the callbacks of a ROS 2 trace and their time, by thread: what a program that reads
 * traces with libkymo-ctf looks like.
 *
 *     cc callbacks.c $(pkg-config --cflags --libs kymo-ctf) && ./a.out TRACE
 */
#include <kymo/ctf.h>

#include <inttypes.h>
#include <stdio.h>

/* What is wanted of the trace; event.bound is the row, event.value[] are its fields. */
enum { START, END };
static const struct kymo_ctf_bind wanted[] = {
	[START] = { "ros2:callback_start", { "callback" } },
	[END] = { "ros2:callback_end", { "callback" } },
};

#define THREADS_MAX 256
static struct thread {
	int32_t vpid, vtid;
	int64_t since;			/* the callback that runs; 0: none */
	uint64_t count;
	int64_t ns;
} threads[THREADS_MAX];

static struct thread *thread_of(const struct kymo_ctf_event *event)
{
	struct thread *t = threads;

	while (t < threads + THREADS_MAX && t->vtid &&
	       (t->vtid != event->vtid || t->vpid != event->vpid))
		t++;
	if (t == threads + THREADS_MAX)
		return NULL;
	t->vpid = event->vpid;
	t->vtid = event->vtid;
	return t;
}

static void count(const struct kymo_ctf_event *event)
{
	struct thread *t = thread_of(event);

	if (!t)
		return;
	if (event->bound == START) {
		t->since = event->ns;
	} else if (t->since) {
		t->count++;
		t->ns += event->ns - t->since;
		t->since = 0;
	}
}

int main(int argc, char **argv)
{
	struct kymo_ctf_reader *reader;
	struct kymo_ctf_event event;
	struct kymo_err err;
	uint64_t lost = 0;

	if (argc != 2) {
		fprintf(stderr, "usage: callbacks TRACE\n");
		return 2;
	}
	if (kymo_ctf_open(argv[1], &reader, &err) || kymo_ctf_bind(reader, wanted, 2, &err)) {
		fprintf(stderr, "callbacks: %s\n", err.text);
		return 1;
	}
	kymo_ctf_only_bound(reader, true);	/* all others are passed over */
	kymo_ctf_threads(reader, 0);		/* as many as this trace is worth */
	while (kymo_ctf_next(reader, &event, &err) > 0) {
		if (event.bound == KYMO_CTF_LOSS)
			lost += event.lost;
		else
			count(&event);
	}
	for (const struct thread *t = threads; t < threads + THREADS_MAX && t->vtid; t++)
		printf("process %" PRId32 " thread %" PRId32 ": %" PRIu64 " callbacks, %.3f ms\n", t->vpid, t->vtid,
		       t->count, (double)t->ns / 1e6);
	if (lost)
		printf("%" PRIu64 " events were lost by the tracer\n", lost);
	for (unsigned i = 0; i < kymo_ctf_warning_count(reader); i++)
		fprintf(stderr, "callbacks: %s\n", kymo_ctf_warning(reader, i));
	kymo_ctf_close(reader);
	return 0;
}
