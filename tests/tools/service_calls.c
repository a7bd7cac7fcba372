/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls tracetools as a client, a service and a fusing node of Kilted and later do: `service_calls
 * N` makes N service calls, of which every fifth gets no answer, and N / 2 pairs of messages with
 * one fused message each, by a message link. Prints what it did.
 */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "tracetools/tracetools.h"

#define AT(number) ((const void *)(uintptr_t)(number))

static const uint8_t gid[16] = { 1, 1, 2, 3, 5, 8, 13, 21, 34, 55, 89, 144, 1, 2, 3, 4 };

static void create(void)
{
	const void *subs[] = { AT(0x200), AT(0x210) }, *pubs[] = { AT(0x300) };

	ros_trace_rcl_init(AT(0x1));
	ros_trace_rcl_node_init(AT(0x10), AT(0x11), "asker", "/");
	ros_trace_rcl_node_init(AT(0x20), AT(0x21), "adder", "/");
	ros_trace_rmw_client_init(AT(0x101), gid);
	ros_trace_rcl_client_init(AT(0x100), AT(0x10), AT(0x101), "/add");
	ros_trace_rcl_service_init(AT(0x110), AT(0x20), AT(0x111), "/add");
	ros_trace_rclcpp_service_callback_added(AT(0x110), AT(0x112));
	ros_trace_rcl_subscription_init(AT(0x200), AT(0x20), AT(0x201), "/a", 10);
	ros_trace_rclcpp_subscription_init(AT(0x200), AT(0x202));
	ros_trace_rclcpp_subscription_callback_added(AT(0x202), AT(0x203));
	ros_trace_rcl_subscription_init(AT(0x210), AT(0x20), AT(0x211), "/b", 10);
	ros_trace_rclcpp_subscription_init(AT(0x210), AT(0x212));
	ros_trace_rclcpp_subscription_callback_added(AT(0x212), AT(0x213));
	ros_trace_rcl_publisher_init(AT(0x300), AT(0x20), AT(0x301), "/fused", 10);
	ros_trace_message_link_partial_sync(subs, 2, pubs, 1);
}

/* The service has a thread of its own. */
static void *serve(void *sequence)
{
	int64_t number = *(const int64_t *)sequence;

	ros_trace_rmw_take_request(AT(0x111), AT(0x5), gid, number, true);
	ros_trace_callback_start(AT(0x112), false);
	ros_trace_callback_end(AT(0x112));
	ros_trace_rmw_send_response(AT(0x111), AT(0x6), gid, number, number);
	return NULL;
}

static void call(int64_t number)
{
	pthread_t thread;

	ros_trace_rmw_send_request(AT(0x101), AT(0x4), number);
	if (number % 5 == 0)
		return;
	if (pthread_create(&thread, NULL, serve, &number))
		exit(1);
	(void)pthread_join(thread, NULL);
	ros_trace_rmw_take_response(AT(0x101), AT(0x7), number, number, true);
}

static void fuse(int64_t number)
{
	ros_trace_callback_start(AT(0x203), false);
	ros_trace_callback_end(AT(0x203));
	ros_trace_callback_start(AT(0x213), false);
	ros_trace_callback_end(AT(0x213));
	ros_trace_rclcpp_publish(NULL, AT(0x9));
	ros_trace_rcl_publish(AT(0x300), AT(0x9));
	ros_trace_rmw_publish(AT(0x301), AT(0x9), number);
}

int main(int argc, char **argv)
{
	int64_t count = argc > 1 ? atoll(argv[1]) : 100;

	create();
	for (int64_t i = 1; i <= count; i++) {
		call(i);
		if (i % 2 == 0)
			fuse(i);
	}
	printf("calls %" PRId64 " answered %" PRId64 " fused %" PRId64 "\n", count, count - count / 5,
	       count / 2);
	return 0;
}
