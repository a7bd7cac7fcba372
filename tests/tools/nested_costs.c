/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Callbacks and spans inside of each other that allocate: /outer's callback, in it the span "nested"/"outer", in it /inner's callback,
 * in it the span "nested"/"inner"; ROUNDS times. In the end /inner's callback once more, which does not return. Each allocation has a
 * size of its own, so that sums tell which are in them. Prints "ready", then waits for a line.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include <kymo/kymo.h>

#include "tracetools/tracetools.h"

#define ROUNDS 5

enum { OUTER, INNER, NODES };

static void *volatile kept;		/* or the compiler leaves allocations out */

static const void *handle(uintptr_t base, unsigned number)
{
	return (const void *)(base + number * 0x40u);
}

static void make_node(unsigned number, const char *name)
{
	ros_trace_rcl_node_init(handle(0x2000, number), handle(0x3000, number), name, "/");
	ros_trace_rcl_timer_init(handle(0x4000, number), (int64_t)(number + 1) * 1000000000);
	ros_trace_rclcpp_timer_callback_added(handle(0x4000, number), handle(0x5000, number));
	ros_trace_rclcpp_timer_link_node(handle(0x4000, number), handle(0x2000, number));
	ros_trace_rclcpp_callback_register(handle(0x5000, number), "nested");
}

static void inner(void)
{
	ros_trace_callback_start(handle(0x5000, INNER), false);
	kept = malloc(1000);
	{
		KYMO_SPAN("nested", "inner");
		kept = malloc(10000);
	}
	ros_trace_callback_end(handle(0x5000, INNER));
}

int main(void)
{
	char line[16];

	ros_trace_rcl_init(handle(0x1000, 0));
	make_node(OUTER, "outer");
	make_node(INNER, "inner");
	(void)puts("ready");
	(void)fflush(stdout);
	if (!fgets(line, sizeof(line), stdin))
		return 1;
	for (unsigned round = 0; round < ROUNDS; round++) {
		ros_trace_callback_start(handle(0x5000, OUTER), false);
		kept = malloc(1);
		{
			KYMO_SPAN("nested", "outer");
			kept = malloc(10);
			inner();
			kept = malloc(100);
		}
		ros_trace_callback_end(handle(0x5000, OUTER));
	}
	ros_trace_callback_start(handle(0x5000, INNER), false);
	kept = malloc(100000);
	return 0;
}
