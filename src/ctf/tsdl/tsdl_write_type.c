/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A type as CTF 1.8 declares it, with the path that leads from a sequence to its length, or from a
 * variant to its choice.
 */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "base/err.h"
#include "ctf/tsdl/role.h"
#include "ctf/tsdl/tsdl_write_internal.h"

/* A structure around the present field. */
struct around {
	const struct around *outer;
	const struct ctf_type *type;
};

static int refused(struct tsdl_out *o, const char *name, const char *what)
{
	return err_set(o->err, KYMO_EXIT_INPUT, "the field \"%s\" of %s is %s", name, ctf_scope_name[o->scope], what);
}

bool tsdl_is_identifier(const char *name)
{
	if (!*name)
		return false;
	for (; *name; name++)
		if (!isalnum((unsigned char)*name) && *name != '_')
			return false;
	return true;
}

void tsdl_put_quoted(FILE *to, const char *text)
{
	putc('"', to);
	for (; *text; text++) {
		if (*text == '"' || *text == '\\')
			putc('\\', to);
		if (*text == '\n')
			fputs("\\n", to);
		else
			putc(*text, to);
	}
	putc('"', to);
}

/* What the member @name of @scope is called in CTF 1.8. */
static const char *name_of(unsigned scope, const char *name, const struct ctf_type *type,
			   char made[300])
{
	const char *field = role_field(scope, type->roles);

	(void)snprintf(made, 300, "_%s", name);
	return field ? field : made;
}

static int put_type(struct tsdl_out *o, const struct around *outer, const char *name,
		    const struct ctf_type *type, bool is_option);

static int put_integer(struct tsdl_out *o, const char *name, const struct ctf_type *type)
{
	const bool is_time = type->roles & (ROLE_TIME | ROLE_END_TIME);
	const char *clock = NULL;

	if (type->is_leb128)
		return refused(o, name, "an integer of variable length");
	if (type->is_reversed)
		return refused(o, name, "a number whose bits stand in unusual order");
	/* CTF 1.8 maps fields, not streams; all streams of one trace have the same clock, or there
	 * is none to name. */
	if (is_time && o->m->clock_count)
		clock = o->m->clock[0].name;
	fprintf(o->to, "integer { size = %u; align = %u; signed = %s; base = %u; byte_order = %s;", type->size, type->align,
		type->is_signed ? "true" : "false", type->base, type->order == CTF_ORDER_BE ? "be" : "le");
	if (type->is_text)
		fputs(" encoding = UTF8;", o->to);
	if (clock)
		fprintf(o->to, " map = clock.%s.value;", clock);
	fputs(" }", o->to);
	return 0;
}

static int put_enum(struct tsdl_out *o, const char *name, const struct ctf_type *type)
{
	fputs("enum : ", o->to);
	if (put_integer(o, name, type))
		return -1;
	fputs(" { ", o->to);
	for (uint32_t i = 0; i < type->range_count; i++) {
		const struct ctf_range *range = &type->range[i];

		tsdl_put_quoted(o->to, range->label);
		if (type->is_signed)
			fprintf(o->to, " = %" PRId64 " ... %" PRId64 ", ", (int64_t)range->begin, (int64_t)range->end);
		else
			fprintf(o->to, " = %" PRIu64 " ... %" PRIu64 ", ", range->begin, range->end);
	}
	fputs("}", o->to);
	return 0;
}

static const struct ctf_type *member_of(const struct ctf_type *type, const char *name)
{
	for (uint32_t i = 0; i < type->member_count; i++)
		if (!strcmp(type->member[i].name, name))
			return type->member[i].type;
	return NULL;
}

/*
 * CTF 1.8 searches the first name of a path in the structures around, from the innermost, and then
 * in the scopes before, from the last. babeltrace2 reads no other form. So what is searched earlier
 * than @from must not have that name.
 */
static bool is_found(const struct tsdl_out *o, const struct around *inner,
		     const struct ctf_type *from, const char *name)
{
	for (const struct around *a = inner; a; a = a->outer) {
		if (a->type == from)
			return true;
		if (a->type->kind == CTF_KIND_STRUCT && member_of(a->type, name))
			return false;
	}
	for (unsigned i = o->scope; i-- > 0;) {
		if (o->root[i] == from)
			return true;
		if (o->root[i] && member_of(o->root[i], name))
			return false;
	}
	return false;
}

static bool is_around(const struct around *inner, const struct ctf_type *type)
{
	for (; inner; inner = inner->outer)
		if (inner->type == type)
			return true;
	return false;
}

/* What a step of a location leads to: the present element of an array; of a variant, the option
 * that the field is in. */
static const struct ctf_type *present(const struct around *inner, const struct ctf_type *type)
{
	while (type && (type->kind == CTF_KIND_ARRAY || type->kind == CTF_KIND_SEQUENCE))
		type = type->element;
	if (!type || type->kind != CTF_KIND_VARIANT)
		return type;
	for (uint32_t i = 0; i < type->member_count; i++) {
		const struct ctf_type *option = present(inner, type->member[i].type);

		if (option && is_around(inner, option))
			return option;
	}
	return NULL;
}

/*
 * The place of a length or a choice as CTF 1.8 writes it, and the type of the field there. The path
 * begins in the innermost structure that the way leads through and that CTF 1.8 searches.
 */
