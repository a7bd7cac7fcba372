/* SPDX-License-Identifier: Apache-2.0 */
/* cputime, memory and profile where events were lost or left out, and inside a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/system/system_cputime.h"
#include "analysis/system/system_memory.h"
#include "analysis/system/system_profile.h"

/* The rows of the bind tables, by name. */
static int row(const struct kymo_ctf_bind *bind, unsigned count, const char *name)
{
	for (unsigned i = 0; i < count; i++)
		if (strcmp(bind[i].event, name) == 0)
			return (int)i;
	fail();
	return -1;
}

static struct kymo_ctf_event event_of(int bound, int64_t ns, uint64_t a, uint64_t b, uint64_t c)
{
	struct kymo_ctf_event event = { .bound = bound, .ns = ns, .vpid = 9, .vtid = 9, .procname = "p" };
	const uint64_t value[] = { a, b, c };

	for (unsigned i = 0; i < 3; i++) {
		event.value[i].present = 1;
		event.value[i].u = value[i];
	}
	return event;
}

static void switch_to(struct cputime *cputime, int64_t ns, uint64_t prev, uint64_t next)
{
	struct kymo_ctf_event event = event_of(0, ns, prev, next, 0);

	assert_int_equal(cputime_event(cputime, &event), 0);
}

static uint64_t sum_of(const struct cputime *cputime, int32_t tid)
{
	for (unsigned i = 0; cputime_thread(cputime, i); i++)
		if (cputime_thread(cputime, i)->os.tid == tid)
			return cputime_thread(cputime, i)->slice.sum;
	return 0;
}

static void cputime_loss(void **state)
{
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS, .procname = "" };
	struct cputime cputime;

	(void)state;
	cputime_init(&cputime, NULL, INT64_MIN, INT64_MAX);
	switch_to(&cputime, 100, 0, 7);
	switch_to(&cputime, 150, 7, 8);
	assert_int_equal(cputime_event(&cputime, &loss), 0);
	switch_to(&cputime, 900, 8, 7);		/* perhaps not since 150 */
	switch_to(&cputime, 930, 7, 0);
	assert_int_equal(sum_of(&cputime, 7), 80);
	assert_int_equal(sum_of(&cputime, 8), 0);
	cputime_free(&cputime);
}

static void cputime_window(void **state)
{
	struct cputime cputime;

	(void)state;
	cputime_init(&cputime, NULL, 120, 200);
	switch_to(&cputime, 100, 0, 7);
	switch_to(&cputime, 150, 7, 8);
	switch_to(&cputime, 300, 8, 7);
	switch_to(&cputime, 400, 7, 8);
	assert_int_equal(sum_of(&cputime, 7), 30);
	assert_int_equal(sum_of(&cputime, 8), 50);
	cputime_free(&cputime);
}

static void memory(struct memory *m, const char *name, int64_t ns, uint64_t a, uint64_t b, uint64_t c)
{
	const struct kymo_ctf_bind *bind;
	struct kymo_ctf_event event;
	unsigned count;

	bind = memory_bind(&count);
	event = event_of(row(bind, count, name), ns, a, b, c);
	assert_int_equal(memory_event(m, &event), 0);
}

static void memory_window(void **state)
{
	const struct memory_use *use;
	struct memory m;

	(void)state;
	memory_init(&m, NULL, 200, 300);
	memory(&m, "lttng_ust_libc:malloc", 100, 5000, 0x10, 0);	/* before: only followed */
	memory(&m, "lttng_ust_libc:free", 210, 0x10, 0, 0);
	memory(&m, "lttng_ust_libc:malloc", 220, 700, 0x20, 0);
	memory(&m, "lttng_ust_libc:malloc", 230, 300, 0x20, 0);		/* its free was lost */
	memory(&m, "lttng_ust_libc:free", 240, 0x99, 0, 0);		/* never seen */
	memory(&m, "lttng_ust_libc:free", 250, 0, 0, 0);
	memory(&m, "lttng_ust_libc:malloc", 400, 9000, 0x30, 0);
	memory(&m, "lttng_ust_libc:calloc", 410, UINT64_MAX, 16, 0x40);	/* a damaged size */
	use = &memory_process(&m, 0)->user;
	assert_int_equal(use->allocations, 2);
	assert_int_equal(use->allocated, 1000);
	assert_int_equal(use->frees, 2);
	assert_int_equal(use->unknown_frees, 1);
	assert_int_equal(use->most, 700);
	assert_int_equal(use->most_ns, 220);
	assert_int_equal(use->now, 9300);
	memory_free(&m);
}

static void call(struct profile *p, const char *name, int64_t ns, uint64_t address)
{
	const struct kymo_ctf_bind *bind;
	struct kymo_ctf_event event;
	unsigned count;

	bind = profile_bind(p, &count);
	event = event_of(row(bind, count, name), ns, address, 0, 0);
	assert_int_equal(profile_event(p, &event), 0);
}
#define ENTRY "lttng_ust_cyg_profile:func_entry"
#define EXIT "lttng_ust_cyg_profile:func_exit"

/* An exit that says whose it is ends what is inside it, too. */
static void profile_lost_exit(void **state)
{
	const struct profile_call *outer, *inner;
	struct profile p;

	(void)state;
	profile_init(&p, NULL, INT64_MIN, INT64_MAX);
	call(&p, EXIT, 50, 0xa);
	call(&p, ENTRY, 100, 0xa);
	call(&p, ENTRY, 110, 0xb);
	call(&p, EXIT, 200, 0xa);
	call(&p, ENTRY, 300, 0xa);
	profile_finish(&p);
	outer = profile_thread(&p, 0)->root->child;
	inner = outer->child;
	assert_int_equal(p.exits_without_entry, 1);
	assert_int_equal(outer->calls, 1);
	assert_int_equal(outer->total_ns, 100);
	assert_int_equal(outer->unfinished, 1);
	assert_int_equal(inner->calls, 0);
	assert_int_equal(inner->unfinished, 1);
	assert_null(outer->sibling);
	profile_free(&p);
}

static void profile_loss_and_depth(void **state)
{
	struct kymo_ctf_event loss = { .bound = KYMO_CTF_LOSS, .procname = "" };
	const struct profile_call *call_;
	struct profile p;
	unsigned i;

	(void)state;
	profile_init(&p, NULL, INT64_MIN, INT64_MAX);
	call(&p, ENTRY, 100, 0xa);
	assert_int_equal(profile_event(&p, &loss), 0);
	call(&p, "lttng_ust_cyg_profile_fast:func_exit", 200, 0);
	assert_int_equal(p.exits_without_entry, 1);
	for (i = 0; i < 1000; i++)
		call(&p, ENTRY, 300 + i, 0xa);
	for (i = 0; i < 1000; i++)
		call(&p, EXIT, 2000 + i, 0xa);
	profile_finish(&p);
	assert_int_equal(p.exits_without_entry, 1);
	call_ = profile_thread(&p, 0)->root->child;
	assert_int_equal(call_->calls, 1);
	assert_int_equal(call_->total_ns, 2999 - 300);
	for (i = 1; call_->child; i++)
		call_ = call_->child;
	assert_int_equal(i, PROFILE_DEPTH_MAX);
	profile_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(cputime_loss),
		cmocka_unit_test(cputime_window),
		cmocka_unit_test(memory_window),
		cmocka_unit_test(profile_lost_exit),
		cmocka_unit_test(profile_loss_and_depth),
	};

	return cmocka_run_group_tests_name("analysis_system", tests, NULL, NULL);
}
