/* SPDX-License-Identifier: Apache-2.0 */
/* Tokens of TSDL, and errors with file, line and column. */
#include "base/array.h"
#include "ctf/tsdl/tsdl.h"

#include <ctype.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

int tsdl_error(struct tsdl *p, const struct tsdl_token *at, const char *format, ...)
{
	char text[512];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);	/* a cut text is still a text */
	va_end(args);
	return err_set(p->err, KYMO_EXIT_INPUT, "%s:%u:%u: %s", p->name, at->line, at->column, text);
}

int tsdl_no_memory(struct tsdl *p)
{
	return tsdl_error(p, &p->token, "the metadata needs more than %zu MiB of memory",
			  ARENA_BUDGET >> 20);
}

int tsdl_expected(struct tsdl *p, const char *what)
{
	const struct tsdl_token *t = &p->token;

	if (t->kind == TSDL_END)
		return tsdl_error(p, t, "expected %s, found the end of the metadata", what);
	return tsdl_error(p, t, "expected %s, found \"%.*s\"", what,
			  (int)(t->size > 40 ? 40 : t->size), t->text);
}

bool tsdl_is(const struct tsdl *p, const char *word)
{
	return p->token.kind == TSDL_NAME && strlen(word) == p->token.size &&
	       !memcmp(p->token.text, word, p->token.size);
}

bool tsdl_is_mark(const struct tsdl *p, int mark)
{
	return p->token.kind == TSDL_MARK && p->token.mark == mark;
}

int tsdl_expect(struct tsdl *p, int mark, const char *what)
{
	if (!tsdl_is_mark(p, mark))
		return tsdl_expected(p, what);
	return tsdl_next(p);
}

int tsdl_name_text(struct tsdl *p, const char **text)
{
	if (p->token.kind != TSDL_NAME)
		return tsdl_expected(p, "a name");
	*text = arena_text(&p->metadata->arena, p->token.text, p->token.size);
	if (!*text)
		return tsdl_no_memory(p);
	return tsdl_next(p);
}

static void new_line(struct tsdl *p)
{
	p->line++;
	p->line_begin = p->at + 1;
}

/* Return: 0; -1: the comment has no end, and @p stays at its beginning. */
static int skip_comment(struct tsdl *p)
{
	struct tsdl before = *p;

	for (p->at += 2; p->at + 1 < p->end; p->at++) {
		if (p->at[0] == '*' && p->at[1] == '/') {
			p->at += 2;
			return 0;
		}
		if (*p->at == '\n')
			new_line(p);
	}
	*p = before;
	return -1;
}

static int skip_space(struct tsdl *p)
{
	while (p->at < p->end) {
		char next = p->at + 1 < p->end ? p->at[1] : 0;

		if (*p->at == '\n') {
			new_line(p);
			p->at++;
		} else if (isspace((unsigned char)*p->at) || !*p->at) {
			p->at++;
		} else if (*p->at == '/' && next == '*') {
			if (skip_comment(p))
				return -1;
		} else if (*p->at == '/' && next == '/') {
			while (p->at < p->end && *p->at != '\n')
				p->at++;
		} else {
			break;
		}
	}
	return 0;
}

static int digit_value(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return 99;
}

