/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Field types of CTF 1.8 as field classes of CTF 2, see ctf2_write.h. Two things that CTF 1.8
 * leaves to names are said outright: roles, and where a length or a choice stands. The second is
 * found here as layout.c finds it, but among types: frames are the structures around the present
 * field.
 */
#include "ctf/tsdl/ctf2_write_internal.h"

#include <string.h>

#include "base/err.h"
#include "ctf/tsdl/role.h"

/* A structure or variant around the present field. */
struct ctf2_frame {
	const struct ctf2_frame *outer;
	const struct ctf_type *type;
	const char *name;		/* of the member that leads to it; NULL: the scope itself */
	uint32_t made;			/* members in front of the present one */
};

static json_object *class_of(struct ctf2_out *o, const struct ctf2_frame *outer, const char *name,
			     const struct ctf_type *type);

void ctf2_add_text(json_object *to, const char *key, const char *text)
{
	json_object_object_add(to, key, json_object_new_string(text));
}

void ctf2_add_number(json_object *to, const char *key, uint64_t number)
{
	json_object_object_add(to, key, json_object_new_uint64(number));
}

json_object *ctf2_object_of(const char *type)
{
	json_object *object = json_object_new_object();

	ctf2_add_text(object, "type", type);
	return object;
}

static const char *shown(const char *name)
{
	return name[0] == '_' && name[1] ? name + 1 : name;
}

/* ---- where a length or a choice stands ---- */

static const struct ctf_member *member_named(const struct ctf_type *type, uint32_t count,
					     const char *name, size_t size)
{
	for (uint32_t i = 0; i < count; i++)
		if (strlen(type->member[i].name) == size &&
		    !memcmp(type->member[i].name, name, size))
			return &type->member[i];
	return NULL;
}

/* Follow "a.b.c" from @type, which has @count members so far; its names go to @path. NULL: it leads
 * nowhere. */
static const struct ctf_type *descend(const struct ctf_type *type, uint32_t count, const char *to,
				      json_object *path)
{
	for (;;) {
		const size_t size = strcspn(to, ".");
		const struct ctf_member *member;

		if (type->kind != CTF_KIND_STRUCT && type->kind != CTF_KIND_VARIANT)
			return NULL;
		member = member_named(type, count, to, size);
		if (!member)
			return NULL;
		/* CTF 2 names no options on the way. */
		if (type->kind == CTF_KIND_STRUCT)
			json_object_array_add(path, json_object_new_string(shown(member->name)));
		if (!to[size])
			return member->type;
		to += size + 1;
		type = member->type;
		count = type->member_count;
	}
}

static void put_names(const struct ctf2_frame *frame, json_object *path)
{
	if (!frame || !frame->name)
		return;
	put_names(frame->outer, path);
	if (frame->outer->type->kind == CTF_KIND_STRUCT)
		json_object_array_add(path, json_object_new_string(shown(frame->name)));
}

/* One attempt. @frame: the structure to begin in; NULL: @scope. Frees the path when it leads
 * nowhere. */
static const struct ctf_type *attempt(const struct ctf2_out *o, const struct ctf2_frame *frame,
				      unsigned scope, const char *to, json_object **path)
{
	const struct ctf_type *from = frame ? frame->type : o->scope[scope], *found = NULL;

	*path = json_object_new_array();
	put_names(frame, *path);
	if (from)
		found = descend(from, frame ? frame->made : from->member_count, to, *path);
	if (!found)
		json_object_put(*path);
	return found;
}

