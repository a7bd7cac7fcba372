/* SPDX-License-Identifier: Apache-2.0 */
/* See input_runs.h. */
#include "cli/input/input_runs.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/map.h"
#include "base/text.h"
#include "cli/input/trace_time.h"

#define LISTED 20u
#define SLACK_NS INT64_C(1000000000) /* recorders of several processes do not end at once */

/* The traces of one recording. */
struct input_run {
	const char *path; /* its first @length bytes: the directory of the recording */
	size_t length;
	const char *host;
	int64_t begin_ns, end_ns;
	uint64_t bytes;
	bool any; /* it has a packet */
};

struct runs {
	struct input_run *run;
	unsigned count, capacity;
	struct map by_path; /* index in run + 1, by a hash of the path; scope: of several with one
			       hash */
};

/* What lies below the directory of a recording, as kymo and LTTng lay it out; "append-" is for --append-trace of `ros2 trace`. */
static bool is_inside(const char *part, size_t length)
{
	static const char *const inside[] = { "ust", "kernel", "stacks", "archives" };

	for (unsigned i = 0; i < COUNT_OF(inside); i++)
		if (strlen(inside[i]) == length && !memcmp(part, inside[i], length))
			return true;
	return (length > 9 && !memcmp(part, "snapshot-", 9)) || (length > 7 && !memcmp(part, "append-", 7));
}

/* Bytes of @path that name the recording; at least those of @root. */
static size_t run_length(const char *path, size_t root)
{
	size_t at = root;

	while (path[at]) {
		size_t begin = at + (path[at] == '/'), length = strcspn(path + begin, "/");

		if (is_inside(path + begin, length))
			return at;
		at = begin + length;
	}
	return at;
}

/* FNV-1a, as text_hash(). */
static uint64_t hash_of(const char *path, size_t length)
{
	uint64_t hash = TEXT_HASH;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)path[i]) * 0x100000001b3ull;
	return hash;
}

static struct input_run *find(struct runs *runs, const char *path, size_t length, const char *host)
{
	const uint64_t hash = hash_of(path, length);
	uintptr_t at;
	uint64_t scope = 0;

	for (; (at = (uintptr_t)map_get(&runs->by_path, hash, scope)); scope++) {
		struct input_run *run = &runs->run[at - 1];

		if (run->length == length && !memcmp(run->path, path, length))
			return run;
	}
	if (!ARRAY_ROOM(runs->run, runs->count, runs->capacity))
		return NULL;
	runs->run[runs->count++] =
		(struct input_run){ .path = path, .length = length, .host = host };
	if (map_put(&runs->by_path, hash, scope, (void *)(uintptr_t)runs->count))
		return NULL;
	return &runs->run[runs->count - 1];
}

static void cover(struct input_run *run, int64_t begin_ns, int64_t end_ns)
{
	if (!run->any || begin_ns < run->begin_ns)
		run->begin_ns = begin_ns;
	if (!run->any || end_ns > run->end_ns)
		run->end_ns = end_ns;
	run->any = true;
}

/* Return: 0; -1: no memory. */
static int collect(struct runs *runs, const struct kymo_ctf_reader *reader, const char *root,
		   size_t length)
{
	for (unsigned i = 0; i < kymo_ctf_trace_count(reader); i++) {
		const struct kymo_ctf_trace_info *trace = kymo_ctf_trace(reader, i);
		const bool below = !strncmp(trace->path, root, length);

		if (!find(runs, trace->path, run_length(trace->path, below ? length : 0),
			  trace->hostname))
			return -1;
	}
	for (unsigned i = 0; runs->count > 1 && i < kymo_ctf_stream_count(reader); i++) {
		const struct kymo_ctf_stream_info *stream = kymo_ctf_stream(reader, i);
		const char *path = kymo_ctf_trace(reader, stream->trace)->path;
		const bool below = !strncmp(path, root, length);
		struct input_run *run = find(runs, path, run_length(path, below ? length : 0), "");

		if (!run)
			return -1;
		run->bytes += stream->bytes;
		/* A packet need not say when it was written: then the stream says nothing. */
		if (stream->packets && stream->end_ns)
			cover(run, kymo_ctf_time_of(reader, stream->trace, stream->begin_ns),
			      kymo_ctf_time_of(reader, stream->trace, stream->end_ns));
	}
	return 0;
}

