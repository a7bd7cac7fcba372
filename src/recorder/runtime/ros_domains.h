/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sets of ROS domains, by the numbers of abi/region.h: which processes of a session record. A
 * session serves all domains of a host, but CARET's Start is for the processes of one domain.
 *
 * Context of all functions: wait-free, but for ros_domains_read() and ros_domains_json(), which
 * allocate.
 */
#ifndef KYMO_RECORDER_ROS_DOMAINS_H
#define KYMO_RECORDER_ROS_DOMAINS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "abi/region.h"
#include "base/err.h"

struct json_object;

struct ros_domains {
	uint64_t bits[KYMO_ROS_WORDS];	/* no bit: all domains */
};

static inline bool ros_domains_limited(const struct ros_domains *set)
{
	return set->bits[0] | set->bits[1] | set->bits[2] | set->bits[3];
}

static inline void ros_domains_add(struct ros_domains *set, uint32_t number)
{
	set->bits[number / 64 % KYMO_ROS_WORDS] |= 1ull << number % 64;
}

/** ros_domains_has() - whether a process of domain number @number, from its region, is one of
 * them. */
static inline bool ros_domains_has(const struct ros_domains *set, uint32_t number)
{
	return !ros_domains_limited(set) || number == KYMO_ROS_EVERY ||
	       set->bits[number / 64 % KYMO_ROS_WORDS] >> number % 64 & 1;
}

/** ros_domains_join() - add those of @other. Return: whether there are more now. Neither may mean
 * all. */
bool ros_domains_join(struct ros_domains *set, const struct ros_domains *other);

/** ros_domains_leave() - take those of @other away. Return: whether some are left; else @set is as
 * it was. */
bool ros_domains_leave(struct ros_domains *set, const struct ros_domains *other);

/**
 * ros_domains_read() - from a request: an array of ROS_DOMAIN_IDs; -1 stands for processes whose
 * domain is not known
 * @array: NULL: all
 *
 * Return: 0; -1 with @err: @array is not such an array, or empty.
 */
int ros_domains_read(struct ros_domains *set, struct json_object *array, struct kymo_err *err);

/** ros_domains_text() - "5, 6", without those that are not known; cut to @size. */
void ros_domains_text(char *text, size_t size, const struct ros_domains *set);

/** ros_domains_json() - the same as such an array. */
struct json_object *ros_domains_json(const struct ros_domains *set);

#endif
