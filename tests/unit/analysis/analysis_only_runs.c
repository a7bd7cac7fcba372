/* SPDX-License-Identifier: Apache-2.0 */
/* A model of runs alone binds what objects, runs and executors need, and no event of messages. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "analysis/model/model.h"

static bool is_bound(const struct model *model, const char *name)
{
	unsigned count;
	const struct kymo_ctf_bind *bind = model_bind(model, &count);

	for (unsigned i = 0; i < count; i++)
		if (!strcmp(bind[i].event, name))
			return true;
	return false;
}

static void only_runs(void **state)
{
	static const char *const messages[] = { "ros2:rcl_publish", "ros2:rmw_take",
						"ros2:rclcpp_intra_publish", "ros2:dds_write",
						"ros2:rmw_send_request" };
	static const char *const kept[] = { "ros2:callback_start", "ros2:rcl_publisher_init",
					    "ros2:rclcpp_callback_register",
					    "ros2:rclcpp_buffer_to_ipb",
					    "ros2:rclcpp_executor_wait_for_work" };
	struct model *model;
	struct kymo_err err;

	(void)state;
	assert_int_equal(model_create(&model, &err), 0);
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		assert_true(is_bound(model, messages[i]));
	model_only_runs(model);
	for (size_t i = 0; i < sizeof(messages) / sizeof(*messages); i++)
		assert_false(is_bound(model, messages[i]));
	for (size_t i = 0; i < sizeof(kept) / sizeof(*kept); i++)
		assert_true(is_bound(model, kept[i]));
	model_destroy(model);
}

int main(void)
{
	const struct CMUnitTest tests[] = { cmocka_unit_test(only_runs) };

	return cmocka_run_group_tests(tests, NULL, NULL);
}
