/* SPDX-License-Identifier: Apache-2.0 */
/* Programs that count for a recorder that was killed: they are as before, and only they. */
#include "place.h"
#include "producer.h"

#include "recorder/runtime/claim.h"
#include "recorder/runtime/counts_left.h"

#define SPAN (KYMO_POINTS_TABLE + 7u)

struct place {
	char run[PLACE_RUN_SIZE];
	struct rundir dir;
	struct producer producer;
	uint8_t *enable;
	unsigned counted; /* an event of the table */
};

static int setup(void **state)
{
	struct place *place = place_create(sizeof(*place));
	struct kymo_err err;

	if (!place || rundir_open(&place->dir, place->run, false, &err) < 0)
		return -1;
	producer_open(&place->producer, place->run);
	place->enable = (uint8_t *)producer_page(&place->producer, KYMO_ENABLE_PAGE);
	while (KYMO_COUNTED_AS(place->counted) == KYMO_COUNT_NOT)
		place->counted++;
	place->producer.region->state = KYMO_STATE_PREPARE;
	place->enable[place->counted] = KYMO_ENABLE_COUNT;
	place->enable[SPAN] = KYMO_ENABLE_COUNT;
	*state = place;
	return 0;
}

static int teardown(void **state)
{
	struct place *place = *state;

	producer_close(&place->producer);
	rundir_close(&place->dir);
	return place_destroy(place);
}

static void test_dead_recorder(void **state)
{
	struct place *place = *state;

	assert_int_equal(counts_left_end(&place->dir), 1);
	assert_int_equal(place->producer.region->state, KYMO_STATE_WAIT);
	assert_int_equal(place->enable[place->counted], KYMO_ENABLE_NO);
	assert_int_equal(place->enable[SPAN], KYMO_ENABLE_NO);
	assert_int_equal(counts_left_end(&place->dir), 0);
}

/* While a recorder has the claim, that recorder decides. */
static void test_living_recorder(void **state)
{
	struct place *place = *state;
	const int fd = open(place->producer.path, O_RDWR | O_CLOEXEC);

	assert_int_equal(claim(fd), 0);
	assert_int_equal(counts_left_end(&place->dir), 0);
	assert_int_equal(place->producer.region->state, KYMO_STATE_PREPARE);
	assert_int_equal(place->enable[place->counted], KYMO_ENABLE_COUNT);
	claim_release(fd);
	assert_int_equal(counts_left_end(&place->dir), 1);
	/* It gave its own claim back. */
	assert_int_equal(claim(fd), 0);
	claim_release(fd);
	assert_int_equal(close(fd), 0);
}

/* A paused recording whose recorder was killed counts nothing: the next recorder continues it. */
static void test_paused(void **state)
{
	struct place *place = *state;

	place->enable[place->counted] = place->enable[SPAN] = KYMO_ENABLE_NO;
	assert_int_equal(counts_left_end(&place->dir), 0);
	assert_int_equal(place->producer.region->state, KYMO_STATE_PREPARE);
}

static void test_flight(void **state)
{
	struct place *place = *state;
	struct kymo_declaration *span = calloc(1, sizeof(*span) + 8);

	span->id = SPAN;
	producer_init_record(&place->producer, KYMO_LOG_DECLARE, span, sizeof(*span) + 8);
	free(span);
	place->producer.region->flags |= KYMO_REGION_FLIGHT;
	assert_int_equal(counts_left_end(&place->dir), 1);
	assert_int_equal(place->producer.region->state, KYMO_STATE_RECORD);
	assert_int_equal(place->producer.region->mode, KYMO_MODE_OVERWRITE);
	for (unsigned id = 0; id < KYMO_PAGE; id++)
		assert_int_equal(place->enable[id],
				 id == SPAN || (id < KYMO_POINTS_TABLE &&
						kymo_points[id].phase == KYMO_PHASE_RUN));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_dead_recorder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_living_recorder, setup, teardown),
		cmocka_unit_test_setup_teardown(test_paused, setup, teardown),
		cmocka_unit_test_setup_teardown(test_flight, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
