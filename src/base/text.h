/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Text for people and from people: writes and reads quantities with units, finds the most similar
 * known word, measures widths on a terminal, and makes strings from other programs safe to print.
 */
#ifndef KYMO_BASE_TEXT_H
#define KYMO_BASE_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#define TEXT_QUANTITY_MAX 32	/* bytes; every formatted quantity fits with its NUL */

/*
 * Quantities, three significant digits with a scaled unit: "850 ns", "1.23 ms", "12.5 min";
 * "512 B", "1.50 MiB". text_f64() gives four digits without a unit, and no exponent below 1e15.
 * Context: no allocation. Return: @out.
 */
char *text_ns(char out[TEXT_QUANTITY_MAX], int64_t ns);
char *text_bytes(char out[TEXT_QUANTITY_MAX], uint64_t bytes);
char *text_f64(char out[TEXT_QUANTITY_MAX], double value);

/** text_period() - of a timer, as its author wrote it, in s, ms or us: "33 ms", "2.5 s". Return:
 * @out. */
char *text_period(char out[TEXT_QUANTITY_MAX], int64_t ns);

/** text_f64_exact() - the shortest decimal that reads back as @value, which must be finite. */
char *text_f64_exact(char out[TEXT_QUANTITY_MAX], double value);

#define TEXT_DIGITS_MAX 20 /* of 64 bits */

/*
 * Decimal digits, ten times as fast as snprintf(). text_digits() overwrites all of @out and ends
 * with no NUL; text_nine_digits() has zeros in front, @value is below 10^9; the others end with
 * NUL. Context: no allocation. Return: the number of digits; @out.
 */
size_t text_digits(char out[TEXT_DIGITS_MAX], uint64_t value);
void text_nine_digits(char out[9], uint32_t value);
char *text_u64_exact(char out[TEXT_QUANTITY_MAX], uint64_t value);
char *text_i64_exact(char out[TEXT_QUANTITY_MAX], int64_t value);

/*
 * Quantities from text. Each reads all of @text. Return: true; false: @text is not such a quantity,
 * or does not fit; *out is not changed.
 *   text_read_u64    decimal, or hexadecimal behind 0x
 *   text_read_size   64K, 4M, 1G, 2T (powers of 1024; KiB, MiB, ... too), a bare number is bytes
 *   text_read_time   250us, 1.5ms, 30s, 5min, 2h, 1d, 10ns; a bare number is seconds
 */
bool text_read_u64(const char *text, uint64_t *out);
bool text_read_size(const char *text, uint64_t *out_bytes);
bool text_read_time(const char *text, int64_t *out_ns);

/**
 * text_distance() - edits (insert, delete, replace, swap of neighbours) from @a to @b
 *
 * Words longer than 32 bytes are infinitely far from everything.
 * Return: 0 for equal words; UINT_MAX for "far".
 */
unsigned text_distance(const char *a, const char *b);

/** text_is_near() - whether @distance is small enough to suggest @candidate for @typed. */
bool text_is_near(const char *typed, const char *candidate, unsigned distance);

/* The nearest name so far. Zeroed is a valid start. */
struct text_nearest {
	const char *name; /* NULL: none is near enough to suggest it */
	unsigned distance;
};

/** text_nearest_try() - keep @candidate, which is lent, if it is nearer to @typed than all before.
 */
void text_nearest_try(struct text_nearest *nearest, const char *typed, const char *candidate);

/**
 * text_ros_glob() - whether @glob matches the full name of a node, topic or service
 * @glob: as fnmatch() has it; may be written without the first slash; NULL matches all
 */
bool text_ros_glob(const char *glob, const char *name);

/** text_ends_with() - whether @end is the end of @text, which is longer. */
bool text_ends_with(const char *text, const char *end);

/** text_base_name() - what follows the last slash of @path; without a slash @path. */
const char *text_base_name(const char *path);

/** text_width() - columns @text takes on a terminal, counting one per code point. */
size_t text_width(const char *text);

/**
 * text_fold() - print @text in lines of at most @width columns, broken at blanks
 * @at: columns of the first line that are already used
 * @indent: of the lines that follow
 *
 * A command, from "kymo VERB" to the next quote or punctuation, stays in one line, so that it can
 * be copied; so does a word in the quotes of a shell, and a command with one also if it is longer
 * than a line. A word that is longer than a line is broken behind a "|", as in a list of choices;
 * without one it stays whole, too: the terminal breaks it. What does not fit behind the columns
 * that are used begins the next line. No newline ends the text.
 */
void text_fold(FILE *out, const char *text, size_t width, size_t at, size_t indent);

/**
 * text_shell() - @text as one word of a shell, quoted where that is needed
 * @out: @size bytes, always terminated; 4 * strlen(@text) + 3 are always enough
 *
 * Return: @out.
 */
char *text_shell(char *out, size_t size, const char *text);

