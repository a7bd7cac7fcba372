/* SPDX-License-Identifier: Apache-2.0 */
/* The thread that receives /clock. See dds_clock.h. */
#include "base/now.h"
#include "base/thread.h"
#include "caret/dds/dds_clock.h"

#include <stdlib.h>
#include <time.h>

#define KYMO_REGISTER_LATE	/* no region for a program that never receives a /clock */
#include <kymo/kymo.h>

#include "caret/agent/sim_clock.h"
#include "messages.h"

#define NSEC_PER_SEC	1000000000
/* as nodes have it: when messages wait, their times of arrival are lost */
#define DEPTH		1

struct dds_clock {
	struct sim_clock sim;
	dds_entity_t reader, arrived, end, waitset;
	pthread_t thread;
	uint32_t domain;
	bool of_several;
	bool heard, unwanted, torn;	/* atomic */
};

static void keep(void *context, const struct sim_clock_point *pair)
{
	struct dds_clock *clock = context;

	__atomic_store_n(&clock->heard, true, __ATOMIC_RELAXED);
	if (__atomic_load_n(&clock->unwanted, __ATOMIC_RELAXED))
		return;
	if (clock->of_several)
		KYMO_TRACEPOINT("ros2_caret", "sim_time", ("stamp", (uint64_t)pair->stamp), ("at_ns", (uint64_t)pair->ns),
				("ros_domain", clock->domain));
	else
		KYMO_TRACEPOINT("ros2_caret", "sim_time", ("stamp", (uint64_t)pair->stamp), ("at_ns", (uint64_t)pair->ns));
}

void dds_clock_want(struct dds_clock *clock, bool wanted)
{
	__atomic_store_n(&clock->unwanted, !wanted, __ATOMIC_RELAXED);
}

static void take(struct dds_clock *clock)
{
	void *sample[1] = { NULL };
	dds_sample_info_t info[1];
	int64_t now = now_ns();	/* kymo_now() would make this a traced program too early */
	const rosgraph_msgs_msg_dds__Clock_ *message;

	if (dds_take(clock->reader, sample, info, 1, 1) <= 0)
		return;
	message = sample[0];
	if (info[0].valid_data && message->clock.sec >= 0 && message->clock.nanosec < NSEC_PER_SEC)
		sim_clock_message(&clock->sim, now,
				  (int64_t)message->clock.sec * NSEC_PER_SEC +
					  message->clock.nanosec);
	(void)dds_return_loan(clock->reader, sample, 1);
	__atomic_store_n(&clock->torn, clock->sim.skipped != 0, __ATOMIC_RELAXED);
}

static void *receive(void *context)
{
	struct dds_clock *clock = context;
	bool end = false;

	while (!end) {
		int64_t wait = sim_clock_tick(&clock->sim, now_ns());
		dds_attach_t woken[2];

		(void)dds_waitset_wait(clock->waitset, woken, 2, (dds_duration_t)wait);
		take(clock);
		(void)dds_read_guardcondition(clock->end, &end);
	}
	return NULL;
}

int dds_clock_open(struct dds_clock **result, struct bus *bus, unsigned rate, bool of_several,
		   struct kymo_err *err)
{
	struct dds_clock *clock = calloc(1, sizeof *clock);

	if (!clock)
		return err_no_memory(err);
	clock->domain = bus_domain(bus);
	clock->of_several = of_several;
	sim_clock_init(&clock->sim, rate, keep, clock);
	kymo__of_every_ros_domain();	/* its events count for programs of every ROS domain */
	clock->reader = bus_reader(bus, BUS_CLOCK, DEPTH, NULL, NULL, err);
	if (clock->reader < 0) {
		free(clock);
		return -1;
	}
	clock->arrived = dds_create_readcondition(clock->reader, DDS_ANY_STATE);
	clock->end = dds_create_guardcondition(bus_participant(bus));
	clock->waitset = dds_create_waitset(bus_participant(bus));
	if (clock->arrived < 0 || clock->end < 0 || clock->waitset < 0 ||
	    dds_waitset_attach(clock->waitset, clock->arrived, 0) < 0 ||
	    dds_waitset_attach(clock->waitset, clock->end, 0) < 0 ||
	    thread_start(&clock->thread, receive, clock)) {
		(void)dds_delete(clock->waitset);
		(void)dds_delete(clock->end);
		(void)dds_delete(clock->reader);
		free(clock);
		return err_no_memory(err);
	}
	*result = clock;
	return 0;
}

bool dds_clock_has_time(const struct dds_clock *clock)
{
	return __atomic_load_n(&clock->heard, __ATOMIC_RELAXED);
}

bool dds_clock_is_torn(const struct dds_clock *clock)
{
	return __atomic_load_n(&clock->torn, __ATOMIC_RELAXED);
}

void dds_clock_close(struct dds_clock *clock)
{
	if (!clock)
		return;
	(void)dds_set_guardcondition(clock->end, true);
	(void)pthread_join(clock->thread, NULL);
	(void)dds_delete(clock->waitset);
	(void)dds_delete(clock->end);
	(void)dds_delete(clock->reader);
	free(clock);
}
