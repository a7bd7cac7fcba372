/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The idea: a line table is a program for a small machine with the registers address, file and
 * line. Each row that it emits holds until the address of the next row. So all programs of the
 * section run, and the row that holds at the wanted address is the answer. See symbol.h.
 */
#include "analysis/symbol/symbol.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define NAMES_MAX 65536u /* files or directories of a unit */
#define FORMATS_MAX 16u

/* Bytes that are read from the front. Behind the end all is zero, and `over` says so. */
struct bytes {
	const uint8_t *at, *end;
	bool over, is_64; /* 64-bit DWARF: offsets have 8 bytes */
};

static uint64_t take(struct bytes *b, unsigned size)
{
	uint64_t value = 0;

	if (size > 8 || (uint64_t)(b->end - b->at) < size) {
		b->over = true;
		b->at = b->end;
		return 0;
	}
	memcpy(&value, b->at, size); /* elf.h reads files of this machine's byte order */
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
	value >>= size ? 64 - 8 * size : 0;
#endif
	b->at += size;
	return value;
}

static void pass_over(struct bytes *b, uint64_t size)
{
	if ((uint64_t)(b->end - b->at) < size) {
		b->over = true;
		size = (uint64_t)(b->end - b->at);
	}
	b->at += size;
}

static uint64_t take_leb(struct bytes *b, bool is_signed)
{
	uint64_t value = 0;
	unsigned shift = 0;
	uint8_t byte;

	do {
		byte = (uint8_t)take(b, 1);
		if (shift < 64)
			value |= (uint64_t)(byte & 0x7f) << shift;
		shift += 7;
	} while (byte & 0x80 && !b->over);
	if (is_signed && byte & 0x40 && shift < 64)
		value |= ~(uint64_t)0 << shift;
	return value;
}

static const char *take_text(struct bytes *b)
{
	const uint8_t *from = b->at, *end = memchr(from, 0, (size_t)(b->end - from));

	if (!end) {
		b->over = true;
		b->at = b->end;
		return "";
	}
	b->at = end + 1;
	return (const char *)from;
}

/* ---- one unit ---- */

struct name {
	const char *text;
	uint64_t directory;
};

struct unit {
	unsigned version, op_least, line_range, op_base;
	int line_base;
	uint8_t op_length[256];
	struct name *file, *directory; /* [NAMES_MAX], for all units in turn */
	unsigned files, directories;
};

static const char *text_at(const struct code_texts *texts, uint64_t offset)
{
	return offset < texts->size ? texts->at + offset : "";
}

/* A value of DWARF 5's tables of names. */
static void take_form(struct bytes *b, const struct code_lines *tables, uint64_t form,
		      const char **text, uint64_t *number)
{
	switch (form) {
	case 0x08: /* DW_FORM_string */
		*text = take_text(b);
		break;
	case 0x1f: /* DW_FORM_line_strp */
		*text = text_at(&tables->line_str, take(b, b->is_64 ? 8 : 4));
		break;
	case 0x0e: /* DW_FORM_strp */
		*text = text_at(&tables->str, take(b, b->is_64 ? 8 : 4));
		break;
	case 0x0f: /* DW_FORM_udata */
		*number = take_leb(b, false);
		break;
	case 0x0b: /* DW_FORM_data1 and 2, 4, 8, 16 */
	case 0x05 ... 0x07:
		*number = take(b, form == 0x0b ? 1 : 1u << (form - 4));
		break;
	case 0x1e:
		pass_over(b, 16);
		break;
	case 0x09: /* DW_FORM_block */
		pass_over(b, take_leb(b, false));
		break;
	default:
		b->over = true;
	}
}

/* Return: how many are in @names. */
static unsigned take_names(struct bytes *b, const struct code_lines *tables,
			   struct name names[NAMES_MAX])
{
	uint64_t format[FORMATS_MAX][2], count;
	unsigned formats = (unsigned)take(b, 1);

