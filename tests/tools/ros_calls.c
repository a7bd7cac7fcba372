/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Calls tracetools functions as ROS 2 binaries do, through the PLT, for the tests of the hooks:
 *
 *     ros_calls ONE_ARGUMENT|THREE_ARGUMENTS [COUNT [PROGRAM ARGUMENT...]]
 *
 * Which library answers is up to LD_LIBRARY_PATH. With ONE_ARGUMENT, ros_trace_rmw_publish is
 * called as programs built for Iron and older call it. Prints what the library's symbol helpers
 * and enabled_ functions return, then becomes PROGRAM if there is one.
 */
#include <dlfcn.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define CALL(name, type, ...) do {							\
		void (*function) type = (void (*) type)dlsym(RTLD_DEFAULT, name);	\
		if (function)								\
			function(__VA_ARGS__);						\
	} while (0)

static void create(void)
{
	static const uint8_t gid[24] = { 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16,
					 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee, 0xee };

	CALL("ros_trace_rcl_init", (const void *), (void *)0x100);
	CALL("ros_trace_rcl_node_init", (const void *, const void *, const char *, const char *),
	     (void *)0x200, (void *)0x201, "talker", NULL);
	CALL("ros_trace_rmw_publisher_init", (const void *, const uint8_t *), (void *)0x300, gid);
	CALL("ros_trace_rmw_subscription_init", (const void *, const uint8_t *), (void *)0x301, NULL);
}

static void publish(bool three)
{
	if (three)
		CALL("ros_trace_rmw_publish", (const void *, const void *, int64_t), (void *)0x300,
		     (void *)0x400, 1234567890123456789);
	else
		CALL("ros_trace_rmw_publish", (const void *), (void *)0x400);
}

static void print_helpers(void)
{
	char *(*demangle)(const char *) =
		(char *(*)(const char *))dlsym(RTLD_DEFAULT, "_ZN10tracetools6detail15demangle_symbolEPKc");
	char *(*name)(const void *) =
		(char *(*)(const void *))dlsym(RTLD_DEFAULT, "_ZN10tracetools6detail18get_symbol_funcptrEPKv");
	bool (*wants)(void) = (bool (*)(void))dlsym(RTLD_DEFAULT, "ros_trace_enabled_rclcpp_callback_register");

	char *text;

	if (demangle) {
		text = demangle("_ZN5robot7Planner7on_scanEv");
		(void)printf("demangle: %s\n", text);
		free(text);
	}
	if (name) {
		text = name(dlsym(RTLD_DEFAULT, "puts"));
		(void)printf("function: %s\n", text);
		free(text);
	}
	if (wants)
		(void)printf("enabled: %d\n", wants());
}

int main(int argc, char **argv)
{
	const bool three = argc < 2 || !strcmp(argv[1], "THREE_ARGUMENTS");
	const long count = argc > 2 ? strtol(argv[2], NULL, 10) : 3;

	create();
	for (long i = 0; i < count; i++)
		publish(three);
	print_helpers();
	if (argc > 3) {
		(void)fflush(stdout);
		(void)execv(argv[3], argv + 3);
		perror(argv[3]);
		return 1;
	}
	return 0;
}
