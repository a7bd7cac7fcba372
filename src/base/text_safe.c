/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is text: the one place that decides which characters of other programs may be printed, and
 * what is written instead of the others, for a terminal, in JSON and in CSV. See text.h.
 */
#include "base/array.h"
#include "base/text.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

size_t text_utf8_length(const char *at)
{
	const unsigned char *s = (const unsigned char *)at;
	size_t length = s[0] < 0x80   ? 1
			: s[0] < 0xc2 ? 0
			: s[0] < 0xe0 ? 2
			: s[0] < 0xf0 ? 3
			: s[0] < 0xf5 ? 4
				      : 0;

	for (size_t i = 1; i < length; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	}
	/* Overlong forms, surrogates and codes above U+10FFFF are not valid. */
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) ||
	    (s[0] == 0xf0 && s[1] < 0x90) || (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return length;
}

/* The code point of a valid sequence of @length bytes. */
static uint32_t code_of(const char *at, size_t length)
{
	const unsigned char *s = (const unsigned char *)at;
	uint32_t code = length == 1 ? s[0] : s[0] & (0x7fu >> length);

	for (size_t i = 1; i < length; i++)
		code = code << 6 | (s[i] & 0x3f);
	return code;
}

/*
 * Control characters (C0, DEL, C1) are obeyed by terminals. The others change what the text around
 * them looks like: marks and overrides of direction (U+061C, 200E, 200F, 202A to 202E, 2066 to
 * 2069), ends of lines and paragraphs (U+2028, 2029).
 */
static bool is_control(uint32_t code)
{
	return code < 0x20 || (code >= 0x7f && code < 0xa0) || code == 0x61c || code == 0x200e ||
	       code == 0x200f || (code >= 0x2028 && code <= 0x202e) ||
	       (code >= 0x2066 && code <= 0x2069);
}

enum text_kind text_step(const char *at, size_t left, size_t *length, uint32_t *code)
{
	char bytes[5] = "";

	/* The text may end within a character. */
	memcpy(bytes, at, left < 4 ? left : 4);
	*length = text_utf8_length(bytes);
	*code = 0;
	if (!*length || *length > left) {
		*length = 1;
		return TEXT_BROKEN;
	}
	*code = code_of(bytes, *length);
	return is_control(*code) ? TEXT_CONTROL : TEXT_PLAIN;
}

/* Without a look at more bytes than the text has. */
static enum text_kind step(const char *at, size_t *length, uint32_t *code)
{
	size_t left = strnlen(at, 4);

	return text_step(at, left ? left : 1, length, code);
}

size_t text_simple(const char *at, size_t left)
{
	static const bool is_special[256] = {
		[0 ... 0x1f] = true, ['"'] = true, ['\''] = true, ['?'] = true, ['\\'] = true, [0x7f ... 0xff] = true,
	};
	size_t length = 0;

	while (length < left && !is_special[(unsigned char)at[length]])
		length++;
	return length;
}

size_t text_clean(char *out, size_t size, const char *from)
{
	size_t used = 0;

	if (!size)
		return 0;
	while (*from) {
		size_t length, need;
		uint32_t code;
		bool plain = step(from, &length, &code) == TEXT_PLAIN;

		need = plain ? length : 4 * length;
		if (used + need >= size)
			break;
		for (size_t i = 0; i < length && !plain; i++)
			(void)snprintf(out + used + 4 * i, 5, "\\x%02x", (unsigned char)from[i]);
		if (plain)
			memcpy(out + used, from, length);
		used += need;
		from += length;
	}
	out[used] = 0;
	return used;
}

bool text_is_utf8(const char *text)
{
	for (size_t length; *text; text += length) {
		length = text_utf8_length(text);
		if (!length)
			return false;
	}
	return true;
}

char *text_utf8(const char *text)
{
	char *copy = malloc(3 * strlen(text) + 1), *to = copy;

	while (copy && *text) {
		size_t length = text_utf8_length(text);

		memcpy(to, length ? text : "\xef\xbf\xbd", length ? length : 3); /* U+FFFD */
		to += length ? length : 3;
		text += length ? length : 1;
	}
	if (copy)
		*to = 0;
	return copy;
}

/* ---- JSON: nothing is lost but bytes that are not UTF-8 ---- */

size_t text_json_step(const char **at, char out[TEXT_JSON_STEP_MAX])
{
	const char *text = *at;
	enum text_kind kind;
	uint32_t code;
	size_t length;

	kind = step(text, &length, &code);
	*at += length;
	if (kind == TEXT_BROKEN)
		return (size_t)snprintf(out, TEXT_JSON_STEP_MAX, "\\ufffd");
	if (kind == TEXT_CONTROL)
		return (size_t)snprintf(out, TEXT_JSON_STEP_MAX, "\\u%04x", code & 0xffff);
	if (code == '"' || code == '\\')
		return (size_t)snprintf(out, TEXT_JSON_STEP_MAX, "\\%c", (char)code);
	memcpy(out, text, length);
	return length;
}

size_t text_json_plain(const char *text)
{
	const char *end = text;

	while (*end >= 0x20 && *end < 0x7f && *end != '"' && *end != '\\')
		end++;
	return (size_t)(end - text);
}