/* The field that gives length or choice of @type, and its location. */
static const struct ctf_type *locate(struct ctf2_out *o, const struct ctf2_frame *inner,
				     const struct ctf_type *type, json_object **location)
{
	const struct ctf2_frame *root = inner;
	const struct ctf_type *found = NULL;
	const char *to = type->path ? type->path : "";
	unsigned scope = o->making;
	json_object *path = NULL;

	while (root && root->outer)
		root = root->outer;
	for (unsigned i = 0; i < SCOPE_COUNT && !found; i++) {
		const size_t size = strlen(ctf_scope_name[i]);

		if (strncmp(to, ctf_scope_name[i], size) || to[size] != '.')
			continue;
		scope = i;
		found = attempt(o, i == o->making ? root : NULL, i, to + size + 1, &path);
	}
	for (const struct ctf2_frame *f = inner; f && !found; f = f->outer) {
		scope = o->making;
		found = attempt(o, f, scope, to, &path);
	}
	for (unsigned i = o->making; i-- > 0 && !found;) {
		scope = i;
		found = attempt(o, NULL, i, to, &path);
	}
	if (!found) {
		(void)err_set(o->err, KYMO_EXIT_INPUT, "there is no field \"%s\" in front of the one that needs it", to);
		return NULL;
	}
	*location = json_object_new_object();
	ctf2_add_text(*location, "origin", ctf_scope_origin[scope]);
	json_object_object_add(*location, "path", path);
	return found;
}

/* ---- field classes ---- */

static json_object *number(const struct ctf2_out *o, const struct ctf_type *type, const char *name)
{
	const bool big =
		(type->order == CTF_ORDER_NATIVE ? o->m->order : type->order) == CTF_ORDER_BE;
	json_object *class = ctf2_object_of(name);

	ctf2_add_number(class, "length", type->size);
	ctf2_add_text(class, "byte-order", big ? "big-endian" : "little-endian");
	ctf2_add_number(class, "alignment", type->align);
	return class;
}

/* All ranges of @label, or of an option of a variant of that name. */
static json_object *ranges_of(const struct ctf_type *type, const char *label)
{
	json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < type->range_count; i++) {
		const struct ctf_range *range = &type->range[i];
		json_object *pair;

		if (strcmp(range->label, label) && strcmp(range->label, shown(label)))
			continue;
		pair = json_object_new_array();
		json_object_array_add(pair, type->is_signed
						    ? json_object_new_int64((int64_t)range->begin)
						    : json_object_new_uint64(range->begin));
		json_object_array_add(pair, type->is_signed
						    ? json_object_new_int64((int64_t)range->end)
						    : json_object_new_uint64(range->end));
		json_object_array_add(list, pair);
	}
	return list;
}

static json_object *integer(const struct ctf2_out *o, const char *name, const struct ctf_type *type)
{
	json_object *class = number(o, type, type->is_signed ? "fixed-length-signed-integer" :
							       "fixed-length-unsigned-integer");
	const char *role =
		type->is_signed ? NULL : role_name(role_of(o->making, shown(name), type));

	if (type->base != 10)
		ctf2_add_number(class, "preferred-display-base", type->base);
	if (type->kind == CTF_KIND_ENUM) {
		json_object *mappings = json_object_new_object();

		for (uint32_t i = 0; i < type->range_count; i++)
			if (!json_object_object_get_ex(mappings, type->range[i].label, NULL))
				json_object_object_add(mappings, type->range[i].label,
						       ranges_of(type, type->range[i].label));
		json_object_object_add(class, "mappings", mappings);
	}
	if (role) {
		json_object *roles = json_object_new_array();

		json_object_array_add(roles, json_object_new_string(role));
		json_object_object_add(class, "roles", roles);
	}
	return class;
}

static bool is_text(const struct ctf_type *type)
{
	const struct ctf_type *element = type->element;

	return element->kind == CTF_KIND_INTEGER && element->is_text && element->size == 8 &&
	       element->align == 8;
}

