/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message types of publishers and subscriptions: how many bytes a message has when it is
 * serialized, and the time in its header.
 *
 * The type support that the middleware itself uses describes the type. Two kinds exist, and both
 * are read when the publisher or subscription is created, never on the path of a message:
 *
 *   introspection   CycloneDDS   a table of the type's members. kymo follows it as a serializer
 *                                does, without writing a byte
 *   fastrtps        Fast DDS,    a function that returns the size of a message. The middleware
 *                   Zenoh        calls the function itself before it writes a message
 */
#ifndef KYMO_HOOKS_TYPES_H
#define KYMO_HOOKS_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define KYMO_CDR_HEADER 4u /* bytes that name the encoding, before the first member */
#define KYMO_TYPE_NAME_MAX 256u
#define KYMO_NO_STAMP UINT32_MAX
#define KYMO_STAMP_BYTES 8u /* builtin_interfaces/msg/Time: seconds, nanoseconds */

/* What kymo knows about a type. */
struct kymo_type {
	const void *members; /* introspection: its MessageMembers; NULL: none */
	uint32_t (*measure)(
		const void *); /* fastrtps: the size without KYMO_CDR_HEADER; NULL: none */
	uint32_t fixed; /* bytes of every message of the type; 0: they differ, or are not known */
	uint32_t stamp_at;             /* header.stamp in the message; KYMO_NO_STAMP: none */
	bool begins_with_stamp;        /* it is the first member, also of a serialized message */
	char name[KYMO_TYPE_NAME_MAX]; /* "sensor_msgs/msg/Imu" */
};

/* rosidl_message_type_support_t. The functions of the second line exist from Iron on. */
struct kymo_type_support {
	const char *identifier;
	const void *data;
	const struct kymo_type_support *(*find)(const struct kymo_type_support *,
						const char *identifier);
	const void *(*hash)(const struct kymo_type_support *);
	const void *(*description)(const struct kymo_type_support *);
};

/**
 * kymo_type_read() - what @support says about its type
 * @middleware: the rmw implementation, which decides the kind of type support
 * @has_description: the distribution is Iron or later
 *
 * Return: false: not known; the middleware is another one, or the description is not as expected.
 * Context: not in real time; calls functions of the type support, which return what they have
 * loaded for the middleware.
 */
bool kymo_type_read(struct kymo_type *type, const struct kymo_type_support *support,
		    const char *middleware, bool has_description);

/** kymo_type_name() - "sensor_msgs::msg" or "sensor_msgs__msg", and "Imu", as
 * "sensor_msgs/msg/Imu"; cut to KYMO_TYPE_NAME_MAX. */
void kymo_type_name(char to[], const char *space, const char *name);

/**
 * kymo_introspection_read() - read the table of members at @members
 *
 * Return: false: the table has something that kymo does not know, or a member that ends beyond its
 * message, or more members than kymo follows for each message; so nothing is measured.
 * Context: wait-free.
 */
bool kymo_introspection_read(struct kymo_type *type, const void *members);

/**
 * kymo_introspection_size() - the bytes of @message when it is serialized (CDR), with
 * KYMO_CDR_HEADER
 *
 * Context: wait-free. The time depends on the number of strings and of nested messages of variable
 * size in it, not on the length of its arrays of numbers.
 */
uint64_t kymo_introspection_size(const void *members, const void *message);

/** kymo_qos_tell() - record what is in @profile, an rmw_qos_profile_t, as that of the middleware's
 * object @rmw; in ros2_qos.c. NULL: nothing. Context: as kymo__log_reserve(). */
void kymo_qos_tell(const void *rmw, const void *profile);

#endif