void text_put_json(FILE *out, const char *text)
{
	char bytes[TEXT_JSON_STEP_MAX];

	putc_unlocked('"', out);
	for (;;) {
		const size_t plain = text_json_plain(text);

		fwrite_unlocked(text, 1, plain, out);
		text += plain;
		if (!*text)
			break;
		fwrite_unlocked(bytes, 1, text_json_step(&text, bytes), out);
	}
	putc_unlocked('"', out);
}

/* ---- CSV ---- */

static bool is_number(const char *text)
{
	char *end;

	(void)strtod(text, &end);
	return end != text && !*end;
}

/* Programs for tables calculate what begins so. A sign alone is harmless, and a number is one. */
static bool is_formula(const char *text)
{
	return *text && strchr("=+-@\t\r", *text) && text[1] && !is_number(text);
}

/* Characters that need no look: one byte each, with no meaning in CSV. */
static bool is_simple(const char *text)
{
	for (; *text; text++)
		if ((unsigned char)*text < 0x20 || (unsigned char)*text >= 0x7f || *text == ',' ||
		    *text == '"')
			return false;
	return true;
}

static void put_csv_character(FILE *out, const char *at, size_t length, enum text_kind kind)
{
	/* Quotes hold tabs and ends of lines. */
	if (kind == TEXT_PLAIN || *at == '\n' || *at == '\r' || *at == '\t') {
		if (*at == '"')
			putc_unlocked('"', out);
		fwrite_unlocked(at, 1, length, out);
		return;
	}
	for (size_t i = 0; i < length; i++)
		fprintf(out, "\\x%02x", (unsigned char)at[i]);
}

void text_put_csv(FILE *out, const char *text, bool row_start)
{
	bool formula = is_formula(text);
	enum text_kind kind;
	uint32_t code;
	size_t length;

	/* A comment sign at the start of a line would hide a row from readers that know comments.
	 */
	if (is_simple(text) && *text != ' ' && !formula && !(row_start && *text == '#')) {
		fputs_unlocked(text, out);
		return;
	}
	putc_unlocked('"', out);
	if (formula)
		putc_unlocked('\'', out);
	for (; *text; text += length) {
		kind = step(text, &length, &code);
		put_csv_character(out, text, length, kind);
	}
	putc_unlocked('"', out);
}

/* ---- hosts in addresses ---- */

bool host_is_loopback(const char *host)
{
	struct in_addr four;
	struct in6_addr six;

	if (inet_pton(AF_INET, host, &four) == 1)
		return ntohl(four.s_addr) >> 24 == 127;
	if (inet_pton(AF_INET6, host, &six) == 1)
		return IN6_IS_ADDR_LOOPBACK(&six);
	return strcasecmp(host, "localhost") == 0;
}

bool host_is_numeric(const char *host)
{
	struct in6_addr address;

	return inet_pton(AF_INET, host, &address) == 1 || inet_pton(AF_INET6, host, &address) == 1;
}

/* The "@" behind the user in @url; NULL: it names none. *@begin: what is behind "://". */
static const char *user_end(const char *url, const char **begin)
{
	const char *scheme_end = strstr(url, "://");

	*begin = scheme_end ? scheme_end + 3 : "";
	return memrchr(*begin, '@', strcspn(*begin, "/?#"));
}

bool url_has_user(const char *url)
{
	const char *begin;

	return user_end(url, &begin) != NULL;
}

char *host_of_url(const char *url, char *host, size_t size)
{
	const char *begin, *at = user_end(url, &begin);

	if (at)
		begin = at + 1;
	if (*begin == '[')
		snprintf(host, size, "%.*s", (int)strcspn(begin + 1, "]/?#"), begin + 1);
	else
		snprintf(host, size, "%.*s", (int)strcspn(begin, ":/?#"), begin);
	return host;
}

/* At "`kymo VERB", the length of that if the verb reads a trace; else 0. */
static size_t command_length(const char *text)
{
	static const char *const verbs[] = { "report", "why",  "flow",  "info",
					     "events", "dump", "query", "top" };
	static const char begin[] = "`kymo ";
	const char *verb = text + sizeof(begin) - 1;

	if (strncmp(text, begin, sizeof(begin) - 1) != 0)
		return 0;
	for (size_t i = 0; i < COUNT_OF(verbs); i++) {
		const size_t length = strlen(verbs[i]);

		if (strncmp(verb, verbs[i], length) == 0 &&
		    (verb[length] == '`' || verb[length] == ' '))
			return (size_t)(verb - text) + length;
	}
	return 0;
}

char *text_hints(char *buffer, size_t size, const char *text, const char *operand)
{
	size_t used = 0, length;

	*buffer = '\0';
	while (*text && used < size) {
		const char *next = strchr(text + 1, '`');

		length = command_length(text);
		if (length && operand && *operand)
			used += (size_t)snprintf(buffer + used, size - used, "%.*s %s", (int)length,
						 text, operand);
		else
			length = 0;
		text += length;
		if (used >= size)
			break;
		length = next ? (size_t)(next - text) : strlen(text);
		used += (size_t)snprintf(buffer + used, size - used, "%.*s", (int)length, text);
		text += length;
	}
	return buffer;
}