static json_object *array(struct ctf2_out *o, const struct ctf2_frame *outer, const char *name,
			  const struct ctf_type *type)
{
	const bool dynamic = type->kind == CTF_KIND_SEQUENCE;
	const bool uuid = !dynamic && type->length == 16 &&
			  role_of(o->making, shown(name), type) == ROLE_UUID;
	json_object *class, *element, *location = NULL;

	if (dynamic && !locate(o, outer, type, &location))
		return NULL;
	if (uuid) {
		class = ctf2_object_of("static-length-blob");
		element = json_object_new_array();
		json_object_array_add(element, json_object_new_string(role_name(ROLE_UUID)));
		json_object_object_add(class, "roles", element);
	} else if (is_text(type)) {
		class = ctf2_object_of(dynamic ? "dynamic-length-string" : "static-length-string");
	} else {
		class = ctf2_object_of(dynamic ? "dynamic-length-array" : "static-length-array");
		element = class_of(o, outer, name, type->element);
		json_object_object_add(class, "element-field-class", element);
		if (!element) {
			json_object_put(class);
			json_object_put(location);
			return NULL;
		}
	}
	if (dynamic)
		json_object_object_add(class, "length-field-location", location);
	else
		ctf2_add_number(class, "length", type->length);
	return class;
}

/* Members of a structure or options of a variant, which the ranges of @tag choose. */
static json_object *list_of(struct ctf2_out *o, const struct ctf2_frame *frame,
			    const struct ctf_type *type, const struct ctf_type *tag)
{
	struct ctf2_frame inner = *frame;
	json_object *list = json_object_new_array();

	for (uint32_t i = 0; i < type->member_count; i++) {
		const struct ctf_member *member = &type->member[i];
		json_object *item = json_object_new_object(), *class;

		inner.made = tag ? 0 : i;
		class = class_of(o, &inner, member->name, member->type);
		ctf2_add_text(item, "name", shown(member->name));
		json_object_object_add(item, "field-class", class);
		if (tag)
			json_object_object_add(item, "selector-field-ranges", ranges_of(tag, member->name));
		json_object_array_add(list, item);
		if (!class) {
			json_object_put(list);
			return NULL;
		}
	}
	return list;
}

static json_object *structure(struct ctf2_out *o, const struct ctf2_frame *frame,
			      const struct ctf_type *type)
{
	json_object *list = list_of(o, frame, type, NULL), *class = list ? ctf2_object_of("structure") : NULL;

	if (!list)
		return NULL;
	ctf2_add_number(class, "minimum-alignment", type->align);
	json_object_object_add(class, "member-classes", list);
	return class;
}

static json_object *variant(struct ctf2_out *o, const struct ctf2_frame *frame,
			    const struct ctf_type *type)
{
	json_object *location, *list, *class;
	const struct ctf_type *tag = locate(o, frame->outer, type, &location);

	list = tag ? list_of(o, frame, type, tag) : NULL;
	if (!list) {
		json_object_put(tag ? location : NULL);
		return NULL;
	}
	class = ctf2_object_of("variant");
	json_object_object_add(class, "selector-field-location", location);
	json_object_object_add(class, "options", list);
	return class;
}

/* Return: NULL with the error set. */
static json_object *class_of(struct ctf2_out *o, const struct ctf2_frame *outer, const char *name,
			     const struct ctf_type *type)
{
	const struct ctf2_frame frame = { outer, type, name, 0 };

	switch (type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
		return integer(o, name ? name : "", type);
	case CTF_KIND_FLOAT:
		return number(o, type, "fixed-length-floating-point-number");
	case CTF_KIND_STRING:
		return ctf2_object_of("null-terminated-string");
	case CTF_KIND_ARRAY:
	case CTF_KIND_SEQUENCE:
		return array(o, outer, name ? name : "", type);
	case CTF_KIND_STRUCT:
		return structure(o, &frame, type);
	case CTF_KIND_VARIANT:
		return variant(o, &frame, type);
	}
	return NULL;
}

int ctf2_add_scope(struct ctf2_out *o, json_object *fragment, const char *key, unsigned which,
		     const struct ctf_type *type)
{
	json_object *class;

	for (unsigned i = which; i < SCOPE_COUNT; i++)
		o->scope[i] = NULL;
	o->making = which;
	if (!type)
		return 0;
	class = class_of(o, NULL, NULL, type);
	if (!class)
		return -1;
	json_object_object_add(fragment, key, class);
	o->scope[which] = type;
	return 0;
}
