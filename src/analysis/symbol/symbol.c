/* SPDX-License-Identifier: Apache-2.0 */
/* Readable C++ symbols of callbacks; see symbol.h. */
#include "analysis/symbol/symbol.h"
#include "base/array.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>
#include <zstd.h>

/* Longer symbols are cut: heavily templated names can reach megabytes. */
#define SYMBOL_MAX 16384u

typedef char *(*demangle_function)(const char *, char *, size_t *, int *);

/* kymo is C and does not link the C++ runtime; the machine that runs ROS 2 has it. */
static demangle_function demangler(void)
{
	static demangle_function function;
	static int tried;
	void *library;

	if (!tried) {
		tried = 1;
		library = dlopen("libstdc++.so.6", RTLD_LAZY | RTLD_LOCAL);
		if (library)
			*(void **)&function = dlsym(library, "__cxa_demangle");
	}
	return function;
}

char *symbol_demangled(const char *text)
{
	demangle_function demangle;
	int status = -1;

	/* A type name from typeid(): "St5_BindIFM..."; demanglers accept both forms. */
	if (strncmp(text, "_Z", 2) != 0)
		return NULL;
	demangle = demangler();
	return demangle ? demangle(text, NULL, NULL, &status) : NULL;
}

/* Removes [from, to) from @text. */
static void cut(char *text, size_t from, size_t to)
{
	memmove(text + from, text + to, strlen(text + to) + 1);
}

static void cut_all(char *text, const char *what)
{
	size_t length = strlen(what);
	char *at = text;

	while ((at = strstr(at, what)))
		cut(text, at - text, at - text + length);
}

/* Removes "std::default_delete<...>" and the comma before it. */
static void cut_deleters(char *text)
{
	static const char name[] = "std::default_delete<";
	char *at = text, *end;
	int level;

	while ((at = strstr(at, name))) {
		end = at + sizeof(name) - 1;
		for (level = 1; *end && level; end++)
			level += (*end == '<') - (*end == '>');
		if (level)
			return;		/* the text ends in the middle: leave it */
		while (at > text && (at[-1] == ' ' || at[-1] == ','))
			at--;
		end += strspn(end, " ");
		cut(text, at - text, end - text);
	}
}

/* "std::_Bind<R (C::*(C*, std::_Placeholder<1>))(A)>" becomes "R (C::?)(A)". */
static void unwrap_bind(char *text)
{
	static const char name[] = "std::_Bind<";
	size_t length;
	char *from, *to;

	if (strncmp(text, name, sizeof(name) - 1) != 0)
		return;
	cut(text, 0, sizeof(name) - 1);
	length = strlen(text);
	if (length && text[length - 1] == '>')
		text[length - 1] = '\0';
	from = strchr(text, '*');
	to = from ? strchr(from, ')') : NULL;
	if (!to)
		return;
	*from = '?';
	cut(text, from + 1 - text, to + 1 - text);
}

static int is_unknown(const char *text)
{
	static const char *const unknown[] = {
		"(null)", "UNKNOWN", "UNKNOWN_demangling_failed", "DISABLED__demangle_symbol",
		"DISABLED__get_symbol_funcptr",
	};
	unsigned i;

	for (i = 0; i < COUNT_OF(unknown); i++)
		if (strcmp(text, unknown[i]) == 0)
			return 1;
	return 0;
}

char *symbol_pretty(const char *raw, size_t length)
{
	char *text, *readable, *space;
	size_t i;

	text = strndup(raw ? raw : "", length < SYMBOL_MAX ? length : SYMBOL_MAX);
	if (!text)
		return NULL;
	if (is_unknown(text))
		*text = '\0';
	readable = symbol_demangled(text);
	if (readable) {
		free(text);
		text = readable;
	}
	/* Control characters of a damaged trace must not reach a terminal. */
	for (i = 0; text[i]; i++)
		if ((unsigned char)text[i] < ' ' || text[i] == 0x7f)
			text[i] = '?';
	cut_all(text, "_<std::allocator<void> >");
	cut_all(text, "_<std::allocator<void>>");
	cut_deleters(text);
	unwrap_bind(text);
	while ((space = strstr(text, "> >")))
		cut(text, space + 1 - text, space + 2 - text);
	return text;
}

/* The end of the group that begins at @open, or NULL. */
static const char *group_end(const char *open)
{
	int level = 0;

	for (; *open; open++) {
		level += (*open == '(') - (*open == ')');
		if (!level)
			return open;
	}
	return NULL;
}

char *symbol_short(const char *pretty, char *buffer, size_t size)
{
	size_t used = 0;
	const char *end;
	int written;

	if (!size)
		return buffer;
	buffer[0] = '\0';
	while (*pretty && used + 1 < size) {
		end = *pretty == '(' ? group_end(pretty) : NULL;
		/* "(Filter::?)" is the class of a bound method: keep it. */
		if (end && end > pretty + 1 && end[-1] != '?') {
			written = snprintf(buffer + used, size - used, "(...)");
			used += written;
			pretty = end + 1;
			continue;
		}
		buffer[used++] = *pretty++;
		buffer[used] = '\0';
	}
	if ((*pretty || used >= size) && size > 4)
		memcpy(buffer + size - 4, "...", 4);
	return buffer;
}

/* ---- the sections of debug information, which -gz compresses ---- */

#ifndef ELFCOMPRESS_ZSTD /* before glibc 2.37 */
#define ELFCOMPRESS_ZSTD 2
#endif

/* Return: false: not of this size, or damaged. */
static bool unpack(uint32_t type, const unsigned char *from, uint64_t from_size, char *to,
		   uint64_t size)
{
	uLongf written = (uLongf)size;

	if (type == ELFCOMPRESS_ZLIB)
		return uncompress((Bytef *)to, &written, from, (uLong)from_size) == Z_OK &&
		       written == size;
	return type == ELFCOMPRESS_ZSTD && ZSTD_decompress(to, size, from, from_size) == size;
}

/* As elf_section_named(). */
static void *section(const struct elf *elf, const char *name, uint64_t *size)
{
	void *plain = elf_section_named(elf, name, size);
	unsigned char *packed = plain ? NULL : elf_section_compressed(elf, name, size);
	const uint64_t packed_size = packed ? *size : 0;
	Elf64_Chdr head;
	char *bytes = NULL;

	if (plain)
		return plain;
	*size = 0;
	if (packed_size > sizeof(head)) {
		memcpy(&head, packed, sizeof(head));
		bytes = head.ch_size && head.ch_size <= ELF_SECTION_MAX ? malloc(head.ch_size + 1)
									: NULL;
		if (bytes && unpack(head.ch_type, packed + sizeof(head),
				    packed_size - sizeof(head), bytes, head.ch_size)) {
			bytes[head.ch_size] = '\0';
			*size = head.ch_size;
		} else {
			free(bytes);
			bytes = NULL;
		}
	}
	free(packed);
	return bytes;
}

void code_lines_open(struct code_lines *tables, const struct elf *elf)
{
	*tables = (struct code_lines){ 0 };
	tables->lines = section(elf, ".debug_line", &tables->size);
	tables->line_str.at = section(elf, ".debug_line_str", &tables->line_str.size);
	tables->str.at = section(elf, ".debug_str", &tables->str.size);
}

void code_lines_close(struct code_lines *tables)
{
	free(tables->lines);
	free(tables->line_str.at);
	free(tables->str.at);
	*tables = (struct code_lines){ 0 };
}
