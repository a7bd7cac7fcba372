/* SPDX-License-Identifier: Apache-2.0 */
/* cputime, memory and profile where events were lost or left out, and inside a window. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <cmocka.h>

#include "analysis/system/system_cputime.h"
#include "analysis/system/system_memory.h"
#include "analysis/system/system_functions.h"
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

static void memory(struct memory *m, const char *name, int64_t ns, uint64_t a, uint64_t b,
		   uint64_t c)
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

/* Two functions of the kernel's, because these need no file for their names. */
#define OUTER 0xffff000000001000u
#define INNER 0xffff000000002000u
#define MAIN 0xffff000000000100u
#define OTHER 0xffff000000003000u

static void sample(struct profile *p, bool off, int64_t ns, int64_t duration,
		   const uint64_t *frames, unsigned count)
{
	const struct kymo_ctf_bind *bind;
	struct kymo_ctf_event event;
	unsigned rows;

	bind = profile_bind(p, &rows);
	event = event_of(row(bind, rows, off ? "kymo_stacks:off_cpu" : "kymo_stacks:sample"), ns,
			 (uint64_t)duration, 0, 0);
	event.value[2] = (struct kymo_ctf_value){ .bytes = (const char *)frames,
						  .size = count,
						  .present = 1 };
	assert_int_equal(profile_event(p, &event), 0);
}

static const struct profile_call *child_of(const struct profile_call *parent, uint64_t address)
{
	const struct profile_call *call = parent->child;

	while (call && call->address != address)
		call = call->sibling;
	assert_non_null(call);
	return call;
}

/* What is on the stack outside of a callback, too, is around it; a function that calls itself
 * counts once; time off the CPU is beside that on it. */
static void profile_samples(void **state)
{
	static const uint64_t outside[] = { OTHER, MAIN }, inside[] = { INNER, OUTER, MAIN },
			      again[] = { INNER, INNER, OUTER, MAIN };
	const struct profile_call *callback, *outer, *inner;
	struct functions functions;
	struct profile p;

	(void)state;
	profile_init(&p, NULL, INT64_MIN, INT64_MAX);
	p.sampled = true;
	call(&p, ENTRY, 10, 0xa); /* of the other source */
	sample(&p, false, 20, 5, outside, 2);
	call(&p, "ros2:callback_start", 100, 0xc);
	sample(&p, false, 110, 10, inside, 3);
	sample(&p, true, 150, 30, inside, 3);
	sample(&p, false, 160, 10, again, 4);
	call(&p, "ros2:callback_end", 200, 0xc);
	profile_finish(&p);
	callback = child_of(profile_thread(&p, 0)->root, 0xc);
	assert_int_equal(callback->calls, 1);
	assert_int_equal(callback->runs_ns, 100);
	assert_int_equal(callback->samples, 2);
	assert_int_equal(callback->total_ns, 20);
	/* An address behind a call is looked for one byte before. */
	assert_true(child_of(callback, MAIN - 1)->is_around);
	outer = child_of(child_of(callback, MAIN - 1), OUTER - 1);
	assert_false(outer->is_around);
	assert_int_equal(outer->calls, 0);
	assert_int_equal(outer->samples, 2);
	assert_int_equal(outer->total_ns, 20);
	assert_int_equal(outer->off_ns, 30);
	inner = child_of(outer, INNER);
	assert_int_equal(inner->own_ns, 10);
	assert_int_equal(inner->own_off_ns, 30);
	functions_collect(&functions, &p, true);
	for (unsigned i = 0; i < functions.count; i++)
		assert_int_not_equal(functions.row[i]->call->address, MAIN - 1);
	functions_free(&functions);
	profile_free(&p);
}

/* A callback that spins: what is around it, and the callback itself, are around the inner one. */
static void profile_nested(void **state)
{
	static const uint64_t outside[] = { OTHER, MAIN }, first[] = { OTHER, OUTER, MAIN },
			      second[] = { INNER, OUTER, MAIN };
	const struct profile_call *call_of_main, *call_of_outer;
	struct profile p;

	(void)state;
	profile_init(&p, NULL, INT64_MIN, INT64_MAX);
	p.sampled = true;
	sample(&p, false, 20, 5, outside, 2);
	call(&p, "ros2:callback_start", 100, 0xc);
	sample(&p, false, 110, 5, first, 3);
	call(&p, "ros2:callback_start", 120, 0xd);
	sample(&p, false, 130, 5, second, 3);
	call(&p, "ros2:callback_end", 140, 0xd);
	call(&p, "ros2:callback_end", 150, 0xc);
	profile_finish(&p);
	call_of_main =
		child_of(child_of(child_of(profile_thread(&p, 0)->root, 0xc), 0xd), MAIN - 1);
	assert_true(call_of_main->is_around);
	call_of_outer = child_of(call_of_main, OUTER - 1);
	assert_true(call_of_outer->is_around);
	assert_false(child_of(call_of_outer, INNER)->is_around);
	profile_free(&p);
}

static unsigned stack(struct modules *modules, const uint64_t *frames, unsigned count)
{
	const struct kymo_ctf_event event = event_of(0, 1, 0, 0, 0);
	const struct kymo_ctf_value value = { .bytes = (const char *)frames,
					      .size = count,
					      .present = 1 };
	uint64_t start[4];

	return modules_stack(modules, &event, 0, &value, count, start);
}

/* This program: what is data in its file calls nothing; what is in no file may be compiled while
 * the program runs, unless no caller of it is known. */
static void what_is_no_caller(void **state)
{
	extern const char __ehdr_start[], end[];
	static uint64_t data = 1;
	const uint64_t code = (uintptr_t)&what_is_no_caller, other = (uintptr_t)&stack,
		       nowhere = 0x7000;
	struct kymo_ctf_event event = event_of(0, 1, (uintptr_t)__ehdr_start,
					       (uintptr_t)end - (uintptr_t)__ehdr_start, 0);
	struct modules modules = { 0 };
	char path[4096] = "";

	(void)state;
	assert_true(readlink("/proc/self/exe", path, sizeof(path) - 1) > 0);
	event.value[2].bytes = path;
	modules_event(&modules, (unsigned)row(modules_bind, MODULES_BINDS, "lttng_ust_statedump:bin_info"),
		      &event);
	assert_int_equal(stack(&modules, (const uint64_t[]){ code, other, code }, 3), 3);
	assert_int_equal(stack(&modules, (const uint64_t[]){ code, (uintptr_t)&data, code }, 3), 1);
	assert_int_equal(stack(&modules, (const uint64_t[]){ (uintptr_t)&data, code }, 2), 2);
	assert_int_equal(stack(&modules, (const uint64_t[]){ code, nowhere, other }, 3), 3);
	assert_int_equal(stack(&modules, (const uint64_t[]){ code, other, nowhere, nowhere }, 4),
			 2);
	assert_int_equal(stack(&modules, (const uint64_t[]){ nowhere, nowhere }, 2), 2);
	assert_int_equal(data, 1);
	modules_free(&modules);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_is_no_caller),
		cmocka_unit_test(cputime_loss),
		cmocka_unit_test(cputime_window),
		cmocka_unit_test(memory_window),
		cmocka_unit_test(profile_lost_exit),
		cmocka_unit_test(profile_loss_and_depth),
		cmocka_unit_test(profile_samples),
		cmocka_unit_test(profile_nested),
	};

	return cmocka_run_group_tests_name("analysis_system", tests, NULL, NULL);
}
