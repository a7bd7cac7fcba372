/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls tracetools as a node that keeps what it receives on /scan, and publishes it on /map from a
 * timer: `keeper N` makes N runs of the timer. In every third run nothing came before, and it
 * publishes nothing. Prints what it did.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "tracetools/tracetools.h"

#define AT(number) ((const void *)(uintptr_t)(number))

static void create(void)
{
	ros_trace_rcl_init(AT(0x1));
	ros_trace_rcl_node_init(AT(0x10), AT(0x11), "keeper", "/");
	ros_trace_rcl_subscription_init(AT(0x200), AT(0x10), AT(0x201), "/scan", 10);
	ros_trace_rclcpp_subscription_init(AT(0x200), AT(0x202));
	ros_trace_rclcpp_subscription_callback_added(AT(0x202), AT(0x203));
	ros_trace_rcl_publisher_init(AT(0x300), AT(0x10), AT(0x301), "/map", 10);
	ros_trace_rcl_timer_init(AT(0x400), 10000000);
	ros_trace_rclcpp_timer_callback_added(AT(0x400), AT(0x403));
	ros_trace_rclcpp_timer_link_node(AT(0x400), AT(0x10));
}

int main(int argc, char **argv)
{
	const int64_t runs = argc > 1 ? atoll(argv[1]) : 90;
	int64_t published = 0;

	create();
	for (int64_t i = 1; i <= runs; i++) {
		const bool came = i % 3 != 0;

		if (came) {
			ros_trace_callback_start(AT(0x203), false);
			ros_trace_callback_end(AT(0x203));
		}
		ros_trace_callback_start(AT(0x403), false);
		if (came) {
			ros_trace_rclcpp_publish(NULL, AT(0x9));
			ros_trace_rcl_publish(AT(0x300), AT(0x9));
			ros_trace_rmw_publish(AT(0x301), AT(0x9), 1700000000000000000 + i);
			published++;
		}
		ros_trace_callback_end(AT(0x403));
	}
	printf("runs %" PRId64 " published %" PRId64 "\n", runs, published);
	return 0;
}
