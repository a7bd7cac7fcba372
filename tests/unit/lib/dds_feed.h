/* SPDX-License-Identifier: Apache-2.0 */
/* feed.h with events of the middleware: /t from process 1 to process 2. */
#ifndef KYMO_TESTS_DDS_FEED_H
#define KYMO_TESTS_DDS_FEED_H

#include "feed.h"

#define DDS(ns, name, ...) ev(f, ns, "ros2_kymo:" name, ##__VA_ARGS__, NULL)

static uint8_t writer[24] = { 1, 2, 3 }, reader[24] = { 4, 5, 6 };

static inline void two_processes(struct feed *f)
{
	on(f, 1, 1);
	EV(1, "rmw_publisher_init", "rmw_publisher_handle", P(0x1100), "#gid", writer, P(24));
	publisher(f, 2, 0x100, 0x10, "/t");
	on(f, 2, 2);
	EV(3, "rmw_subscription_init", "rmw_subscription_handle", P(0x1200), "#gid", reader, P(24));
	subscription(f, 4, 0x200, 0x10, "/t");
}

#endif
