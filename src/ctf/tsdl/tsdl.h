/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of TSDL, CTF 1.8's metadata language: tsdl_lex.c makes tokens, tsdl_type.c,
 * tsdl_attribute.c and tsdl_compound.c types, tsdl_block.c the trace, env, clock, stream and
 * event blocks, tsdl_file.c takes files apart. Private to these files.
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
/* Type names seen in one block; looked up from the innermost scope outward. */
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
	struct tsdl_token token;	/* the present one */
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

#endif
