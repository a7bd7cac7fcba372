/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program whose process, nodes, topics, services, callbacks and states have names that are not
 * text, or are text with an effect: control sequences, marks of direction, bytes that are no UTF-8,
 * formulas, mark-up, and one of 6000 bytes.
 */
#include <stdint.h>
#include <string.h>
#include <sys/prctl.h>

#include "tracetools/tracetools.h"

static char large[6000];

static const char *const names[] = {
	"esc\033[31mred\033]0;title\007\033[2J",
	"quote\"'`<script>alert(1)</script>&amp;&#27;&#x202e;",
	"line\nline2\r\nx",
	"=1+1",
	"@sum\t-3+cmd",
	"bad\xff\xfe\xc3utf",
	"%s%n%x",
	"tab\tcomma,semi;",
	"\xe2\x80\xae rtl \xe2\x81\xa6 isolate \xe2\x80\x8f mark \xd8\x9c arabic \xe2\x80\xa8 line",
	"nul\\u0000\\",
	"\xc2\x9b\x33\x31mC1",
	"../../../etc/x",
	"{\"a\":1}]]>",
	"$(touch x)`id`",
	"\xed\xa0\x80 surrogate, overlong \xc0\xaf \xe0\x80\xaf, too large \xf4\x90\x80\x80",
	"\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80 is text",
	large,
};

static void declare(uintptr_t base, const char *name)
{
	ros_trace_rcl_node_init((void *)base, (void *)(base + 1), name, name);
	ros_trace_rcl_publisher_init((void *)(base + 2), (void *)base, (void *)(base + 3), name,
				     10);
	ros_trace_rcl_subscription_init((void *)(base + 4), (void *)base, (void *)(base + 5), name,
					10);
	ros_trace_rclcpp_subscription_init((void *)(base + 4), (void *)(base + 6));
	ros_trace_rclcpp_subscription_callback_added((void *)(base + 6), (void *)(base + 7));
	ros_trace_rclcpp_callback_register((void *)(base + 7), name);
	ros_trace_rcl_timer_init((void *)(base + 8), 1000000);
	ros_trace_rclcpp_timer_callback_added((void *)(base + 8), (void *)(base + 9));
	ros_trace_rclcpp_callback_register((void *)(base + 9), name);
	ros_trace_rclcpp_timer_link_node((void *)(base + 8), (void *)base);
	ros_trace_rcl_service_init((void *)(base + 10), (void *)base, (void *)(base + 11), name);
	ros_trace_rcl_lifecycle_state_machine_init((void *)base, (void *)(base + 12));
	ros_trace_rcl_lifecycle_transition((void *)(base + 12), name, name);
}

static void run(uintptr_t base, uintptr_t message)
{
	ros_trace_callback_start((void *)(base + 9), 0);
	ros_trace_rcl_publish((void *)(base + 2), (void *)message);
	ros_trace_callback_end((void *)(base + 9));
	ros_trace_callback_start((void *)(base + 7), 0);
	ros_trace_callback_end((void *)(base + 7));
}

int main(void)
{
	const unsigned count = sizeof names / sizeof *names;

	memset(large, 'A', sizeof large - 1);
	prctl(PR_SET_NAME, "ho\033[31m\"<b>");
	ros_trace_rcl_init((void *)1);
	for (unsigned i = 0; i < count; i++)
		declare(0x1000 * (i + 1), names[i]);
	for (unsigned round = 0; round < 20; round++)
		for (unsigned i = 0; i < count; i++)
			run(0x1000 * (i + 1), round * 100 + i + 1);
	return 0;
}
