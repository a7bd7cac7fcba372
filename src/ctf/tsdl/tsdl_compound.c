/* SPDX-License-Identifier: Apache-2.0 */
/* Structures, variants and enumerations of TSDL. */
#include "ctf/tsdl/tsdl.h"

#include <stdio.h>
#include <string.h>

/* A compound type that is being read: "struct NAME { ... }". */
struct compound {
	struct tsdl_token at;		/* behind the keyword, for errors */
	char name[256];			/* "struct NAME", as a scope has it; "" without a name */
};

/* The keyword and the name, if it has one. */
static int compound_head(struct tsdl *p, const char *keyword, struct compound *c)
{
	const int size = (int)sizeof c->name;

	if (tsdl_next(p))
		return -1;
	c->at = p->token;
	c->name[0] = 0;
	if (p->token.kind != TSDL_NAME || tsdl_is(p, "align"))
		return 0;
	if (snprintf(c->name, sizeof c->name, "%s %.*s", keyword, (int)p->token.size, p->token.text) >= size)
		return tsdl_error(p, &p->token, "the name of the type is too long");
	return tsdl_next(p);
}

/* The type was read: from here on its name is known. */
static int compound_end(struct tsdl *p, const struct compound *c, const struct ctf_type *read,
			const struct ctf_type **type)
{
	*type = read;
	return c->name[0] ? tsdl_define(p, &c->at, c->name, read) : 0;
}

/* A compound type without a body was defined before. */
static int compound_known(struct tsdl *p, const struct compound *c, const struct ctf_type **type)
{
	if (!c->name[0])
		return tsdl_expected(p, "a name or {");
	*type = tsdl_find(p, c->name);
	return *type ? 0 : tsdl_error(p, &c->at, "unknown type \"%s\"", c->name);
}

static int member_add(struct tsdl *p, struct ctf_type *type, const struct tsdl_token *at,
		      const char *name, const struct ctf_type *member)
{
	for (uint32_t i = 0; i < type->member_count; i++)
		if (!strcmp(type->member[i].name, name))
			return tsdl_error(p, at, "\"%s\" is already declared in this block", name);
	if (type->member_count == 4096)
		return tsdl_error(p, at, "more than 4096 fields in one block");
	if (TSDL_ROOM(p, type->member, type->member_count))
		return -1;
	type->member[type->member_count++] = (struct ctf_member) { name, member };
	if (type->kind == CTF_KIND_STRUCT && member->align > type->align)
		type->align = member->align;
	return 0;
}

/* "TYPE declarator, declarator;" */
static int field(struct tsdl *p, struct ctf_type *type)
{
	bool may_be_bare = tsdl_type_starts(p);
	const struct ctf_type *base;

	if (tsdl_type(p, &base))
		return -1;
	if (may_be_bare && tsdl_is_mark(p, ';'))
		return tsdl_next(p);	/* "struct x { ... };" only names a type */
	for (;;) {
		const struct ctf_type *member = base;
		struct tsdl_token at = p->token;
		const char *name;

		if (tsdl_declarator(p, &member, &name) || member_add(p, type, &at, name, member))
			return -1;
		if (!tsdl_is_mark(p, ','))
			return tsdl_expect(p, ';', ";");
		if (tsdl_next(p))
			return -1;
	}
}

/* "{ fields }" into @type. */
static int members(struct tsdl *p, struct ctf_type *type)
{
	struct tsdl_scope scope;

	if (tsdl_scope_open(p, &scope) || tsdl_next(p))
		return -1;
	while (!tsdl_is_mark(p, '}')) {
		bool declares = tsdl_is(p, "typealias") || tsdl_is(p, "typedef");

		if (p->token.kind == TSDL_END)
			return tsdl_expected(p, "a field or }");
		if (declares ? tsdl_declaration(p) : field(p, type))
			return -1;
	}
	tsdl_scope_close(p);
	return tsdl_next(p);
}

static int explicit_align(struct tsdl *p, struct ctf_type *type)
{
	struct tsdl_value value;
	uint32_t align;

	if (!tsdl_is(p, "align"))
		return 0;
	if (tsdl_next(p) || tsdl_expect(p, '(', "( behind align") || tsdl_value(p, &value) ||
	    tsdl_align(p, &value, &align) || tsdl_expect(p, ')', ")"))
		return -1;
	if (align > type->align)
		type->align = align;
	return 0;
}

int tsdl_struct(struct tsdl *p, const struct ctf_type **type)
{
	struct ctf_type *made;
	struct compound c;

	if (compound_head(p, "struct", &c))
		return -1;
	if (!tsdl_is_mark(p, '{'))
		return compound_known(p, &c, type);
	made = tsdl_type_new(p, CTF_KIND_STRUCT, 1);
	if (!made || members(p, made) || explicit_align(p, made))
		return -1;
	return compound_end(p, &c, made, type);
}

