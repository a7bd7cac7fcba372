/* SPDX-License-Identifier: Apache-2.0 */
/* What the type support of a publisher or subscription says about the type; see ros2_types.h. */
#include "inside/ros2/ros2_types.h"

#include <string.h>

#define PLAIN_TYPE 3 /* of max_size(): every message has the same size */

/* message_type_support_callbacks_t, the data of a type support for Fast DDS. */
struct fastrtps {
	const char *space, *name;
	void *serialize, *deserialize;
	uint32_t (*size)(const void *message);
	size_t (*max_size)(char *bounds);
};

/* rosidl_runtime_c__String, and a sequence. */
struct string {
	const char *text;
	size_t length, capacity;
};

/* A field of rosidl_runtime_c__type_description__TypeDescription. */
struct described_field {
	struct string name;
	uint8_t type; /* DESCRIBED_MESSAGE: one message */
	uint64_t capacity, string_capacity;
	struct string message_name;
	struct string default_value;
};
#define DESCRIBED_MESSAGE 1

struct description {
	struct string name;
	const struct described_field *field;
	size_t fields;
};

void kymo_type_name(char to[], const char *space, const char *name)
{
	const char *part[] = { space, name };
	size_t length = 0;

	for (unsigned i = 0; i < 2; i++) {
		for (const char *at = part[i]; *at && length + 2 < KYMO_TYPE_NAME_MAX; at++) {
			const bool is_between =
				(at[0] == ':' && at[1] == ':') || (at[0] == '_' && at[1] == '_');

			to[length++] = is_between ? '/' : *at;
			at += is_between;
		}
		if (!i)
			to[length++] = '/';
	}
	to[length] = 0;
}

static bool is(const struct string *string, const char *text)
{
	return string->text && string->length == strlen(text) &&
	       !memcmp(string->text, text, string->length);
}

/*
 * The type support for Fast DDS does not say where the members of a message are. From Iron on, a
 * description in words exists. It is enough if the header is the first member, because the first
 * member of a struct has no offset, and neither has the stamp in it.
 */
static void read_description(struct kymo_type *type, const struct kymo_type_support *support)
{
	const struct description *description =
		support->description ? support->description(support) : NULL;
	const struct described_field *field;

	if (!description || !description->fields || !description->field)
		return;
	field = description->field;
	if (!is(&field->name, "header") || field->type != DESCRIBED_MESSAGE ||
	    !is(&field->message_name, "std_msgs/msg/Header"))
		return;
	type->stamp_at = 0;
	type->begins_with_stamp = true;
}

static bool read_fastrtps(struct kymo_type *type, const struct fastrtps *callbacks)
{
	char bounds = 0;
	size_t size;

	if (!callbacks || !callbacks->space || !callbacks->name || !callbacks->size ||
	    !callbacks->max_size)
		return false;
	kymo_type_name(type->name, callbacks->space, callbacks->name);
	type->measure = callbacks->size;
	size = callbacks->max_size(&bounds);
	if (bounds == PLAIN_TYPE && size && size <= UINT32_MAX - KYMO_CDR_HEADER)
		type->fixed = (uint32_t)size + KYMO_CDR_HEADER;
	return true;
}

/* The part of the type support in the language of @support, which the middleware has loaded as
 * well. */
static const struct kymo_type_support *part(const struct kymo_type_support *support,
					    const char *in_c, const char *in_cpp)
{
	const char *own = support->identifier;

	if (!own || !support->find)
		return NULL;
	if (!strcmp(own, in_c) || !strcmp(own, in_cpp))
		return support;
	if (!strcmp(own, "rosidl_typesupport_c"))
		return support->find(support, in_c);
	return !strcmp(own, "rosidl_typesupport_cpp") ? support->find(support, in_cpp) : NULL;
}

static const void *data_of(const struct kymo_type_support *support, const char *in_c,
			   const char *in_cpp)
{
	const struct kymo_type_support *found = part(support, in_c, in_cpp);

	return found ? found->data : NULL;
}

bool kymo_type_read(struct kymo_type *type, const struct kymo_type_support *support,
		    const char *middleware, bool has_description)
{
	const void *data;

	memset(type, 0, sizeof *type);
	type->stamp_at = KYMO_NO_STAMP;
	if (!support || !middleware)
		return false;
	if (!strcmp(middleware, "rmw_cyclonedds_cpp") ||
	    !strcmp(middleware, "rmw_fastrtps_dynamic_cpp")) {
		data = data_of(support, "rosidl_typesupport_introspection_c",
			       "rosidl_typesupport_introspection_cpp");
		return data && kymo_introspection_read(type, data);
	}
	if (strcmp(middleware, "rmw_fastrtps_cpp") && strcmp(middleware, "rmw_zenoh_cpp"))
		return false;
	data = data_of(support, "rosidl_typesupport_fastrtps_c", "rosidl_typesupport_fastrtps_cpp");
	if (has_description)
		read_description(type, support);
	return read_fastrtps(type, data);
}
