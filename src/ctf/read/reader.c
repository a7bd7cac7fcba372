/* SPDX-License-Identifier: Apache-2.0 */
/* The reader's public functions: open, close, settings. Events are in reader_next.c. */
#include <stdlib.h>
#include <string.h>

#include "ctf/read/reader_print.h"
#include "ctf/read/stream_impl.h"

int kymo_ctf_open(const char *path, struct kymo_ctf_reader **reader, struct kymo_err *err)
{
	return kymo_ctf_open_all(&path, 1, reader, err);
}

int kymo_ctf_open_all(const char *const *path, unsigned paths, struct kymo_ctf_reader **reader,
		      struct kymo_err *err)
{
	struct kymo_ctf_reader *r = calloc(1, sizeof *r);
	int status;

	if (!r)
		return err_no_memory(err);
	status = budget_open(r, err);
	pthread_mutex_init(&r->warning_lock, NULL);
	r->window_begin = INT64_MIN;
	r->window_end = INT64_MAX;
	r->path = strdup(*path);
	for (unsigned i = 0; i < paths && !status; i++)
		status = tree_open(r, path[i], err);
	if (status || classes_plan(r, err) || reader_resume(r, err)) {
		kymo_ctf_close(r);
		return -1;
	}
	(void)kymo_ctf_rewind(r, err);	/* cannot fail */
	*reader = r;
	return 0;
}

void kymo_ctf_close(struct kymo_ctf_reader *r)
{
	if (!r)
		return;
	ahead_stop(r->ahead);
	pthread_mutex_destroy(&r->warning_lock);
	for (unsigned i = 0; i < r->stream_count; i++)
		stream_free(r->stream[i]);
	for (unsigned i = 0; i < r->trace_count; i++)
		trace_free(r->trace[i]);
	for (unsigned i = 0; i < r->warning_count; i++)
		free(r->warning[i]);
	for (unsigned i = 0; i < r->retired_count; i++)
		free(r->retired[i]);
	free(r->retired);
	pool_free(&r->bound);
	plan_out_free(&r->out);
	printer_free(r->printer);
	free(r->stream);
	free(r->trace);
	free(r->class);
	free(r->heap);
	free(r->path);
	free(r);
}

int kymo_ctf_rewind(struct kymo_ctf_reader *r, struct kymo_err *err)
{
	(void)err;
	ahead_stop(r->ahead);
	r->ahead = NULL;
	for (unsigned i = 0; i < r->stream_count; i++)
		stream_rewind(r->stream[i]);
	r->started = false;
	r->last = NULL;
	printer_rewind(r->printer);
	return 0;
}

static int copy_bind(struct pool *pool, struct kymo_ctf_bind *to, const struct kymo_ctf_bind *from)
{
	to->event = pool_text(pool, from->event, strlen(from->event));
	if (!to->event)
		return -1;
	for (unsigned k = 0; k < KYMO_CTF_BIND_FIELDS && from->field[k]; k++) {
		to->field[k] = pool_text(pool, from->field[k], strlen(from->field[k]));
		if (!to->field[k])
			return -1;
	}
	return 0;
}

int kymo_ctf_bind(struct kymo_ctf_reader *r, const struct kymo_ctf_bind *table, unsigned count,
		  struct kymo_err *err)
{
	struct kymo_ctf_bind *copy;

	r->bind_count = 0;
	pool_free(&r->bound);
	if (!table)
		count = 0;
	copy = pool_new(&r->bound, (count + 1) * sizeof *copy);
	if (!copy)
		return err_no_memory(err);
	r->bind = copy;
	for (unsigned i = 0; i < count; i++)
		if (copy_bind(&r->bound, &copy[i], &table[i]))
			return err_no_memory(err);
	r->bind_count = count;
	if (classes_plan(r, err))
		return -1;
	return kymo_ctf_rewind(r, err);
}

void kymo_ctf_threads(struct kymo_ctf_reader *r, unsigned threads)
{
	(void)kymo_ctf_rewind(r, NULL);
	r->threads = threads ? threads - 1 : ahead_threads(r);
}

void kymo_ctf_only_bound(struct kymo_ctf_reader *r, bool only)
{
	if (r->only_bound != only)
		(void)kymo_ctf_rewind(r, NULL);
	r->only_bound = only;
}

void kymo_ctf_until(struct kymo_ctf_reader *r, int64_t end_ns)
{
	r->window_end = end_ns;
}

int kymo_ctf_window(struct kymo_ctf_reader *r, int64_t begin_ns, int64_t end_ns,
		    struct kymo_err *err)
{
	r->window_begin = begin_ns;
	r->window_end = end_ns;
	return kymo_ctf_rewind(r, err);
}

void kymo_ctf_map_time(struct kymo_ctf_reader *r, int64_t (*map)(const void *context, int64_t ns),
		       const void *context)
{
	r->map_time = map;
	r->map_context = context;
}

int64_t kymo_ctf_mapped(const struct kymo_ctf_reader *r, int64_t ns)
{
	return r->map_time ? time_limited(r->map_time(r->map_context, ns)) : ns;
}
