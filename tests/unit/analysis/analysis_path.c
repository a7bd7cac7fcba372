/* SPDX-License-Identifier: Apache-2.0 */
/* The path of a message inside the middleware: what the model makes of its events, and how two
 * instances are compared. */
#include "analysis/why/why.h"
#include "dds_feed.h"

/* Up to its reception by the other process. */
static void travels(struct feed *f, int64_t ns)
{
	on(f, 1, 1);
	publish(f, ns, 0x100);
	DDS(ns + 10, "dds_send", "#writer", writer, P(16), "source_timestamp", P(ns + 2));
	on(f, 2, 3);
	DDS(ns + 20, "dds_receive", "#writer", writer, P(16), "source_timestamp", P(ns + 2));
}

static void cached(struct feed *f, int64_t ns, int64_t stamp)
{
	on(f, 2, 3);
	DDS(ns, "dds_cached", "#reader", reader, P(16), "source_timestamp", P(stamp));
}

static const struct model_dds *taken(struct feed *f, int64_t ns, int64_t stamp)
{
	const unsigned before = f->takens;

	on(f, 2, 2);
	take(f, ns, 0x200, stamp);
	start(f, ns + 1, 0x202);
	end(f, ns + 2, 0x202);
	assert_int_equal(f->takens, before + 1);
	return &f->taken[before].dds;
}

static void the_way_in_order(void **state)
{
	struct feed *f = *state;
	const struct model_dds *dds;
	struct model_dds_cut cut;

	two_processes(f);
	travels(f, 100);
	cached(f, 130, 102);
	dds = taken(f, 150, 102);
	assert_int_equal(dds->sent_ns, 110);
	assert_int_equal(dds->received_ns, 120);
	assert_int_equal(dds->cached_ns, 130);
	model_dds_cut(&cut, dds, 102, 150);
	assert_int_equal(cut.pieces, 4);
	assert_int_equal(cut.piece[3].part, MODEL_DDS_CACHE);
	assert_int_equal(cut.piece[3].to_ns - cut.piece[3].from_ns, 20);
}

/* Another thread takes the message before the middleware has called dds_cached. */
static void taken_before_cached(void **state)
{
	struct feed *f = *state;
	const struct model_dds *dds;

	two_processes(f);
	travels(f, 100);
	/* Nothing says that this reader has such events. */
	dds = taken(f, 125, 102);
	assert_int_equal(dds->cached_ns, 0);
	cached(f, 130, 102);
	travels(f, 200);
	dds = taken(f, 225, 202);
	cached(f, 230, 202);
	assert_int_equal(dds->cached_ns, 225);
	assert_int_equal(dds->received_ns, 220);
	assert_int_equal(dds->sent_ns, 210);
	/* A message without source timestamp is none of them. */
	cached(f, 240, 0);
	assert_int_equal(taken(f, 250, 0)->cached_ns, 0);
}

/* ---- the parts of two instances ---- */

static void add(struct why_parts *parts, unsigned hop, enum why_kind kind, int64_t begin_ns,
		int64_t ns)
{
	parts->part[parts->count++] = (struct why_part){
		.kind = kind,
		.hop = hop,
		.begin_ns = begin_ns,
		.end_ns = begin_ns + ns,
		.ns = ns,
		.longest_ns = ns,
		.pieces = 1,
	};
}

static void only_one_is_split(void **state)
{
	struct why_part of_a[8], of_b[8];
	struct why_parts a = { of_a, 0, 8 }, b = { of_b, 0, 8 };

	(void)state;
	add(&a, 1, WHY_PUBLISH, 0, 1);
	add(&a, 1, WHY_DDS, 1, 9);
	add(&a, 1, WHY_NETWORK, 10, 20);
	add(&a, 1, WHY_QUEUED, 30, 100);
	add(&a, 1, WHY_CACHE, 130, 5);
	add(&a, 3, WHY_DDS, 140, 7);
	add(&b, 1, WHY_TRANSPORT, 0, 40);
	add(&b, 3, WHY_DDS, 50, 6);
	assert_false(why_join_ways(&a, &b, 3));		/* both are split */
	assert_false(why_join_ways(&a, &b, 2));		/* nothing at all */
	assert_true(why_join_ways(&a, &b, 1));
	assert_int_equal(a.count, 4);
	assert_int_equal(a.part[1].kind, WHY_TRANSPORT);
	assert_int_equal(a.part[1].ns, 9 + 20 + 5);
	assert_int_equal(a.part[1].pieces, 2);
	assert_int_equal(a.part[1].longest_ns, 20);
	assert_int_equal(a.part[1].end_ns, 135);
	assert_int_equal(a.part[2].kind, WHY_QUEUED);
	assert_int_equal(a.part[3].kind, WHY_DDS);
	assert_int_equal(b.count, 2);
	assert_int_equal(b.part[0].ns, 40);
	assert_false(why_join_ways(&b, &a, 1));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(the_way_in_order),
		TEST(taken_before_cached),
		cmocka_unit_test(only_one_is_split),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
