/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Types of TSDL: scalars and their attributes, arrays and sequences from declarators, named
 * types in scopes. Compound types are in tsdl_compound.c.
 */
#include "base/array.h"
#include "ctf/tsdl/tsdl.h"

#include <stdio.h>
#include <string.h>

#define SCOPE_BUCKETS 64

struct tsdl_name {
	struct tsdl_name *next;
	const char *name;
	const struct ctf_type *type;
};

struct ctf_type *tsdl_type_new(struct tsdl *p, enum ctf_kind kind, uint32_t align)
{
	struct ctf_type *type = arena_alloc(&p->metadata->arena, sizeof *type);

	if (!type) {
		tsdl_no_memory(p);
		return NULL;
	}
	type->kind = kind;
	type->align = align;
	return type;
}

int tsdl_scope_open(struct tsdl *p, struct tsdl_scope *scope)
{
	if (++p->depth > CTF_DEPTH_MAX)
		return tsdl_error(p, &p->token, "more than %d blocks inside each other", CTF_DEPTH_MAX);
	*scope = (struct tsdl_scope) { .outer = p->scope };
	p->scope = scope;
	return 0;
}

void tsdl_scope_close(struct tsdl *p)
{
	p->depth--;
	p->scope = p->scope->outer;
}

static unsigned bucket_of(const char *name)
{
	unsigned hash = 5381;

	while (*name)
		hash = hash * 33 ^ (unsigned char)*name++;
	return hash % SCOPE_BUCKETS;
}

const struct ctf_type *tsdl_find(const struct tsdl *p, const char *name)
{
	unsigned bucket = bucket_of(name);

	for (const struct tsdl_scope *scope = p->scope; scope; scope = scope->outer) {
		if (!scope->bucket)
			continue;
		for (const struct tsdl_name *n = scope->bucket[bucket]; n; n = n->next)
			if (!strcmp(n->name, name))
				return n->type;
	}
	return NULL;
}

int tsdl_define(struct tsdl *p, const struct tsdl_token *at, const char *name,
		const struct ctf_type *type)
{
	struct arena *arena = &p->metadata->arena;
	struct tsdl_scope *scope = p->scope;
	unsigned bucket = bucket_of(name);
	struct tsdl_name *entry;

	if (!scope->bucket)
		scope->bucket = arena_alloc(arena, SCOPE_BUCKETS * sizeof *scope->bucket);
	if (!scope->bucket)
		return tsdl_no_memory(p);
	for (entry = scope->bucket[bucket]; entry; entry = entry->next)
		if (!strcmp(entry->name, name))
			return tsdl_error(p, at, "the type \"%s\" is already defined here", name);
	entry = arena_alloc(arena, sizeof *entry);
	if (!entry)
		return tsdl_no_memory(p);
	entry->name = arena_text(arena, name, strlen(name));
	if (!entry->name)
		return tsdl_no_memory(p);
	entry->type = type;
	entry->next = scope->bucket[bucket];
	scope->bucket[bucket] = entry;
	return 0;
}

/* ---- scalars ---- */

static struct ctf_type *scalar(struct tsdl *p, enum ctf_kind kind, const struct tsdl_attributes *a)
{
	uint32_t align = a->align ? a->align : a->size % 8 ? 1 : 8;
	struct ctf_type *type = tsdl_type_new(p, kind, align);

	if (!type)
		return NULL;
	type->size = a->size;
	type->is_signed = a->is_signed;
	type->base = a->base ? a->base : 10;
	type->is_text = a->text;
	type->order = a->order;
	type->clock = a->clock;
	return type;
}

/* From a keyword on: "integer { attributes }". @what: what the error says was expected. */
static int braced_attributes(struct tsdl *p, const char *what, struct tsdl_attributes *a)
{
	if (tsdl_next(p))
		return -1;
	return tsdl_is_mark(p, '{') ? tsdl_attributes(p, a) : tsdl_expected(p, what);
}

static int integer_type(struct tsdl *p, const struct ctf_type **type)
{
	struct tsdl_token at = p->token;
	struct tsdl_attributes a = { 0 };

	if (braced_attributes(p, "{ behind integer", &a))
		return -1;
	if (!a.size)
		return tsdl_error(p, &at, "this integer has no size");
	*type = scalar(p, CTF_KIND_INTEGER, &a);
	return *type ? 0 : -1;
}

static int float_type(struct tsdl *p, const struct ctf_type **type)
{
	struct tsdl_token at = p->token;
	struct tsdl_attributes a = { 0 };

	if (braced_attributes(p, "{ behind floating_point", &a))
		return -1;
	if (a.exponent == 8 && a.mantissa == 24)
		a.size = 32;
	else if (a.exponent == 11 && a.mantissa == 53)
		a.size = 64;
	else
		return tsdl_error(p, &at, "expected exp_dig and mant_dig of 8 and 24 or 11 and 53");
	*type = scalar(p, CTF_KIND_FLOAT, &a);
	return *type ? 0 : -1;
}

static int string_type(struct tsdl *p, const struct ctf_type **type)
{
	struct tsdl_attributes a = { 0 };

	if (tsdl_next(p))
		return -1;
	if (tsdl_is_mark(p, '{') && tsdl_attributes(p, &a))
		return -1;
	*type = tsdl_type_new(p, CTF_KIND_STRING, 8);
	return *type ? 0 : -1;
}

