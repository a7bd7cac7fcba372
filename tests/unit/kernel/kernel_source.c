/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/*
 * Where the kernel's events come from: what tracefs gives and says to have lost is what the kernel
 * counts, to the event; its pages are read as its header_event tells, and damaged ones do no harm.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <cmocka.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kernel/kernel_source.h"

#define ROUNDS 3000

/* ---- against the kernel's own count ---- */

struct pair {
	int there[2], back[2];
};

static void *answer(void *context)
{
	struct pair *pair = context;
	char byte;

	while (read(pair->there[0], &byte, 1) == 1)
		(void)!write(pair->back[1], &byte, 1);
	return NULL;
}

/* Two threads that wake each other. */
static void work(void)
{
	struct pair pair;
	pthread_t thread;
	char byte = 0;

	assert_int_equal(pipe(pair.there) | pipe(pair.back), 0);
	assert_int_equal(pthread_create(&thread, NULL, answer, &pair), 0);
	for (int i = 0; i < ROUNDS; i++) {
		assert_int_equal(write(pair.there[1], &byte, 1), 1);
		assert_int_equal(read(pair.back[0], &byte, 1), 1);
	}
	(void)close(pair.there[1]);
	(void)pthread_join(thread, NULL);
	(void)close(pair.there[0]);
	(void)close(pair.back[0]);
	(void)close(pair.back[1]);
}

static uint64_t sum(struct ksource *source, const struct kformat *format, uint64_t *lost)
{
	uint64_t records = 0;
	bool full = false;

	*lost = 0;
	for (unsigned i = 0; i < source->cpus; i++) {
		const struct krecord *record;
		uint64_t last_ns = 0;

		if (!source->ops->there(source, i))
			continue;
		source->ops->capture(source, i);
		for (; (record = source->ops->peek(source, i)); source->ops->next(source, i)) {
			assert_true(format_find(format, record) < kevent_count);
			/* An interrupt between the clock and the record comes first. */
			assert_true(record->ns + 1000000 > last_ns);
			last_ns = record->ns;
			records++;
		}
		*lost += source->ops->lost(source, i, &full);
	}
	return records + *lost;
}

/* Events that were read out of tracefs' buffers, by the kernel's count. */
static uint64_t count_read(unsigned cpus)
{
	char path[PATH_MAX], line[128];
	unsigned long long count, all = 0;

	for (unsigned i = 0; i < cpus; i++) {
		FILE *file;

		(void)snprintf(path, sizeof(path), "%s/instances/kymo-%d/per_cpu/cpu%u/stats", format_tracefs(),
			       (int)getpid(), i);
		file = fopen(path, "r");
		while (file && fgets(line, sizeof(line), file))
			if (sscanf(line, "read events: %llu", &count) == 1)
				all += count;
		if (file)
			(void)fclose(file);
	}
	return all;
}

/* @size: of tracefs' buffers. Return: what was lost. */
static uint64_t compare(const struct kformat *format, size_t size)
{
	struct ksource *outer, *inner, *source;
	uint64_t lost, ignored, happened, at_least, at_most;
	struct kymo_err err;

	assert_int_equal(ksource_perf.open(&outer, format, 128u << 10, &err), 0);
	assert_int_equal(ksource_perf.open(&inner, format, 128u << 10, &err), 0);
	assert_int_equal(ksource_tracefs.open(&source, format, size, &err), 0);
	outer->ops->start(outer);
	source->ops->start(source);
	inner->ops->start(inner);
	work();
	inner->ops->stop(inner);
	source->ops->stop(source);
	outer->ops->stop(outer);
	at_least = sum(inner, format, &ignored);
	happened = sum(source, format, &lost);
	at_most = sum(outer, format, &ignored);
	print_message("%zu KiB: %llu <= %llu <= %llu, lost %llu\n", size >> 10,
		      (unsigned long long)at_least, (unsigned long long)happened,
		      (unsigned long long)at_most, (unsigned long long)lost);
	assert_true(at_least <= happened && happened <= at_most);
	assert_true(at_least > ROUNDS);
	assert_int_equal(happened - lost, count_read(source->cpus));
	outer->ops->close(outer);
	inner->ops->close(inner);
	source->ops->close(source);
	return lost;
}

static void tracefs_counts_as_the_kernel(void **state)
{
	struct kformat format[KEVENT_ID_COUNT] = { 0 };
	const char *tracefs = format_tracefs();
	struct ksource *probe = NULL;
	char path[PATH_MAX];
	struct kymo_err err;

	(void)state;
	/* Without counters, which tracefs does not have. */
	for (unsigned i = 0; tracefs && i < kevent_count; i++)
		if (kevents[i].system && !calls_is_one(i))
			(void)format_read(tracefs, &kevents[i], &format[i]);
	if (!tracefs || ksource_tracefs.open(&probe, format, 128u << 10, &err) < 0)
		skip();
	/* One that a killed recorder left goes at the next start; ours when it is closed. */
	probe->ops->close(probe);
	(void)snprintf(path, sizeof(path), "%s/instances/kymo-%d", tracefs, (int)getpid());
	assert_int_equal(access(path, F_OK), -1);
	if (ksource_perf.open(&probe, format, 128u << 10, &err) < 0)
		skip();
	probe->ops->close(probe);
	assert_int_equal(compare(format, 8u << 20), 0);
	assert_true(compare(format, 128u << 10) > 0);
}

/* ---- pages made here ---- */

#define PAGE 4096u

static size_t put_u32(uint8_t *at, uint32_t value)
{
	memcpy(at, &value, sizeof(value));
	return sizeof(value);
}