	if (formats > FORMATS_MAX)
		b->over = true;
	for (unsigned i = 0; i < formats && !b->over; i++) {
		format[i][0] = take_leb(b, false);
		format[i][1] = take_leb(b, false);
	}
	count = take_leb(b, false);
	/* Each has a byte at least: what has no bytes would cost time and no room in the file. */
	if (!formats || count > NAMES_MAX || count > (uint64_t)(b->end - b->at))
		b->over |= count != 0;
	for (unsigned i = 0; i < count && !b->over; i++) {
		names[i] = (struct name){ "", 0 };
		for (unsigned k = 0; k < formats; k++) {
			const char *text = "";
			uint64_t number = 0;

			take_form(b, tables, format[k][1], &text, &number);
			if (format[k][0] == 1) /* DW_LNCT_path */
				names[i].text = text;
			else if (format[k][0] == 2) /* DW_LNCT_directory_index */
				names[i].directory = number;
		}
	}
	return b->over ? 0 : (unsigned)count;
}

static bool names_of_5(struct unit *unit, struct bytes *b, const struct code_lines *tables)
{
	unit->directories = take_names(b, tables, unit->directory);
	unit->files = take_names(b, tables, unit->file);
	return !b->over;
}

/* Before DWARF 5, the numbers of both begin with 1; directory 0 is that of the compiler, which only
 * .debug_info names. */
static bool names_before_5(struct unit *unit, struct bytes *b)
{
	const char *text = "";

	do {
		unit->directory[unit->directories++] = (struct name){ text, 0 };
		text = take_text(b);
	} while (*text && unit->directories < NAMES_MAX);
	unit->file[unit->files++] = (struct name){ "", 0 };
	for (text = take_text(b); *text && unit->files < NAMES_MAX; text = take_text(b)) {
		unit->file[unit->files++] = (struct name){ text, take_leb(b, false) };
		(void)take_leb(b, false); /* time */
		(void)take_leb(b, false); /* size */
	}
	return !b->over;
}

/* Return: false: the unit cannot be read. @b is then anywhere in it, else at its program. */
static bool head_of(struct unit *unit, struct bytes *b, const struct code_lines *tables)
{
	uint64_t head;
	const uint8_t *program;

	unit->version = (unsigned)take(b, 2);
	if (unit->version < 2 || unit->version > 5)
		return false;
	if (unit->version == 5)
		(void)take(b, 2); /* sizes of an address and of a segment selector */
	head = take(b, b->is_64 ? 8 : 4);
	if (b->over || head > (uint64_t)(b->end - b->at))
		return false;
	program = b->at + head;
	unit->op_least = (unsigned)take(b, 1);
	if (unit->version >= 4)
		(void)take(b, 1); /* operations of an instruction: more than 1 only for VLIW */
	(void)take(b, 1);         /* whether a row begins a statement */
	unit->line_base = (int8_t)take(b, 1);
	unit->line_range = (unsigned)take(b, 1);
	unit->op_base = (unsigned)take(b, 1);
	for (unsigned i = 1; i < unit->op_base; i++)
		unit->op_length[i] = (uint8_t)take(b, 1);
	if (b->over || !unit->line_range || !unit->op_base)
		return false;
	if (!(unit->version == 5 ? names_of_5(unit, b, tables) : names_before_5(unit, b)))
		return false;
	b->at = program;
	return true;
}

/* ---- the machine ---- */

struct line_row {
	uint64_t address, file, line;
};

struct search {
	uint64_t address, end, best; /* best: where the code of the answer begins */
	struct code_line *found;
	bool has, is_done; /* is_done: no other row is earlier */
};

static bool is_below(const char *path, const char *directory)
{
	const char *at = strstr(path, directory);

	return at && (at == path || at[-1] == '/');
}

/* Headers of the system, of C++ and of ROS 2. A workspace may have sources in a directory called
 * rclcpp, too. */
static bool is_inlined(const char *path)
{
	return strncmp(path, "/usr/include/", 13) == 0 || strncmp(path, "/usr/lib/", 9) == 0 ||
	       strncmp(path, "/opt/ros/", 9) == 0 || is_below(path, "include/c++/") ||
	       is_below(path, "include/rclcpp") || is_below(path, "include/tracetools/");
}

/* With its directory, which DWARF 5 may give from the one that the compiler ran in. */
static void path_of(const struct unit *unit, const struct name *file, char *path, size_t size)
{
	const char *directory = "", *base = "";

	if (*file->text != '/' && file->directory < unit->directories)
		directory = unit->directory[file->directory].text;
	if (unit->version == 5 && *directory && *directory != '/' && file->directory)
		base = unit->directory[0].text;
	(void)snprintf(path, size, "%s%s%s%s%s", base, *base ? "/" : "", directory,
		       *directory ? "/" : "", file->text);
}