/* "<path>", which may be missing. */
static int variant_tag(struct tsdl *p, const char **path)
{
	struct tsdl_value tag;

	*path = NULL;
	if (!tsdl_is_mark(p, '<'))
		return 0;
	if (tsdl_next(p))
		return -1;
	if (p->token.kind != TSDL_NAME)
		return tsdl_expected(p, "the field that selects");
	if (tsdl_value(p, &tag))
		return -1;
	*path = tag.text;
	return tsdl_expect(p, '>', ">");
}

int tsdl_variant(struct tsdl *p, const struct ctf_type **type)
{
	const struct ctf_type *known = NULL;
	struct ctf_type *made;
	struct compound c;
	const char *path;

	if (compound_head(p, "variant", &c) || variant_tag(p, &path))
		return -1;
	if (!tsdl_is_mark(p, '{') && compound_known(p, &c, &known))
		return -1;
	if (known && !path) {
		*type = known;
		return 0;
	}
	made = tsdl_type_new(p, CTF_KIND_VARIANT, 1);
	if (!made)
		return -1;
	if (known)
		*made = *known;
	made->path = path;
	if (known) {
		*type = made;
		return 0;
	}
	if (members(p, made))
		return -1;
	if (!made->member_count)
		return tsdl_error(p, &c.at, "this variant has no options");
	return compound_end(p, &c, made, type);
}

/* ---- enum ---- */

static bool in_order(const struct ctf_type *container, uint64_t begin, uint64_t end)
{
	return container->is_signed ? (int64_t)begin <= (int64_t)end : begin <= end;
}

/* "LABEL", "LABEL = A", "LABEL = A ... B". @next: the value of a label without one; set for the
 * label behind. */
static int enumerator(struct tsdl *p, struct ctf_type *type, uint64_t *next)
{
	struct tsdl_value label, begin, end;
	struct tsdl_token at = p->token;

	if (tsdl_value(p, &label))
		return -1;
	if (!label.text)
		return tsdl_error(p, &at, "expected a label");
	begin.number = end.number = *next;
	if (tsdl_is_mark(p, '=')) {
		if (tsdl_next(p) || tsdl_value(p, &begin))
			return -1;
		end = begin;
		if (tsdl_is_mark(p, TSDL_DOTS) && (tsdl_next(p) || tsdl_value(p, &end)))
			return -1;
		if (begin.kind != TSDL_INTEGER || end.kind != TSDL_INTEGER)
			return tsdl_error(p, &begin.token, "expected a number or a range of numbers");
	}
	if (!in_order(type, begin.number, end.number))
		return tsdl_error(p, &begin.token, "the range ends before it begins");
	if (TSDL_ROOM(p, type->range, type->range_count))
		return -1;
	type->range[type->range_count++] =
		(struct ctf_range){ label.text, begin.number, end.number };
	*next = end.number + 1;
	return 0;
}

static int enumerators(struct tsdl *p, struct ctf_type *type)
{
	uint64_t next = 0;

	if (tsdl_next(p))
		return -1;
	while (!tsdl_is_mark(p, '}')) {
		if (enumerator(p, type, &next))
			return -1;
		if (tsdl_is_mark(p, ',')) {
			if (tsdl_next(p))
				return -1;
		} else if (!tsdl_is_mark(p, '}')) {
			return tsdl_expected(p, ", or }");
		}
	}
	return tsdl_next(p);
}

/* ": TYPE", else int. */
static int enum_container(struct tsdl *p, const struct ctf_type **container)
{
	struct tsdl_token at = p->token;

	if (tsdl_is_mark(p, ':')) {
		if (tsdl_next(p))
			return -1;
		at = p->token;
		/* Without a limit, "enum : enum : enum ..." would overflow the stack. */
		if (++p->depth > CTF_DEPTH_MAX)
			return tsdl_error(p, &at, "more than %d types inside each other", CTF_DEPTH_MAX);
		if (tsdl_type(p, container))
			return -1;
		p->depth--;
	} else {
		*container = tsdl_find(p, "int");
		if (!*container)
			return tsdl_error(p, &at, "this enum has no container, and the type \"int\" does not exist");
	}
	if ((*container)->kind != CTF_KIND_INTEGER)
		return tsdl_error(p, &at, "the container of an enum must be an integer");
	return 0;
}

int tsdl_enum(struct tsdl *p, const struct ctf_type **type)
{
	const struct ctf_type *container;
	struct ctf_type *made;
	struct compound c;

	if (compound_head(p, "enum", &c))
		return -1;
	if (!tsdl_is_mark(p, '{') && !tsdl_is_mark(p, ':'))
		return compound_known(p, &c, type);
	if (enum_container(p, &container))
		return -1;
	if (!tsdl_is_mark(p, '{'))
		return tsdl_expected(p, "{ behind enum");
	made = tsdl_type_new(p, CTF_KIND_ENUM, 1);
	if (!made)
		return -1;
	*made = *container;
	made->kind = CTF_KIND_ENUM;
	if (enumerators(p, made))
		return -1;
	return compound_end(p, &c, made, type);
}