static int lex_integer(struct tsdl *p, struct tsdl_token *t)
{
	unsigned base = 10;

	if (*p->at == '0' && p->at + 1 < p->end && (p->at[1] == 'x' || p->at[1] == 'X')) {
		base = 16;
		p->at += 2;
		if (p->at == p->end || digit_value(*p->at) > 15)
			return tsdl_error(p, t, "expected hexadecimal digits after 0x");
	} else if (*p->at == '0') {
		base = 8;
	}
	for (; p->at < p->end && digit_value(*p->at) < (int)base; p->at++) {
		uint64_t digit = (uint64_t)digit_value(*p->at);

		if (t->value > (UINT64_MAX - digit) / base)
			return tsdl_error(p, t, "the number does not fit into 64 bits");
		t->value = t->value * base + digit;
	}
	while (p->at < p->end && strchr("uUlL", *p->at) && *p->at)
		p->at++;
	if (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
		return tsdl_error(p, t, "expected a number");
	return 0;
}

/* The character that an escape means. p->at: behind the backslash; on return, on the last character
 * of the escape. */
static char unescape(struct tsdl *p)
{
	static const char from[] = "abfnrtve", to[] = "\a\b\f\n\r\t\v\033";
	const char *found = strchr(from, *p->at);
	unsigned value = 0, digits = 0;

	if (*p->at && found)
		return to[found - from];
	if (*p->at == 'x') {
		for (; digits < 2 && p->at + 1 < p->end && digit_value(p->at[1]) < 16; digits++)
			value = value * 16 + (unsigned)digit_value(*++p->at);
		return (char)value;
	}
	if (digit_value(*p->at) > 7)
		return *p->at;
	for (value = (unsigned)digit_value(*p->at); digits < 2 && p->at + 1 < p->end &&
	     digit_value(p->at[1]) < 8; digits++)
		value = value * 8 + (unsigned)digit_value(*++p->at);
	return (char)value;
}

static int lex_string(struct tsdl *p, struct tsdl_token *t)
{
	const char *begin = ++p->at;
	char *out;

	while (p->at < p->end && *p->at != '"' && *p->at != '\n')
		p->at += *p->at == '\\' && p->at + 1 < p->end ? 2 : 1;
	p->open = p->at >= p->end;
	if (p->open || *p->at != '"')
		return tsdl_error(p, t, "the string is not closed on its line");
	out = arena_alloc(&p->metadata->arena, (size_t)(p->at - begin) + 1);
	if (!out)
		return tsdl_no_memory(p);
	t->text = out;
	for (p->at = begin; *p->at != '"'; p->at++) {
		if (*p->at == '\\') {
			p->at++;
			*out++ = unescape(p);
		} else {
			*out++ = *p->at;
		}
	}
	p->at++;
	t->size = (uint32_t)strlen(t->text);
	return 0;
}

static int lex_mark(struct tsdl *p, struct tsdl_token *t)
{
	static const struct { const char *text; int mark; } marks[] = {
		{ "...", TSDL_DOTS }, { ":=", TSDL_ASSIGN_TYPE }, { "->", TSDL_ARROW },
	};

	for (size_t i = 0; i < COUNT_OF(marks); i++) {
		size_t size = strlen(marks[i].text);

		if ((size_t)(p->end - p->at) >= size && !memcmp(p->at, marks[i].text, size)) {
			t->mark = marks[i].mark;
			p->at += size;
			return 0;
		}
	}
	t->mark = (unsigned char)*p->at++;
	if (!strchr("{}[]()<>;:,=.*+-", t->mark))
		return tsdl_error(p, t, isprint(t->mark) ? "\"%c\" has no meaning here" :
				  "byte 0x%02x has no meaning here", t->mark);
	return 0;
}

int tsdl_next(struct tsdl *p)
{
	struct tsdl_token *t = &p->token;
	int failed = skip_space(p);
	int result = 0;

	*t = (struct tsdl_token) { .line = p->line, .text = p->at,
		.column = (uint32_t)(p->at - p->line_begin) + 1 };
	p->open = failed;
	if (failed)
		return tsdl_error(p, t, "a comment is not closed");
	if (p->at == p->end) {
		t->kind = TSDL_END;
		return 0;
	}
	if (*p->at == 'L' && p->at + 1 < p->end && p->at[1] == '"')
		p->at++;
	if (*p->at == '"') {
		t->kind = TSDL_STRING;
		return lex_string(p, t);
	}
	if (isalpha((unsigned char)*p->at) || *p->at == '_') {
		t->kind = TSDL_NAME;
		while (p->at < p->end && (isalnum((unsigned char)*p->at) || *p->at == '_'))
			p->at++;
	} else if (isdigit((unsigned char)*p->at)) {
		t->kind = TSDL_INTEGER;
		result = lex_integer(p, t);
	} else {
		t->kind = TSDL_MARK;
		result = lex_mark(p, t);
	}
	t->size = (uint32_t)(p->at - t->text);
	return result;
}

static int dotted(struct tsdl *p, struct tsdl_value *value)
{
	char text[256];
	size_t used = 0;

	for (;;) {
		int n;

		if (p->token.kind != TSDL_NAME)
			return tsdl_expected(p, "a name");
		n = snprintf(text + used, sizeof text - used, "%s%.*s", used ? "." : "",
			     (int)p->token.size, p->token.text);
		if (n < 0 || (size_t)n >= sizeof text - used)
			return tsdl_error(p, &value->token, "the name is longer than %zu characters",
					  sizeof text - 1);
		used += (size_t)n;
		if (tsdl_next(p))
			return -1;
		if (!tsdl_is_mark(p, '.') && !tsdl_is_mark(p, TSDL_ARROW))
			break;
		if (tsdl_next(p))
			return -1;
	}
	value->text = arena_text(&p->metadata->arena, text, used);
	return value->text ? 0 : tsdl_no_memory(p);
}

int tsdl_value(struct tsdl *p, struct tsdl_value *value)
{
	*value = (struct tsdl_value) { .token = p->token };
	if (tsdl_is_mark(p, '-') || tsdl_is_mark(p, '+')) {
		value->negative = p->token.mark == '-';
		if (tsdl_next(p))
			return -1;
		if (p->token.kind != TSDL_INTEGER)
			return tsdl_expected(p, "a number behind the sign");
	}
	value->kind = p->token.kind;
	switch (p->token.kind) {
	case TSDL_INTEGER:
		value->number = value->negative ? 0 - p->token.value : p->token.value;
		return tsdl_next(p);
	case TSDL_STRING:
		value->text = p->token.text;
		return tsdl_next(p);
	case TSDL_NAME:
		return dotted(p, value);
	default:
		return tsdl_expected(p, "a number, a string or a name");
	}
}