/* @row holds until @next. */
static void look_at(struct search *search, const struct unit *unit, const struct line_row *row,
		    uint64_t next)
{
	const uint64_t end = search->end ? search->end : search->address + 1;
	const uint64_t from = row->address > search->address ? row->address : search->address;
	char path[sizeof(search->found->file)];

	/* Of several rows at the first address, the first is the line of the function itself. */
	if ((from >= next && row->address != search->address) || from >= end ||
	    (search->has && from >= search->best) || !row->line || row->file >= unit->files)
		return;
	path_of(unit, &unit->file[row->file], path, sizeof(path));
	if (!*unit->file[row->file].text || (search->end && is_inlined(path)))
		return;
	memcpy(search->found->file, path, sizeof(path));
	search->found->line = (unsigned)row->line;
	search->best = from;
	search->has = true;
	search->is_done = from == search->address;
}

static void run(struct search *search, const struct unit *unit, struct bytes *b)
{
	const struct line_row first = { .file = 1, .line = 1 };
	struct line_row now = first, last = first;
	bool is_open = false, keeps = false; /* a row was emitted; its sequence is in the file */

	while (b->at < b->end && !b->over && !search->is_done) {
		const unsigned op = (unsigned)take(b, 1);
		bool emits = false, ends = false;

		if (op >= unit->op_base) {
			now.address += (uint64_t)((op - unit->op_base) / unit->line_range) *
				       unit->op_least;
			now.line += (uint64_t)(unit->line_base +
					       (int)((op - unit->op_base) % unit->line_range));
			emits = true;
		} else if (!op) {
			const uint64_t size = take_leb(b, false);
			const uint8_t *from = b->at;
			const unsigned what = size ? (unsigned)take(b, 1) : 0;

			if (what == 1) { /* DW_LNE_end_sequence */
				ends = true;
			} else if (what == 2) { /* DW_LNE_set_address */
				now.address = take(b, size - 1 > 8 ? 9 : (unsigned)(size - 1));
				keeps = now.address != 0; /* 0: the linker left it out */
			}
			b->at = from;
			pass_over(b, size);
		} else if (op == 1) { /* DW_LNS_copy */
			emits = true;
		} else if (op == 2) { /* DW_LNS_advance_pc */
			now.address += take_leb(b, false) * unit->op_least;
		} else if (op == 3) { /* DW_LNS_advance_line */
			now.line += take_leb(b, true);
		} else if (op == 4) { /* DW_LNS_set_file */
			now.file = take_leb(b, false);
		} else if (op == 8) { /* DW_LNS_const_add_pc */
			now.address += (uint64_t)((255 - unit->op_base) / unit->line_range) *
				       unit->op_least;
		} else if (op == 9) { /* DW_LNS_fixed_advance_pc */
			now.address += take(b, 2);
		} else {
			for (unsigned i = 0; i < unit->op_length[op]; i++)
				(void)take_leb(b, false);
		}
		if ((emits || ends) && is_open && keeps)
			look_at(search, unit, &last, now.address);
		if (emits) {
			last = now;
			is_open = true;
		}
		if (ends) {
			now = first;
			is_open = keeps = false;
		}
	}
}

/* ---- the section ---- */

/* @room: for the names of a unit. */
static void search_units(struct search *search, const struct code_lines *tables,
			 const struct unit *room)
{
	struct bytes all = { tables->lines, tables->lines + tables->size, false, false };

	while (all.at < all.end && !all.over && !search->is_done) {
		struct bytes b = all;
		struct unit unit = *room;
		uint64_t size = take(&b, 4);

		if (size == UINT32_MAX) {
			b.is_64 = true;
			size = take(&b, 8);
		}
		all.at = b.at;
		pass_over(&all, size);
		b.end = all.at;
		b.over = false;
		if (head_of(&unit, &b, tables))
			run(search, &unit, &b);
	}
}

bool code_line(const struct code_lines *tables, uint64_t address, uint64_t end,
	       struct code_line *found)
{
	struct search search = { .address = address, .end = end, .found = found };
	const struct unit room = {
		.file = malloc(NAMES_MAX * sizeof(*room.file)),
		.directory = malloc(NAMES_MAX * sizeof(*room.directory)),
	};

	if (tables->lines && room.file && room.directory)
		search_units(&search, tables, &room);
	free(room.file);
	free(room.directory);
	return search.has;
}
