/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field classes of CTF 2, see ctf2.h, as the types that CTF 1.8 has:
 *
 *   integers with mappings            enumerations
 *   strings of a given length, BLOBs  arrays or sequences of bytes
 *   variants and optional fields      variants, with the enumeration that chooses made from the options' ranges
 */
#include "ctf/tsdl/ctf2.h"

#include <stdio.h>
#include <string.h>

#include "base/array.h"

static int fixed(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	uint64_t length = 0;

	if (ctf2_unsigned(p, class, "length", true, &length) || ctf2_byte_order(p, class, type) ||
	    ctf2_alignment(p, class, "alignment", &type->align))
		return -1;
	if (!length || length > 64)
		return ctf2_error(p, "a number of %llu bits; kymo reads 1 to 64", (unsigned long long)length);
	type->size = (uint32_t)length;
	return 0;
}

static int integer(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	uint64_t base = 10;

	if (ctf2_unsigned(p, class, "preferred-display-base", false, &base))
		return -1;
	type->base = base == 2 || base == 8 || base == 16 ? (uint8_t)base : 10;
	return ctf2_roles(p, class, type) || ctf2_mappings(p, class, type) ? -1 : 0;
}

static int bits(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->base = 16;
	return fixed(p, class, type);
}

static int bit_map(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	json_object *all;

	if (bits(p, class, type) || ctf2_get(p, class, "flags", json_type_object, &all))
		return -1;
	type->is_flags = all && json_object_object_length(all);
	return type->is_flags ? ctf2_named_ranges(p, all, type) : 0;
}

static int boolean(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->base = 10;
	type->is_bool = true;
	return fixed(p, class, type);
}

static int fixed_unsigned(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	return fixed(p, class, type) || integer(p, class, type) ? -1 : 0;
}

static int fixed_signed(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->is_signed = 1;
	return fixed_unsigned(p, class, type);
}

static int floating(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_FLOAT;
	if (fixed(p, class, type))
		return -1;
	if (type->size != 32 && type->size != 64)
		return ctf2_error(p, "a floating point number of %u bits; kymo reads 32 and 64", type->size);
	return 0;
}

static int leb128_unsigned(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->is_leb128 = true;
	type->size = 64;
	type->align = 8;
	return integer(p, class, type);
}

static int leb128_signed(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->is_signed = 1;
	return leb128_unsigned(p, class, type);
}

static int encoding(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	static const struct {
		const char *name;
		uint8_t unit, order;
	} all[] = {
		{ "utf-8", 1, CTF_ORDER_LE },	 { "utf-16le", 2, CTF_ORDER_LE }, { "utf-16be", 2, CTF_ORDER_BE },
		{ "utf-32le", 4, CTF_ORDER_LE }, { "utf-32be", 4, CTF_ORDER_BE },
	};
	const char *name = "utf-8";

	type->align = 8;
	if (ctf2_text(p, class, "encoding", false, &name))
		return -1;
	for (size_t i = 0; i < COUNT_OF(all); i++) {
		if (strcmp(name, all[i].name))
			continue;
		type->unit = all[i].unit;
		type->order = all[i].order;
		return 0;
	}
	return ctf2_error(p, "unknown encoding \"%.60s\"", name);
}

static int string(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_STRING;
	return encoding(p, class, type);
}

/* An array, or a sequence if its length stands in another field. */
static int bytes(struct ctf2 *p, json_object *class, struct ctf_type *type, bool is_text)
{
	static const struct ctf_type text = {
		.kind = CTF_KIND_INTEGER, .align = 8, .size = 8, .base = 10, .is_text = 1
	};
	static const struct ctf_type byte = {
		.kind = CTF_KIND_INTEGER, .align = 8, .size = 8, .base = 16
	};

	type->element = is_text ? &text : &byte;
	type->align = 8;
	if (is_text && encoding(p, class, type))
		return -1;
	if (type->kind == CTF_KIND_SEQUENCE)
		return ctf2_location(p, class, "length-field-location", type);
	return ctf2_unsigned(p, class, "length", true, &type->length);
}

static int static_string(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_ARRAY;
	return bytes(p, class, type, true);
}

static int dynamic_string(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_SEQUENCE;
	return bytes(p, class, type, true);
}

static int static_blob(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_ARRAY;
	return bytes(p, class, type, false) || ctf2_roles(p, class, type) ? -1 : 0;
}

static int dynamic_blob(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_SEQUENCE;
	return bytes(p, class, type, false);
}

static int array(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	if (ctf2_alignment(p, class, "minimum-alignment", &type->align) ||
	    ctf2_type(p, class, "element-field-class", true, &type->element))
		return -1;
	if (type->element->align > type->align)
		type->align = type->element->align;
	if (type->kind == CTF_KIND_SEQUENCE)
		return ctf2_location(p, class, "length-field-location", type);
	return ctf2_unsigned(p, class, "length", true, &type->length);
}

static int static_array(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_ARRAY;
	return array(p, class, type);
}

static int dynamic_array(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	type->kind = CTF_KIND_SEQUENCE;
	return array(p, class, type);
}

static int structure(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	json_object *list;

	type->kind = CTF_KIND_STRUCT;
	if (ctf2_alignment(p, class, "minimum-alignment", &type->align) ||
	    ctf2_get(p, class, "member-classes", json_type_array, &list))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++) {
		struct ctf_member new = { 0 };
		json_object *member = json_object_array_get_idx(list, i);

		if (ctf2_text(p, member, "name", true, &new.name) ||
		    ctf2_type(p, member, "field-class", true, &new.type) ||
		    CTF2_ROOM(p, type->member, type->member_count))
			return -1;
		type->member[type->member_count++] = new;
		if (new.type->align > type->align)
			type->align = new.type->align;
	}
	return 0;
}

