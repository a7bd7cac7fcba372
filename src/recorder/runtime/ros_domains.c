/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/runtime/ros_domains.h"

#include <stdio.h>

#include "base/json_get.h"

bool ros_domains_join(struct ros_domains *set, const struct ros_domains *other)
{
	uint64_t more = 0;

	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++) {
		more |= other->bits[i] & ~set->bits[i];
		set->bits[i] |= other->bits[i];
	}
	return more;
}

bool ros_domains_leave(struct ros_domains *set, const struct ros_domains *other)
{
	struct ros_domains left = *set;

	for (unsigned i = 0; i < KYMO_ROS_WORDS; i++)
		left.bits[i] &= ~other->bits[i];
	/* Bit 0 stands for processes of unknown domain: they belong to one of the others, and are
	 * not a set by themselves. */
	if (!(left.bits[0] & ~1ull || left.bits[1] || left.bits[2] || left.bits[3]))
		return false;
	*set = left;
	return true;
}

int ros_domains_read(struct ros_domains *set, struct json_object *array, struct kymo_err *err)
{
	*set = (struct ros_domains){ 0 };
	if (!array)
		return 0;
	for (size_t i = 0; i < json_length(array); i++) {
		struct json_object *item = json_object_array_get_idx(array, i);
		int64_t number = json_object_is_type(item, json_type_int)
					 ? json_object_get_int64(item)
					 : INT64_MAX;

		if (number < -1 || number > (int64_t)KYMO_ROS_DOMAIN_MAX)
			return err_set(err, KYMO_EXIT_USAGE, "ros_domains: a ROS domain is a number up to %u", KYMO_ROS_DOMAIN_MAX);
		ros_domains_add(set, (uint32_t)(number + 1));
	}
	return ros_domains_limited(set) ? 0 : err_set(err, KYMO_EXIT_USAGE, "ros_domains must be an array of at least one ROS domain");
}

void ros_domains_text(char *text, size_t size, const struct ros_domains *set)
{
	size_t used = 0;

	*text = 0;
	for (unsigned number = 0; number <= KYMO_ROS_DOMAIN_MAX && used < size; number++)
		if (set->bits[(number + 1) / 64] >> (number + 1) % 64 & 1)
			used += (size_t)snprintf(text + used, size - used, "%s%u", used ? ", " : "", number);
}

struct json_object *ros_domains_json(const struct ros_domains *set)
{
	struct json_object *array = json_object_new_array();

	for (int number = 0; number <= (int)KYMO_ROS_DOMAIN_MAX + 1; number++)
		if (set->bits[number / 64] >> number % 64 & 1)
			json_object_array_add(array, json_object_new_int(number - 1));
	return array;
}
