/* SPDX-License-Identifier: Apache-2.0 */
/* Summaries as files: nothing that counts gets lost, merging files is exact, and a damaged file is
 * an error. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <cmocka.h>

#include "summary/findings.h"
#include "summary/summary_collect.h"
#include "summary/summary_file.h"

static char path[64];

static struct summary *read_trace(int64_t begin_ns, int64_t end_ns)
{
	struct summary *summary = summary_new();
	struct kymo_ctf_reader *reader;
	struct kymo_err err;

	assert_int_equal(kymo_ctf_open(KYMO_FIXTURES "/lifecycle", &reader, &err), 0);
	assert_int_equal(summary_of_trace(summary, reader, begin_ns, end_ns, NULL, &err), 0);
	kymo_ctf_close(reader);
	return summary;
}

static struct summary *through_file(const struct summary *summary)
{
	struct summary *read = NULL;
	struct kymo_err err;

	assert_int_equal(summary_write(summary, path, &err), 0);
	assert_true(summary_is_file(path));
	assert_int_equal(summary_read(&read, path, &err), 0);
	return read;
}

/* The JSON of @path. */
static char *text_of(size_t *size)
{
	char *text = calloc(1, 1 << 20);
	gzFile file = gzopen(path, "rb");

	*size = (size_t)gzread(file, text, (1 << 20) - 1);
	gzclose(file);
	return text;
}

static void round_trip(void **state)
{
	struct summary *summary = read_trace(INT64_MIN, INT64_MAX), *read, *again;
	struct summary_finding a, b;
	size_t size[2];
	char *text[2];

	(void)state;
	summary->trust.lost_events = 5;
	summary->trust.lost_of = "p";
	read = through_file(summary);
	assert_int_equal(read->entities, summary->entities);
	assert_int_equal(read->events, summary->events);
	assert_int_equal(read->begin_ns, summary->begin_ns);
	assert_int_equal(read->end_ns, summary->end_ns);
	assert_int_equal(read->trust.lost_events, 5);
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *x = summary->entity[i], *y = read->entity[i];

		assert_string_equal(x->name, y->name);
		assert_string_equal(x->label, y->label);
		assert_string_equal(x->ask, y->ask);
		assert_memory_equal(x->count, y->count, sizeof(x->count));
		assert_int_equal(x->first_ns, y->first_ns);
		assert_int_equal(x->culprits, y->culprits);
		assert_int_equal(x->segments, y->segments);
		for (unsigned s = 0; s < x->segments; s++) {
			assert_int_equal(x->segment[s].what, y->segment[s].what);
			assert_string_equal(x->segment[s].who, y->segment[s].who);
			assert_int_equal(x->segment[s].ns, y->segment[s].ns);
			assert_memory_equal(x->segment[s].quantile, y->segment[s].quantile,
					    sizeof(x->segment[s].quantile));
		}
		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++) {
			const struct histogram *h = &x->histogram[d], *g = &y->histogram[d];
			const double exact = (double)histogram_quantile(h, 0.5);

			assert_int_equal(h->count, g->count);
			assert_int_equal(h->sum, g->sum);
			assert_int_equal(h->min, g->min);
			assert_int_equal(h->max, g->max);
			for (unsigned q = 0; x->quantile[d][0] && q < SUMMARY_QUANTILES; q++)
				assert_int_equal(summary_quantile(x, d, summary_quantile_at(q)),
						 summary_quantile(y, d, summary_quantile_at(q)));
			assert_true((double)histogram_quantile(g, 0.5) <= exact * 1.034 + 1);
			assert_true((double)histogram_quantile(g, 0.5) >= exact * 0.966 - 1);
		}
	}
	assert_true(summary_slowest(summary, &a) && summary_slowest(read, &b));
	assert_string_equal(a.entity->name, b.entity->name);
	/* What was read is written as it was. */
	text[0] = text_of(&size[0]);
	again = through_file(read);
	text[1] = text_of(&size[1]);
	assert_int_equal(size[0], size[1]);
	assert_string_equal(text[0], text[1]);
	free(text[0]);
	free(text[1]);
	summary_free(again);
	summary_free(read);
	summary_free(summary);
}

/* What is kept between two commands loses nothing. */
static void exact(void **state)
{
	struct summary *summary = read_trace(INT64_MIN, INT64_MAX), *read;
	size_t size[2];
	char *text[2];

	(void)state;
	assert_int_not_equal(summary->processes, 0);
	/* One of two of its names. */
	summary->entity[0]->label = "twin (talker 42)";
	summary->entity[0]->pid = 42;
	text[0] = summary_put_exact(summary, &size[0]);
	assert_non_null(text[0]);
	read = summary_get_exact(text[0]);
	assert_non_null(read);
	assert_int_equal(read->processes, summary->processes);
	assert_string_equal(read->entity[0]->label, "twin (talker 42)");
	assert_int_equal(read->entity[0]->pid, 42);
	for (unsigned i = 0; i < summary->entities; i++) {
		const struct summary_entity *x = summary->entity[i], *y = read->entity[i];

		assert_int_equal(x->worsts, y->worsts);
		for (unsigned w = 0; w < x->worsts; w++)
			assert_int_equal(x->worst[w].parts, y->worst[w].parts);
		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++) {
			const struct histogram *h = &x->histogram[d], *g = &y->histogram[d];

			assert_memory_equal(h->squares, g->squares, sizeof(h->squares));
			for (double q = 0; q <= 1; q += 0.01)
				assert_int_equal(histogram_quantile(h, q),
						 histogram_quantile(g, q));
		}
	}
	text[1] = summary_put_exact(read, &size[1]);
	assert_int_equal(size[0], size[1]);
	assert_string_equal(text[0], text[1]);
	assert_null(summary_get_exact("{\"kymo_summary\":2}"));
	assert_null(summary_get_exact("nothing"));
	free(text[0]);
	free(text[1]);
	summary_free(read);
	summary_free(summary);
}