/* A new option of variant @type, which the ranges in @from choose; none: all but 0, as a boolean
 * does. */
static int option(struct ctf2 *p, json_object *from, struct ctf_type *type, struct ctf_type *tag)
{
	json_object *list;
	char number[16];
	struct ctf_member new = { 0 };

	if (ctf2_type(p, from, "field-class", true, &new.type) || ctf2_text(p, from, "name", false, &new.name) ||
	    ctf2_get(p, from, "selector-field-ranges", json_type_array, &list))
		return -1;
	(void)snprintf(number, sizeof number, "%u", type->member_count);
	if (!new.name)
		new.name = arena_text(&p->metadata->arena, number, strlen(number));
	if (!new.name || CTF2_ROOM(p, type->member, type->member_count))
		return ctf2_no_memory(p);
	type->member[type->member_count++] = new;
	if (list)
		return ctf2_ranges(p, list, new.name, tag);
	if (!type->is_optional)
		return ctf2_error(p, "\"selector-field-ranges\" is missing");
	if (CTF2_ROOM(p, tag->range, tag->range_count))
		return -1;
	tag->range[tag->range_count++] = (struct ctf_range) { new.name, 1, UINT64_MAX };
	return 0;
}

static struct ctf_type *choice(struct ctf2 *p, struct ctf_type *type)
{
	struct ctf_type *tag = arena_alloc(&p->metadata->arena, sizeof *tag);

	type->kind = CTF_KIND_VARIANT;
	type->tag = tag;
	if (tag)
		tag->kind = CTF_KIND_ENUM;
	else
		(void)ctf2_no_memory(p);
	return tag;
}

static int optional(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	struct ctf_type *tag = choice(p, type);

	type->is_optional = true;
	return !tag || ctf2_location(p, class, "selector-field-location", type) || option(p, class, type, tag) ? -1 : 0;
}

static int variant(struct ctf2 *p, json_object *class, struct ctf_type *type)
{
	struct ctf_type *tag = choice(p, type);
	json_object *list;

	if (!tag || ctf2_location(p, class, "selector-field-location", type) ||
	    ctf2_get(p, class, "options", json_type_array, &list))
		return -1;
	for (size_t i = 0; list && i < json_object_array_length(list); i++)
		if (option(p, json_object_array_get_idx(list, i), type, tag))
			return -1;
	return type->member_count ? 0 : ctf2_error(p, "a variant without options");
}

static const struct {
	const char *type;
	int (*read)(struct ctf2 *p, json_object *class, struct ctf_type *type);
} classes[] = {
	{ "fixed-length-bit-array", bits },
	{ "fixed-length-bit-map", bit_map },
	{ "fixed-length-boolean", boolean },
	{ "fixed-length-unsigned-integer", fixed_unsigned },
	{ "fixed-length-signed-integer", fixed_signed },
	{ "fixed-length-floating-point-number", floating },
	{ "variable-length-unsigned-integer", leb128_unsigned },
	{ "variable-length-signed-integer", leb128_signed },
	{ "null-terminated-string", string },
	{ "static-length-string", static_string },
	{ "static-length-blob", static_blob },
	{ "dynamic-length-string", dynamic_string },
	{ "dynamic-length-blob", dynamic_blob },
	{ "structure", structure },
	{ "static-length-array", static_array },
	{ "dynamic-length-array", dynamic_array },
	{ "optional", optional },
	{ "variant", variant },
};

static int read_class(struct ctf2 *p, json_object *class, const struct ctf_type **out)
{
	struct ctf_type *type = arena_alloc(&p->metadata->arena, sizeof *type);
	const char *name = NULL;

	if (!type)
		return ctf2_no_memory(p);
	*type = (struct ctf_type) { .kind = CTF_KIND_INTEGER, .align = 1 };
	*out = type;
	if (ctf2_text(p, class, "type", true, &name))
		return -1;
	for (size_t i = 0; i < COUNT_OF(classes); i++)
		if (!strcmp(name, classes[i].type))
			return classes[i].read(p, class, type);
	return ctf2_error(p, "unknown field class \"%.60s\"", name);
}

int ctf2_type(struct ctf2 *p, json_object *object, const char *key, bool required,
	      const struct ctf_type **type)
{
	json_object *class;
	int result;

	if (!json_object_object_get_ex(object, key, &class))
		return required ? ctf2_error(p, "\"%s\" is missing", key) : 0;
	if (json_object_is_type(class, json_type_string)) {
		for (uint32_t i = 0; i < p->alias_count; i++) {
			if (strcmp(p->alias[i].name, json_object_get_string(class)))
				continue;
			*type = p->alias[i].type;
			return 0;
		}
		return ctf2_error(p, "\"%s\": there is no field-class-alias \"%.60s\" in front of it", key,
				  json_object_get_string(class));
	}
	if (!json_object_is_type(class, json_type_object))
		return ctf2_error(p, "\"%s\" is neither a field class nor the name of an alias", key);
	if (p->depth == CTF_DEPTH_MAX)
		return ctf2_error(p, "field classes are nested too deeply");
	p->depth++;
	result = read_class(p, class, type);
	p->depth--;
	return result;
}
