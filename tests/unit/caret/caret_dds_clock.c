/* SPDX-License-Identifier: Apache-2.0 */
// needs: threads
/* /clock over DDS: who hears one becomes a traced program; what is no time does nothing. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "caret/dds/dds_clock.h"
#include "messages.h"

#define PATIENCE_S	60

static char directory[] = "/dev/shm/kymo-test-clock-XXXXXX";
static uint32_t domain;

/* Only on loopback, and nobody else's domain. */
static int set_up(void **state)
{
	(void)state;
	domain = 100 + (uint32_t)getpid() % 100;
	if (!mkdtemp(directory))
		return -1;
	return setenv("KYMO_DIR", directory, 1) ||
	       setenv("CYCLONEDDS_URI", "<General><Interfaces><NetworkInterface name=\"lo\" multicast=\"false\"/></Interfaces>"
		      "<AllowMulticast>false</AllowMulticast></General><Discovery><ParticipantIndex>auto</ParticipantIndex>"
		      "<MaxAutoParticipantIndex>99</MaxAutoParticipantIndex><Peers><Peer address=\"127.0.0.1\"/></Peers>"
		      "</Discovery>", 1);
}

static int tear_down(void **state)
{
	char command[sizeof directory + 16];

	(void)state;
	(void)snprintf(command, sizeof command, "rm -r %s", directory);
	return system(command);
}

static unsigned regions(void)
{
	DIR *dir = opendir(directory);
	const struct dirent *entry;
	unsigned count = 0;

	assert_non_null(dir);
	while ((entry = readdir(dir)))
		count += strtoul(entry->d_name, NULL, 10) == (unsigned long)getpid();
	(void)closedir(dir);
	return count;
}

static bool still(time_t until)
{
	(void)usleep(2000);
	return time(NULL) < until;
}

static struct bus *join(void)
{
	struct bus *bus;
	struct kymo_err err;

	if (bus_open(&bus, domain, NULL, NULL, &err) < 0)
		fail_msg("%s", err.text);
	return bus;
}

static void test_hears(void **state)
{
	rosgraph_msgs_msg_dds__Clock_ message = { { 0, 0 } };
	struct bus *here = join(), *there = join();
	time_t until = time(NULL) + PATIENCE_S;
	struct dds_clock *clock;
	struct kymo_err err;
	dds_entity_t writer = bus_writer(there, BUS_CLOCK, 1, &err);

	(void)state;
	assert_true(writer > 0);
	assert_int_equal(dds_clock_open(&clock, here, 10, false, &err), 0);
	while (bus_matched(writer) < 1 && still(until))
		;
	assert_int_equal(bus_matched(writer), 1);
	/* not begun yet, and no times */
	for (int i = 0; i < 50; i++) {
		message.clock.sec = i % 2 ? -i : 0;
		message.clock.nanosec = i % 2 ? 5 : i % 4 ? 4000000000u : 0;
		assert_int_equal(dds_write(writer, &message), DDS_RETCODE_OK);
		(void)usleep(1000);
	}
	assert_false(dds_clock_has_time(clock));
	assert_int_equal(regions(), 0);
	message.clock.nanosec = 0;
	for (message.clock.sec = 1; !dds_clock_has_time(clock) && still(until); message.clock.sec++)
		assert_int_equal(dds_write(writer, &message), DDS_RETCODE_OK);
	assert_true(dds_clock_has_time(clock));
	while (!regions() && still(until))
		;
	assert_int_equal(regions(), 1);
	dds_clock_close(clock);
	dds_clock_close(NULL);
	bus_close(here);
	bus_close(there);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hears),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