/* A record's head, as this machine has bit fields. */
static uint32_t head(uint32_t kind, uint32_t delta)
{
	return __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__ ? kind | delta << 5 : kind << 27 | delta;
}

static size_t begin(uint8_t *page, uint64_t ns)
{
	memset(page, 0, PAGE);
	memcpy(page, &ns, sizeof(ns));
	return sizeof(ns) + sizeof(long);
}

static void end(uint8_t *page, size_t at)
{
	/* With the mark that some are missing. */
	long used = (long)(at - sizeof(uint64_t) - sizeof(long)) | (1u << 31);

	memcpy(page + sizeof(uint64_t), &used, sizeof(used));
}

static void expect(struct kpages *pages, uint64_t ns, uint32_t size, uint8_t first)
{
	const struct krecord *record = pages_peek(pages);

	assert_non_null(record);
	assert_ptr_equal(pages_peek(pages), record);
	assert_int_equal(record->ns, ns);
	assert_int_equal(record->raw_size, size);
	assert_int_equal(record->raw[0], first);
	pages_next(pages);
}

static void pages_are_read(void **state)
{
	struct kpages pages = { .size = PAGE };
	uint8_t *page = pages_room(&pages, 10);
	size_t at = begin(page, 1ull << 60);

	(void)state;
	at += put_u32(page + at, head(2, 5));			/* two words */
	at += put_u32(page + at, 'a') + 4;
	at += put_u32(page + at, head(30, 1));			/* a long time */
	at += put_u32(page + at, 2);
	at += put_u32(page + at, head(0, 0));			/* counted bytes */
	at += put_u32(page + at, 4 + 120);
	page[at] = 'b';
	at += 120;
	at += put_u32(page + at, head(29, 7));			/* one that was taken back */
	at += put_u32(page + at, 4 + 8) + 8;
	at += put_u32(page + at, head(31, 9));			/* a time itself */
	at += put_u32(page + at, 100);
	at += put_u32(page + at, head(1, 0));
	at += put_u32(page + at, 'c');
	end(page, at);
	pages.count++;
	page = pages_room(&pages, 10);
	at = begin(page, 77);
	at += put_u32(page + at, head(1, 1));
	at += put_u32(page + at, 'd');
	at += put_u32(page + at, head(29, 0));			/* nothing from here on */
	at += put_u32(page + at, 'x');
	end(page, at);
	pages.count++;
	expect(&pages, (1ull << 60) + 5, 8, 'a');
	expect(&pages, (1ull << 60) + 6 + (2ull << 27), 120, 'b');
	expect(&pages, (1ull << 60 >> 59 << 59) + (100ull << 27) + 9, 4, 'c');
	assert_int_equal(pages_peek(&pages)->raw[0], 'd');
	pages_forget(&pages);					/* what was looked at stays */
	assert_int_equal(pages.count, 1);
	expect(&pages, 78, 4, 'd');
	assert_null(pages_peek(&pages));
	pages_forget(&pages);
	assert_int_equal(pages.count, 0);
	free(pages.data);
}

static void damage_does_no_harm(void **state)
{
	(void)state;
	srand(9);
	for (unsigned round = 0; round < 2000; round++) {
		struct kpages pages = { .size = 256 };
		const struct krecord *record;
		uint64_t bytes = 0;

		for (unsigned i = 0; i < 3; i++) {
			uint8_t *page = pages_room(&pages, 10);

			for (unsigned byte = 0; byte < 256; byte++)
				page[byte] = (uint8_t)(rand() >> 7) & (round % 2 ? 0xff : 0x1f);
			pages.count++;
		}
		for (; (record = pages_peek(&pages)); pages_next(&pages))
			for (uint32_t byte = 0; byte < record->raw_size; byte++)
				bytes += record->raw[byte] != 0;
		assert_true(bytes <= 3 * 256);
		free(pages.data);
	}
}

/* Only those are written that the list does not have, all at once. The list is longer than one
 * read. */
static void threads_are_listed_once(void **state)
{
	enum { LISTED = 3000, ASKED = LISTED + 2 };
	char dir[] = "/tmp/kymo_pids_XXXXXX", path[64], text[64] = "";
	static int32_t tid[ASKED];
	int at;
	FILE *list;

	(void)state;
	assert_non_null(mkdtemp(dir));
	(void)snprintf(path, sizeof(path), "%s/set_event_pid", dir);
	list = fopen(path, "w");
	assert_non_null(list);
	for (int i = 0; i < ASKED; i++) {
		tid[i] = 10000 + i;
		if (i < LISTED)
			fprintf(list, "%d\n", tid[i]);
	}
	assert_int_equal(fclose(list), 0);
	at = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	assert_true(at >= 0);
	assert_int_equal(pids_add(at, tid, LISTED), 0);
	assert_int_equal(pids_add(at, tid, ASKED), ASKED - LISTED);
	list = fopen(path, "r");
	assert_non_null(list);
	assert_non_null(fgets(text, sizeof(text), list));
	assert_int_equal(strncmp(text, "13000 13001 ", 12), 0);
	assert_int_equal(fclose(list), 0);
	assert_int_equal(unlink(path), 0);
	assert_true(pids_add(at, tid, 1) < 0);
	assert_int_equal(close(at), 0);
	assert_int_equal(rmdir(dir), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(pages_are_read),
		cmocka_unit_test(damage_does_no_harm),
		cmocka_unit_test(threads_are_listed_once),
		cmocka_unit_test(tracefs_counts_as_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