/* ---- names of types ---- */

static bool is_c_word(const struct tsdl *p)
{
	static const char *const words[] = { "void", "char", "short", "int", "long", "float",
		"double", "signed", "unsigned", "_Bool", "_Complex", "_Imaginary" };

	for (size_t i = 0; i < COUNT_OF(words); i++)
		if (tsdl_is(p, words[i]))
			return true;
	return false;
}

/*
 * The spelling under which a type is known: C words joined by a blank ("unsigned long"), or
 * one name; then " *" for each star.
 */
static int spelling(struct tsdl *p, char *text, size_t size)
{
	bool c_words = is_c_word(p);
	size_t used = 0;

	if (p->token.kind != TSDL_NAME)
		return tsdl_expected(p, "a type");
	do {
		int n = snprintf(text + used, size - used, "%s%.*s", used ? " " : "",
				 (int)p->token.size, p->token.text);

		if (n < 0 || (size_t)n >= size - used)
			return tsdl_error(p, &p->token, "the name of the type is too long");
		used += (size_t)n;
		if (tsdl_next(p))
			return -1;
		if (tsdl_is(p, "const") && tsdl_next(p))
			return -1;
	} while ((c_words && is_c_word(p)) || tsdl_is_mark(p, '*'));
	return 0;
}

static int known_type(struct tsdl *p, const struct ctf_type **type)
{
	struct tsdl_token at = p->token;
	char name[256];

	if (spelling(p, name, sizeof name))
		return -1;
	*type = tsdl_find(p, name);
	if (!*type)
		return tsdl_error(p, &at, "unknown type \"%s\"", name);
	return 0;
}

static const struct {
	const char *word;
	int (*parse)(struct tsdl *p, const struct ctf_type **type);
} kinds[] = {
	{ "integer", integer_type }, { "floating_point", float_type }, { "string", string_type },
	{ "struct", tsdl_struct }, { "variant", tsdl_variant }, { "enum", tsdl_enum },
};

int tsdl_type(struct tsdl *p, const struct ctf_type **type)
{
	while (tsdl_is(p, "const"))
		if (tsdl_next(p))
			return -1;
	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (tsdl_is(p, kinds[i].word))
			return kinds[i].parse(p, type);
	return known_type(p, type);
}

bool tsdl_type_starts(const struct tsdl *p)
{
	return tsdl_is(p, "struct") || tsdl_is(p, "variant") || tsdl_is(p, "enum");
}

/* ---- declarators: the name and brackets behind a type ---- */

/* "[...]" from the present bracket on; the leftmost bracket is the outermost array. */
static int brackets(struct tsdl *p, const struct ctf_type **type)
{
	struct tsdl_value length;
	struct ctf_type *array;

	if (!tsdl_is_mark(p, '['))
		return 0;
	if (++p->depth > CTF_DEPTH_MAX)
		return tsdl_error(p, &p->token, "more than %d dimensions", CTF_DEPTH_MAX);
	if (tsdl_next(p) || tsdl_value(p, &length) || tsdl_expect(p, ']', "]"))
		return -1;
	if (length.kind == TSDL_STRING || length.negative)
		return tsdl_error(p, &length.token, "expected a number or a field as length");
	if (brackets(p, type))
		return -1;
	p->depth--;
	array = tsdl_type_new(p, length.kind == TSDL_INTEGER ? CTF_KIND_ARRAY : CTF_KIND_SEQUENCE,
			      (*type)->align);
	if (!array)
		return -1;
	array->element = *type;
	array->length = length.number;
	array->path = length.kind == TSDL_NAME ? length.text : NULL;
	*type = array;
	return 0;
}

int tsdl_declarator(struct tsdl *p, const struct ctf_type **type, const char **name)
{
	if (tsdl_name_text(p, name))
		return -1;
	return brackets(p, type);
}

static int typealias(struct tsdl *p)
{
	const struct ctf_type *type;
	struct tsdl_token at;
	char name[256];

	if (tsdl_next(p) || tsdl_type(p, &type))
		return -1;
	if (tsdl_is_mark(p, '[') && brackets(p, &type))
		return -1;
	if (tsdl_expect(p, TSDL_ASSIGN_TYPE, ":="))
		return -1;
	at = p->token;
	if (spelling(p, name, sizeof name) || tsdl_define(p, &at, name, type))
		return -1;
	return tsdl_expect(p, ';', ";");
}

static int typedefinition(struct tsdl *p)
{
	const struct ctf_type *base;

	if (tsdl_next(p) || tsdl_type(p, &base))
		return -1;
	for (;;) {
		const struct ctf_type *type = base;
		struct tsdl_token at = p->token;
		const char *name;

		if (tsdl_declarator(p, &type, &name) || tsdl_define(p, &at, name, type))
			return -1;
		if (!tsdl_is_mark(p, ','))
			return tsdl_expect(p, ';', ";");
		if (tsdl_next(p))
			return -1;
	}
}

int tsdl_declaration(struct tsdl *p)
{
	const struct ctf_type *type;

	if (tsdl_is(p, "typealias"))
		return typealias(p);
	if (tsdl_is(p, "typedef"))
		return typedefinition(p);
	if (tsdl_type(p, &type))
		return -1;
	return tsdl_expect(p, ';', ";");
}
