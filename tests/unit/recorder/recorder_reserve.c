/* SPDX-License-Identifier: Apache-2.0 */
/* Room on the disk for the last kymo.json: held where the file system can, else asked for once. */
#include "place.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <cmocka.h>

#include "recorder/trace/sink_ctf.h"

static int refuse; /* an errno; 0: as the file system does */
static unsigned asked;

/* In front of that of libc. */
int fallocate(int fd, int mode, off_t offset, off_t length)
{
	asked++;
	if (refuse) {
		errno = refuse;
		return -1;
	}
	return (int)syscall(SYS_fallocate, fd, mode, offset, length);
}

struct place {
	char run[PLACE_RUN_SIZE], trace[PLACE_RUN_SIZE + 8], reserve[PLACE_RUN_SIZE + 40];
	struct sink *sink;
};

static int setup(void **state)
{
	struct place *place = place_create(sizeof *place);
	struct kymo_err err;

	if (!place)
		return -1;
	snprintf(place->trace, sizeof place->trace, "%s/trace", place->run);
	snprintf(place->reserve, sizeof place->reserve, "%s/kymo.json.reserve", place->trace);
	asked = 0;
	*state = place;
	return sink_ctf_create(place->trace, "0", 1, 1, NULL, &place->sink, &err);
}

static int teardown(void **state)
{
	struct place *place = *state;

	place->sink->ops->close(place->sink);
	return place_destroy(place);
}

/* Each second the recorder writes what it has counted so far. */
static void seconds_pass(struct place *place, unsigned seconds)
{
	for (unsigned i = 0; i < seconds; i++)
		assert_int_equal(place->sink->ops->accounts(place->sink, "{}", false), 0);
}

static void is_asked_once(struct place *place, int says)
{
	refuse = says;
	seconds_pass(place, 5);
	assert_int_equal(asked, 1);
	assert_int_equal(access(place->reserve, F_OK), -1);
}

static void a_file_system_that_cannot_is_asked_once(void **state)
{
	is_asked_once(*state, EOPNOTSUPP);
}

static void a_kernel_that_cannot_is_asked_once(void **state)
{
	is_asked_once(*state, ENOSYS);
}

static void a_full_disk_may_have_room_again(void **state)
{
	struct place *place = *state;
	struct stat st;

	refuse = ENOSPC;
	seconds_pass(place, 3);
	assert_int_equal(asked, 3);
	assert_int_equal(access(place->reserve, F_OK), -1);
	refuse = 0;
	seconds_pass(place, 1);
	assert_int_equal(stat(place->reserve, &st), 0);
	assert_true(st.st_blocks > 0);
	assert_int_equal(st.st_size, 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_file_system_that_cannot_is_asked_once),
		TEST(a_kernel_that_cannot_is_asked_once),
		TEST(a_full_disk_may_have_room_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
