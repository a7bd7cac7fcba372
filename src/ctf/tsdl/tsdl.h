/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of TSDL, the metadata language of CTF 1.8. It descends recursively, one function per
 * rule, with one token of lookahead. tsdl_file.c reads files, tsdl_lex.c makes tokens; tsdl_type.c,
 * tsdl_compound.c and tsdl_attribute.c parse types; tsdl_block.c parses trace, env, clock, stream
 * and event blocks. Private to these files.
 *
 * Context of all functions: one thread; allocate in the arena of the metadata.
 */
#ifndef KYMO_CTF_TSDL_H
#define KYMO_CTF_TSDL_H

#include "ctf/tsdl/tsdl_metadata.h"

enum tsdl_kind { TSDL_END, TSDL_NAME, TSDL_INTEGER, TSDL_STRING, TSDL_MARK };

/* Marks of more than one character; all others are their character. */
enum { TSDL_ASSIGN_TYPE = 256 /* := */, TSDL_DOTS /* ... */, TSDL_ARROW /* -> */ };

struct tsdl_token {
	enum tsdl_kind kind;
	int mark;
	uint32_t line, column;		/* from 1 */
	const char *text;		/* as written; strings: unescaped, in the arena */
	uint32_t size;
	uint64_t value;
};

struct tsdl_name;
/* The type names of one block; a name is searched from the innermost scope outward. */
struct tsdl_scope {
	struct tsdl_scope *outer;
	struct tsdl_name **bucket;
};

struct tsdl {
	struct ctf_metadata *metadata;
	const char *name;		/* of the file */
	const char *at, *end;
	const char *line_begin;
	uint32_t line;
	struct tsdl_token token;	/* the present one, not yet consumed */
	struct tsdl_scope *scope;
	unsigned depth;
	bool open;			/* the text ends inside a string or comment */
	struct kymo_err *err;
};

/* A value of an attribute: "key = value;". */
struct tsdl_value {
	enum tsdl_kind kind;		/* TSDL_INTEGER, TSDL_STRING, TSDL_NAME (dotted) */
	bool negative;
	uint64_t number;		/* two's complement when negative */
	const char *text;
	struct tsdl_token token;	/* its first token, for errors */
};

/* All return 0, or -1 with the error set. */
int tsdl_next(struct tsdl *p);
bool tsdl_is(const struct tsdl *p, const char *word);
bool tsdl_is_mark(const struct tsdl *p, int mark);
int tsdl_expect(struct tsdl *p, int mark, const char *what);
int tsdl_expected(struct tsdl *p, const char *what);
__attribute__((format(printf, 3, 4)))
int tsdl_error(struct tsdl *p, const struct tsdl_token *at, const char *format, ...);
int tsdl_no_memory(struct tsdl *p);
/* Room for one more element behind the @count elements of @list, in the arena. */
#define TSDL_ROOM(p, list, count)                                                       \
	(((list) = arena_grow(&(p)->metadata->arena, (list), (count), sizeof(*(list)))) \
		 ? 0                                                                    \
		 : tsdl_no_memory(p))
int tsdl_name_text(struct tsdl *p, const char **text);
int tsdl_value(struct tsdl *p, struct tsdl_value *value);

int tsdl_scope_open(struct tsdl *p, struct tsdl_scope *scope);
void tsdl_scope_close(struct tsdl *p);
bool tsdl_type_starts(const struct tsdl *p);
/* A type without declarator, as right of ":=" in blocks. */
int tsdl_type(struct tsdl *p, const struct ctf_type **type);
/* typealias, typedef, or a named type's definition. */
int tsdl_declaration(struct tsdl *p);

int tsdl_blocks(struct tsdl *p);

/* ---- between the files of types ---- */

struct ctf_type *tsdl_type_new(struct tsdl *p, enum ctf_kind kind, uint32_t align);

/* Types by spelling: "uint8_t", "unsigned long", "struct x". NULL: unknown. */
const struct ctf_type *tsdl_find(const struct tsdl *p, const char *name);
int tsdl_define(struct tsdl *p, const struct tsdl_token *at, const char *name,
		const struct ctf_type *type);

/* The attributes of a type; the type decides which of them matter. 0: not given. */
struct tsdl_attributes {
	uint32_t size, align, exponent, mantissa;
	uint8_t is_signed, base, text, order;
	const char *clock;
};

/* "{ key = value; ... }" from the bracket on; unknown keys are ignored. */
int tsdl_attributes(struct tsdl *p, struct tsdl_attributes *a);
int tsdl_align(struct tsdl *p, const struct tsdl_value *v, uint32_t *out);

/* A name and its brackets; @type goes in as the element and comes out as declared. */
int tsdl_declarator(struct tsdl *p, const struct ctf_type **type, const char **name);

/* Each begins at its keyword. */
int tsdl_struct(struct tsdl *p, const struct ctf_type **type);
int tsdl_variant(struct tsdl *p, const struct ctf_type **type);
int tsdl_enum(struct tsdl *p, const struct ctf_type **type);

#endif
