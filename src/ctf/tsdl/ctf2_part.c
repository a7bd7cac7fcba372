/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What several field classes of CTF 2 have in common: alignment, byte order, roles, ranges of
 * values, and where a length or a choice stands. See ctf2.h.
 */
#include "ctf/tsdl/ctf2.h"

#include <string.h>

#include "ctf/tsdl/role.h"
#include "ctf/tsdl/scope.h"

int ctf2_alignment(struct ctf2 *p, json_object *class, const char *key, uint32_t *out)
{
	uint64_t value = *out;

	if (ctf2_unsigned(p, class, key, false, &value))
		return -1;
	if (!value || value & (value - 1) || value > UINT32_C(1) << 30)
		return ctf2_error(p, "\"%s\" is %llu; expected a power of two", key, (unsigned long long)value);
	*out = (uint32_t)value;
	return 0;
}

int ctf2_byte_order(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	const char *bytes = "", *bits = NULL, *usual;

	if (ctf2_text(p, class, "byte-order", true, &bytes) || ctf2_text(p, class, "bit-order", false, &bits))
		return -1;
	if (strcmp(bytes, "little-endian") && strcmp(bytes, "big-endian"))
		return ctf2_error(p, "\"byte-order\" is neither little-endian nor big-endian");
	type->order = *bytes == 'l' ? CTF_ORDER_LE : CTF_ORDER_BE;
	usual = *bytes == 'l' ? "first-to-last" : "last-to-first";
	type->is_reversed = bits && strcmp(bits, usual);
	return 0;
}

int ctf2_roles(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	json_object *list;

	if (ctf2_get(p, class, "roles", json_type_array, &list))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		const char *name = json_object_get_string(json_object_array_get_idx(list, i));

		type->roles |= name ? role_named(name) : 0;
	}
	return 0;
}

/* One bound of a range; numbers above 2^63 keep their bits. */
static uint64_t bound(json_object *range, size_t index)
{
	json_object *value = json_object_array_get_idx(range, index);
	int64_t number = json_object_get_int64(value);

	return number < 0 ? (uint64_t)number : json_object_get_uint64(value);
}

int ctf2_ranges(struct ctf2 *p, json_object *list, const char *label, struct ctf_type *type)
{
	if (!json_object_is_type(list, json_type_array))
		return ctf2_error(p, "the ranges of \"%s\" are not a list", label);
	for (size_t i = 0; i < json_object_array_length(list); i++) {
		json_object *range = json_object_array_get_idx(list, i);

		if (!json_object_is_type(range, json_type_array) ||
		    json_object_array_length(range) != 2)
			return ctf2_error(p, "a range of \"%s\" is not a list of two numbers", label);
		if (CTF2_ROOM(p, type->range, type->range_count))
			return -1;
		type->range[type->range_count++] =
			(struct ctf_range) { label, bound(range, 0), bound(range, 1) };
		/* A variant's ranges do not say whether the field that chooses has a sign. */
		if (json_object_get_int64(json_object_array_get_idx(range, 0)) < 0)
			type->is_signed = 1;
	}
	return 0;
}

int ctf2_named_ranges(struct ctf2 *p, json_object *all, struct ctf_type *type)
{
	json_object_object_foreach(all, key, list)
	{
		const uint8_t is_signed = type->is_signed;
		const char *label = arena_text(&p->metadata->arena, key, strlen(key));

		if (!label)
			return ctf2_no_memory(p);
		if (ctf2_ranges(p, list, label, type))
			return -1;
		type->is_signed = is_signed;
	}
	return 0;
}

int ctf2_mappings(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	json_object *all;

	if (ctf2_get(p, class, "mappings", json_type_object, &all))
		return -1;
	if (!all || !json_object_object_length(all))
		return 0;
	type->kind = CTF_KIND_ENUM;
	return ctf2_named_ranges(p, all, type);
}

int ctf2_location(struct ctf2 *p, json_object *class, const char *key, struct ctf_type *type)
{
	struct ctf_location *to = arena_alloc(&p->metadata->arena, sizeof *to);
	json_object *object, *path;
	const char *origin = NULL;

	if (!to)
		return ctf2_no_memory(p);
	if (ctf2_get(p, class, key, json_type_object, &object))
		return -1;
	if (!object)
		return ctf2_error(p, "\"%s\" is missing", key);
	if (ctf2_text(p, object, "origin", false, &origin) ||
	    ctf2_get(p, object, "path", json_type_array, &path))
		return -1;
	to->scope = -1;
	for (size_t i = 0; origin && i < SCOPE_COUNT; i++)
		if (!strcmp(origin, ctf_scope_origin[i]))
			to->scope = (int8_t)i;
	if (origin && to->scope < 0)
		return ctf2_error(p, "\"%s\" has an unknown origin \"%.60s\"", key, origin);
	for (size_t i = 0; path && i < json_object_array_length(path); i++) {
		json_object *step = json_object_array_get_idx(path, i);

		if (!step && to->count) {
			to->count--;		/* a name and back again */
		} else if (!step) {
			to->up++;
		} else if (!json_object_is_type(step, json_type_string)) {
			return ctf2_error(p, "a step of \"%s\" is neither a name nor null", key);
		} else {
			if (CTF2_ROOM(p, to->name, to->count))
				return -1;
			to->name[to->count] =
				arena_text(&p->metadata->arena, json_object_get_string(step),
					   (size_t)json_object_get_string_len(step));
			if (!to->name[to->count++])
				return ctf2_no_memory(p);
		}
	}
	if (!to->count)
		return ctf2_error(p, "the path of \"%s\" names no field", key);
	type->location = to;
	return 0;
}