/* Merging files equals merging, and then writing and reading. */
static void merged_files(void **state)
{
	struct summary *whole = read_trace(INT64_MIN, INT64_MAX);
	const int64_t middle_ns = whole->begin_ns / 2 + whole->end_ns / 2;
	struct summary *half[] = { read_trace(INT64_MIN, middle_ns),
				   read_trace(middle_ns + 1, INT64_MAX) };
	struct summary *before = summary_new(), *after = summary_new(), *file;

	(void)state;
	for (unsigned i = 0; i < 2; i++) {
		assert_int_equal(summary_merge(before, half[i]), 0);
		file = through_file(half[i]);
		assert_int_equal(summary_merge(after, file), 0);
		summary_free(file);
		summary_free(half[i]);
	}
	file = through_file(before);
	assert_int_equal(file->windows, 2);
	assert_int_equal(file->entities, after->entities);
	for (unsigned i = 0; i < file->entities; i++) {
		const struct summary_entity *x = file->entity[i], *y = after->entity[i];

		assert_string_equal(x->name, y->name);
		assert_memory_equal(x->count, y->count, sizeof(x->count));
		assert_true(!x->worsts || x->worst[0].value_ns == y->worst[0].value_ns);
		for (unsigned d = 0; d < SUMMARY_DISTRIBUTIONS; d++) {
			uint64_t middle[2], count[2];
			unsigned at[2] = { 0, 0 };
			bool more;

			assert_int_equal(x->histogram[d].sum, y->histogram[d].sum);
			do {
				more = histogram_next(&x->histogram[d], &at[0], &middle[0],
						      &count[0]);
				assert_int_equal(histogram_next(&y->histogram[d], &at[1],
								&middle[1], &count[1]),
						 more);
				assert_true(!more ||
					    (middle[0] == middle[1] && count[0] == count[1]));
			} while (more);
		}
	}
	summary_free(file);
	summary_free(before);
	summary_free(after);
	summary_free(whole);
}

static int read_text(const char *text, size_t size)
{
	struct summary_finding finding[SUMMARY_FINDINGS_MAX];
	struct summary *summary = NULL;
	struct kymo_err err = { .text = "" };
	gzFile file = gzopen(path, "wb1");
	char sentence[512];
	int status;

	assert_int_equal(gzwrite(file, text, (unsigned)size), size);
	gzclose(file);
	status = summary_read(&summary, path, &err);
	if (!status) {
		unsigned count = summary_findings(summary, finding, SUMMARY_FINDINGS_MAX);

		for (unsigned i = 0; i < count; i++)
			summary_finding_text(summary, &finding[i], sentence, sizeof(sentence));
	} else {
		assert_int_equal(err.status, KYMO_EXIT_INPUT);
		assert_non_null(strstr(err.text, path));
	}
	summary_free(summary);
	return status;
}

static void hostile(void **state)
{
	static const char *const bad[] = {
		"",
		"{}",
		"{\"kymo_summary\":2}",
		"[\"kymo_summary\",1]",
		"{\"kymo_summary\":1,\"events\":1,\"begin_ns\":5,\"end_ns\":4}",
		"{\"kymo_summary\":1,\"entities\":[{\"kind\":\"span\",\"name\":\"a\",\"duration\":"
		"{\"count\":2,\"max\":9,\"buckets\":[9,1]}}]}",
		"{\"kymo_summary\":1,\"entities\":[{\"kind\":\"span\",\"name\":\"a\",\"duration\":"
		"{\"count\":1,\"max\":9,\"buckets\":[976,1]}}]}",
		"{\"kymo_summary\":1,\"entities\":[{\"kind\":\"span\",\"name\":\"a\",\"duration\":"
		"{\"count\":1,\"max\":18446744073709551615,\"buckets\":[9,1]}}]}",
	};
	struct summary *summary = read_trace(INT64_MIN, INT64_MAX);
	uint64_t random = 5;
	unsigned good = 0;
	size_t size;
	char *text;

	(void)state;
	summary_free(through_file(summary));
	text = text_of(&size);
	summary_free(summary);
	for (unsigned i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		assert_int_equal(read_text(bad[i], strlen(bad[i])), -1);
	assert_int_equal(read_text(text, size), 0);
	assert_int_equal(read_text(text, size / 2), -1);
	/* Other digits and quotes: an answer or an error, never a crash. */
	for (unsigned i = 0; i < 300; i++) {
		char *copy = malloc(size + 1);

		memcpy(copy, text, size + 1);
		for (unsigned k = 0; k < 4; k++) {
			random = random * 6364136223846793005ull + 1442695040888963407ull;
			copy[16 + (random >> 20) % (size - 16)] =
				"0987-\"[]{}:,e."[(random >> 50) % 14];
		}
		good += read_text(copy, size) == 0;
		free(copy);
	}
	assert_in_range(good, 1, 299);
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(round_trip),
		cmocka_unit_test(exact),
		cmocka_unit_test(merged_files),
		cmocka_unit_test(hostile),
	};
	int status, fd;

	snprintf(path, sizeof(path), "/tmp/kymo-summary.XXXXXX");
	fd = mkstemp(path);
	if (fd < 0 || close(fd))
		return 1;
	status = cmocka_run_group_tests(tests, NULL, NULL);
	(void)unlink(path);
	return status;
}
