/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A vehicle of many nodes, for top.py: each process has one node, whose timer publishes a message
 * that its own subscription receives. That is ten events.
 *
 *   bench_vehicle PROCESSES EVENTS_PER_S SECONDS        events of all together
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <signal.h>
#include <time.h>
#include <unistd.h>

#include "tracetools/tracetools.h"

#define EVENTS 10 /* of a turn */
#define AT(number) ((const void *)(uintptr_t)(number))

static const uint8_t gid[16];

static void create(unsigned number, double period_s)
{
	char node[32], topic[32];

	(void)snprintf(node, sizeof(node), "node_%u", number);
	(void)snprintf(topic, sizeof(topic), "/topic_%u", number);
	ros_trace_rcl_init(AT(0x1000));
	ros_trace_rcl_node_init(AT(0x2000), AT(0x2010), node, "/");
	ros_trace_rmw_publisher_init(AT(0x3010), gid);
	ros_trace_rcl_publisher_init(AT(0x3000), AT(0x2000), AT(0x3010), topic, 10);
	ros_trace_rmw_subscription_init(AT(0x4010), gid);
	ros_trace_rcl_subscription_init(AT(0x4000), AT(0x2000), AT(0x4010), topic, 10);
	ros_trace_rclcpp_subscription_init(AT(0x4000), AT(0x4020));
	ros_trace_rclcpp_subscription_callback_added(AT(0x4020), AT(0x4030));
	ros_trace_rclcpp_callback_register(AT(0x4030), "received()");
	ros_trace_rcl_timer_init(AT(0x5000), (int64_t)(period_s * 1e9));
	ros_trace_rclcpp_timer_callback_added(AT(0x5000), AT(0x5030));
	ros_trace_rclcpp_callback_register(AT(0x5030), "on_timer()");
	ros_trace_rclcpp_timer_link_node(AT(0x5000), AT(0x2000));
}

static void turn(int64_t stamp)
{
	ros_trace_callback_start(AT(0x5030), false);
	ros_trace_rclcpp_publish(NULL, AT(0x6000));
	ros_trace_rcl_publish(AT(0x3000), AT(0x6000));
	ros_trace_rmw_publish(AT(0x3010), AT(0x6000), stamp);
	ros_trace_callback_end(AT(0x5030));
	ros_trace_rmw_take(AT(0x4010), AT(0x7000), stamp, true);
	ros_trace_rcl_take(AT(0x7000));
	ros_trace_rclcpp_take(AT(0x7000));
	ros_trace_callback_start(AT(0x4030), false);
	ros_trace_callback_end(AT(0x4030));
}

static int64_t now_ns(void)
{
	struct timespec t;

	(void)clock_gettime(CLOCK_REALTIME, &t);
	return t.tv_sec * 1000000000ll + t.tv_nsec;
}

static void drive(unsigned number, double period_s, double seconds)
{
	const int64_t begin = now_ns();

	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	create(number, period_s);
	for (int64_t i = 0; (double)i * period_s < seconds; i++) {
		const int64_t wait = begin + (int64_t)((double)i * period_s * 1e9) - now_ns();

		if (wait > 0)
			(void)usleep((useconds_t)(wait / 1000));
		turn(now_ns());
	}
	_exit(0);
}

int main(int argc, char **argv)
{
	unsigned processes;

	if (argc != 4) {
		(void)fprintf(stderr, "usage: bench_vehicle PROCESSES EVENTS_PER_S SECONDS\n");
		return 2;
	}
	processes = (unsigned)strtoul(argv[1], NULL, 10);
	for (unsigned i = 0; i < processes; i++)
		if (fork() == 0)
			drive(i, EVENTS * processes / strtod(argv[2], NULL), strtod(argv[3], NULL));
	while (wait(NULL) > 0)
		;
	return 0;
}