static int put_location(struct tsdl_out *o, const struct around *outer, const char *name,
			const struct ctf_type *type, char path[600], const struct ctf_type **found)
{
	const struct ctf_location *to = type->location;
	const unsigned scope = to->scope >= 0 ? (unsigned)to->scope : o->scope;
	const struct around *from = outer;
	const struct ctf_type *at;
	size_t size = 0;
	bool begun = false;

	for (uint32_t i = 0; i < to->up && from; i++)
		from = from->outer;
	at = to->scope >= 0 ? o->root[scope] : from ? from->type : NULL;
	path[0] = 0;
	for (uint32_t i = 0; i < to->count && at; i++) {
		char made[300];

		if (at->kind != CTF_KIND_STRUCT)
			break;
		if (is_found(o, outer, at, to->name[i])) {
			begun = true;
			size = 0;
		}
		at = member_of(at, to->name[i]);
		if (at && size < 600)
			size += (size_t)snprintf(path + size, 600 - size, "%s%s", size ? "." : "",
						 name_of(scope, to->name[i], at, made));
		*found = at;
		at = present(outer, at);
	}
	if (!at || !begun || size >= 600 ||
	    (at->kind != CTF_KIND_INTEGER && at->kind != CTF_KIND_ENUM) || at != *found)
		return refused(o, name, "one whose length or choice CTF 1.8 cannot find");
	return 0;
}

static int put_variant(struct tsdl_out *o, const struct around *outer, const char *name,
		       const struct ctf_type *type)
{
	const struct ctf_type *tag;
	char path[600];

	if (type->is_optional)
		return refused(o, name, "optional");
	if (put_location(o, outer, name, type, path, &tag))
		return -1;
	if (tag->kind != CTF_KIND_ENUM || tag->range_count != type->tag->range_count)
		return refused(o, name, "a variant that no enumeration chooses from");
	for (uint32_t i = 0; i < tag->range_count; i++) {
		const struct ctf_range *a = &tag->range[i], *b = &type->tag->range[i];

		if (a->begin != b->begin || a->end != b->end || strcmp(a->label, b->label))
			return refused(o, name, "a variant that no enumeration chooses from");
	}
	fprintf(o->to, "variant <%s> { ", path);
	for (uint32_t i = 0; i < type->member_count; i++) {
		if (put_type(o, outer, type->member[i].name, type->member[i].type, true))
			return -1;
	}
	fputs("}", o->to);
	return 0;
}

/* All but the declarator: its name, and the brackets of arrays. */
static int put_base(struct tsdl_out *o, const struct around *outer, const char *name,
		    const struct ctf_type *type)
{
	const struct around inner = { outer, type };

	switch (type->kind) {
	case CTF_KIND_INTEGER:
		return put_integer(o, name, type);
	case CTF_KIND_ENUM:
		return put_enum(o, name, type);
	case CTF_KIND_FLOAT:
		if (type->is_reversed)
			return refused(o, name, "a number whose bits stand in unusual order");
		fprintf(o->to, "floating_point { exp_dig = %u; mant_dig = %u; align = %u; byte_order = %s; }",
			type->size == 32 ? 8 : 11, type->size == 32 ? 24 : 53, type->align,
			type->order == CTF_ORDER_BE ? "be" : "le");
		return 0;
	case CTF_KIND_STRING:
		if (type->unit > 1)
			return refused(o, name, "a text in UTF-16 or UTF-32");
		fputs("string { encoding = UTF8; }", o->to);
		return 0;
	case CTF_KIND_STRUCT:
		fputs("struct { ", o->to);
		for (uint32_t i = 0; i < type->member_count; i++)
			if (put_type(o, &inner, type->member[i].name, type->member[i].type, false))
				return -1;
		fprintf(o->to, "} align(%u)", type->align);
		return 0;
	case CTF_KIND_VARIANT:
		return put_variant(o, outer, name, type);
	case CTF_KIND_ARRAY:
	case CTF_KIND_SEQUENCE:
		if (type->unit > 1)
			return refused(o, name, "a text in UTF-16 or UTF-32");
		if (type->align != type->element->align)
			return refused(o, name, "an array of an alignment of its own");
		return put_base(o, outer, name, type->element);
	}
	return -1;
}

/* "type name[1][2];": the leftmost bracket is the outermost array. Options are called as the labels
 * that choose them. */
static int put_type(struct tsdl_out *o, const struct around *outer, const char *name,
		    const struct ctf_type *type, bool is_option)
{
	char made[300], path[600];
	const struct ctf_type *length;

	if (!tsdl_is_identifier(name))
		return refused(o, name, "called by what is no identifier");
	if (put_base(o, outer, name, type))
		return -1;
	fprintf(o->to, " %s", is_option ? name : name_of(o->scope, name, type, made));
	for (; type->kind == CTF_KIND_ARRAY || type->kind == CTF_KIND_SEQUENCE;
	     type = type->element) {
		if (type->kind == CTF_KIND_ARRAY)
			fprintf(o->to, "[%" PRIu64 "]", type->length);
		else if (put_location(o, outer, name, type, path, &length))
			return -1;
		else
			fprintf(o->to, "[%s]", path);
	}
	fputs("; ", o->to);
	return 0;
}

int tsdl_put_type(struct tsdl_out *o, const char *name, const struct ctf_type *type)
{
	return put_base(o, NULL, name, type);
}