/**
 * text_trace_name() - what people call the trace @path: its last part, or of the directories that
 * tracers nest in that of a session, such as SESSION/ust/uid/1000/64-bit, the session's
 *
 * Context: blocks as the disk does. Return: @buffer.
 */
char *text_trace_name(char *buffer, size_t size, const char *path);

/**
 * text_hints() - each command of @text that reads a trace names it: "`kymo report TRACE --section
 * nodes` lists them"
 * @operand: the trace, as a shell takes it; "" or NULL: commands need not name it
 *
 * Context: wait-free. Return: @buffer.
 */
char *text_hints(char *buffer, size_t size, const char *text, const char *operand);

/**
 * text_path_word() - @text as one part of a path, and of a condition on it in a database
 *
 * Letters, digits, '.', '_' and '-' stay, other bytes become '_'; "", "." and ".." become
 * "unknown". Context: wait-free.
 */
void text_path_word(char *out, size_t size, const char *text);

/* ---- text_safe.c: texts of other programs ---- */

/** text_utf8_length() - bytes of the UTF-8 sequence at @at; 0: it is not valid. */
size_t text_utf8_length(const char *at);

enum text_kind {
	TEXT_PLAIN,   /* may be printed anywhere */
	TEXT_CONTROL, /* a terminal obeys it, or it reorders or breaks the text around it */
	TEXT_BROKEN,  /* not UTF-8 */
};

/**
 * text_step() - what the next character of a text is: all that prints texts of others decides by
 * this
 * @left: bytes of the text, at least 1; it needs no NUL
 * @length: receives the bytes of the character; 1 of broken text
 * @code: receives its code point; 0 of broken text
 *
 * Context: wait-free.
 */
enum text_kind text_step(const char *at, size_t left, size_t *length, uint32_t *code);

/**
 * text_simple() - how many bytes a text begins with that every printed form shows as they are
 * @left: bytes of the text; it needs no NUL
 *
 * They are printable ASCII without \\ ' " and ?. text_step() decides about the byte behind them.
 * Context: wait-free.
 */
size_t text_simple(const char *at, size_t left);

/**
 * text_clean() - copy @from with plain characters only, for people
 * @out: @size bytes, always terminated; 4 * strlen(@from) + 1 are always enough
 *
 * The bytes of other characters become \xNN. Return: bytes written without NUL.
 */
size_t text_clean(char *out, size_t size, const char *from);

/** text_is_utf8() - whether all of @text is valid UTF-8, control characters included. */
bool text_is_utf8(const char *text);

/** text_utf8() - a copy with U+FFFD for what is not UTF-8. Return: to be freed; NULL: no memory.
 * Context: allocates. */
char *text_utf8(const char *text);

/**
 * text_json_step() - the next character of a text, escaped for a JSON string
 * @at: not at the text's end; set to what follows
 *
 * Control characters become \uNNNN, a byte that is not UTF-8 U+FFFD. Return: bytes in @out, which
 * does not end with NUL.
 */
#define TEXT_JSON_STEP_MAX 8
size_t text_json_step(const char **at, char out[TEXT_JSON_STEP_MAX]);

/** text_json_plain() - how many bytes at the begin of @text are in a JSON string as they are. */
size_t text_json_plain(const char *text);

/** text_put_json() - print @text as a JSON string, by text_json_step(). */
void text_put_json(FILE *out, const char *text);

/**
 * text_put_csv() - print @text as a cell of CSV
 * @row_start: the cell is the first of its line
 *
 * Quoted where needed, with plain tabs and ends of lines; other characters that are not plain
 * become \xNN. What a program for tables would calculate (= + - @ at the front, and not a number)
 * gets a ' before it.
 */
void text_put_csv(FILE *out, const char *text, bool row_start);

/* ---- hashes ---- */

#define TEXT_HASH 0xcbf29ce484222325ull /* of nothing */

/**
 * text_hash() - FNV-1a of @text and of the texts before it
 * @hash: that of the texts before; TEXT_HASH: there are none
 *
 * "a", "bc" and "ab", "c" have two hashes.
 */
static inline uint64_t text_hash(uint64_t hash, const char *text)
{
	for (; *text; text++)
		hash = (hash ^ (uint8_t)*text) * 0x100000001b3ull;
	return (hash ^ 0xff) * 0x100000001b3ull;
}

/* ---- hosts in addresses ---- */

/** host_is_loopback() - whether @host, a name or a numeric address, is this machine for certain.
 * Context: does not look up names. */
bool host_is_loopback(const char *host);

/** host_is_numeric() - an IPv4 or IPv6 address, not a name. */
bool host_is_numeric(const char *host);

/**
 * host_of_url() - the host of "SCHEME://HOST:PORT/PATH", "SCHEME://[::1]:PORT"; without brackets
 * @size: of @host; a longer one is cut
 *
 * Return: @host; "" if @url has none.
 */
char *host_of_url(const char *url, char *host, size_t size);

/** url_has_user() - whether @url names a user, perhaps with a password, before its host. */
bool url_has_user(const char *url);

#endif