static int by_host_and_begin(const void *a, const void *b)
{
	const struct input_run *x = a, *y = b;
	int order = strcmp(x->host, y->host);

	return order ? order : (x->begin_ns > y->begin_ns) - (x->begin_ns < y->begin_ns);
}

/*
 * Of one host, some recording began after all before it had ended. The clocks of different hosts
 * may differ by anything, so they say nothing about what belongs together.
 */
static bool are_apart(struct runs *runs)
{
	int64_t end_ns = 0;

	qsort(runs->run, runs->count, sizeof(*runs->run), by_host_and_begin);
	for (unsigned i = 0; i < runs->count; i++) {
		const struct input_run *run = &runs->run[i];
		const bool same = i && !strcmp(run->host, run[-1].host);

		if (same && run->begin_ns > end_ns + SLACK_NS)
			return true;
		if (!same || run->end_ns > end_ns)
			end_ns = run->end_ns;
	}
	return false;
}

/* The error, and then the recordings to choose from: a text for people, longer than an error. */
static void list(const char *verb, const char *path, const struct runs *runs, size_t root)
{
	char begin[CLI_TIME_MAX], length[TEXT_QUANTITY_MAX], bytes[TEXT_QUANTITY_MAX], name[512],
		clean[4 * CLI_PATH_MAX];

	text_clean(clean, sizeof(clean), path);
	(void)fflush(stdout);
	fprintf(stderr, "kymo %s: %s holds %u recordings: choose one, or add --merge\n", verb,
		clean, runs->count);
	for (unsigned i = 0; i < runs->count && i < LISTED; i++) {
		const struct input_run *run = &runs->run[i];
		const size_t skip = run->length > root ? root + (run->path[root] == '/') : 0;

		(void)snprintf(name, sizeof(name), "%.*s", (int)(run->length - skip),
			       run->path + skip);
		(void)text_clean(clean, sizeof(clean), name);
		cli_print_point(begin, run->begin_ns);
		begin[19] = 0; /* whole seconds */
		fprintf(stderr, "    %s  %9s  %9s  %s\n", begin,
			text_ns(length, run->end_ns - run->begin_ns), text_bytes(bytes, run->bytes),
			clean);
	}
	if (runs->count > LISTED)
		fprintf(stderr, "    ... and %u more\n", runs->count - LISTED);
}

/* Recordings without a packet say nothing. */
static void drop_empty(struct runs *runs)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < runs->count; i++)
		if (runs->run[i].any)
			runs->run[kept++] = runs->run[i];
	runs->count = kept;
}

int cli_one_run(const char *verb, const struct cli_traces *traces,
		const struct kymo_ctf_reader *reader, struct kymo_err *err)
{
	const char *root = traces->path[0];
	struct runs runs = { 0 };
	size_t length = strlen(root);
	int status = 0;

	if (traces->count > 1)
		return 0;
	while (length > 1 && root[length - 1] == '/')
		length--;
	if (collect(&runs, reader, root, length))
		status = err_no_memory(err);
	drop_empty(&runs);
	if (!status && runs.count > 1 && are_apart(&runs)) {
		list(verb, root, &runs, length);
		status = err_set(err, KYMO_EXIT_USAGE, "%s", ""); /* it was printed */
	}
	map_free(&runs.by_path);
	free(runs.run);
	return status;
}

int cli_one_run_below(const char *verb, const struct cli_traces *traces, struct kymo_err *err)
{
	struct kymo_ctf_reader *reader;
	int status;

	if (traces->count > 1)
		return 0;
	if (kymo_ctf_open(traces->path[0], &reader, err))
		return -1;
	status = cli_one_run(verb, traces, reader, err);
	kymo_ctf_close(reader);
	return status;
}
