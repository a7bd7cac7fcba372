/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Names of functions that no library exports; see ros2_static.h.
 *
 * The dynamic loader knows only exported functions. The table of all functions, .symtab, is in the
 * file on disk and is never loaded. So this code asks the loader which file an address belongs to,
 * and looks for the function in that file, a few symbols at a time, without memory of its own. It
 * runs while a program registers a callback whose function is not exported; most callbacks are
 * lambdas or bound methods, whose type has a name.
 *
 * Every number in the file is input: reads that fail end the search.
 */
#include "inside/ros2/ros2_static.h"

#include <fcntl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "inside/tracer/tracer_calm.h"

#define BUILD_ID_MAX KYMO_BUILD_ID_MAX
#define SYMBOLS_MAX (1u << 20)
#define AT_ONCE 32u

/* A loaded file. */
struct file {
	uintptr_t function; /* the address that is looked for */
	uintptr_t address;  /* the same, as linked */
	const char *path;   /* the loader's; valid while the file is loaded */
	uint8_t build_id[BUILD_ID_MAX];
	unsigned build_id_size; /* 0: it has none */
};

static bool read_at(int fd, uint64_t offset, void *to, size_t size)
{
	return offset <= INT64_MAX - size && pread(fd, to, size, (off_t)offset) == (ssize_t)size;
}

/* ---- the build id, in memory and in the file ---- */

static unsigned build_id_in(const uint8_t *notes, size_t size, uint8_t build_id[BUILD_ID_MAX])
{
	for (size_t at = 0; size >= sizeof(ElfW(Nhdr)) && at <= size - sizeof(ElfW(Nhdr));) {
		ElfW(Nhdr) note;
		uint64_t name, text, end;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		end = text + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (end > size)
			break;
		if (note.n_type == NT_GNU_BUILD_ID && note.n_namesz == 4 &&
		    note.n_descsz <= BUILD_ID_MAX && memcmp(notes + name, "GNU", 4) == 0) {
			memcpy(build_id, notes + text, note.n_descsz);
			return note.n_descsz;
		}
		at = end;
	}
	return 0;
}

static int find_file(struct dl_phdr_info *info, size_t size, void *context)
{
	struct file *file = context;
	bool found = false;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum && !found; i++)
		found = info->dlpi_phdr[i].p_type == PT_LOAD &&
			file->function - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
				info->dlpi_phdr[i].p_memsz;
	if (!found)
		return 0;
	file->address = file->function - info->dlpi_addr;
	/* The executable has no name here. */
	file->path = info->dlpi_name && *info->dlpi_name ? info->dlpi_name : "/proc/self/exe";
	for (unsigned i = 0; i < info->dlpi_phnum && !file->build_id_size; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE)
			file->build_id_size = build_id_in(
				(const uint8_t *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr),
				info->dlpi_phdr[i].p_memsz, file->build_id);
	return 1;
}

static bool is_same_file(int fd, const ElfW(Ehdr) * head, const struct file *file)
{
	uint8_t notes[512], build_id[BUILD_ID_MAX];
	ElfW(Phdr) segment;

	for (unsigned i = 0; i < head->e_phnum; i++) {
		size_t size;
		unsigned found;

		if (!read_at(fd, head->e_phoff + i * sizeof(segment), &segment, sizeof(segment)))
			break;
		if (segment.p_type != PT_NOTE)
			continue;
		size = segment.p_filesz < sizeof(notes) ? segment.p_filesz : sizeof(notes);
		found = read_at(fd, segment.p_offset, notes, size)
				? build_id_in(notes, size, build_id)
				: 0;
		if (found)
			return found == file->build_id_size &&
			       memcmp(build_id, file->build_id, found) == 0;
	}
	return !file->build_id_size;
}

/* ---- the symbol table ---- */

static bool find_symbol(int fd, const ElfW(Shdr) * table, uintptr_t address, ElfW(Sym) * found)
{
	uint64_t count = table->sh_size / sizeof(*found);
	ElfW(Sym) symbols[AT_ONCE];

	for (uint64_t i = 0; i < count && i < SYMBOLS_MAX; i += AT_ONCE) {
		unsigned here = count - i < AT_ONCE ? (unsigned)(count - i) : AT_ONCE;

		if (!read_at(fd, table->sh_offset + i * sizeof(*found), symbols,
			     here * sizeof(*found)))
			return false;
		for (unsigned k = 0; k < here; k++) {
			*found = symbols[k];
			/* The types have the same place in both classes. */
			if (ELF64_ST_TYPE(found->st_info) == STT_FUNC &&
			    found->st_shndx != SHN_UNDEF &&
			    address - found->st_value < (found->st_size ? found->st_size : 1))
				return true;
		}
	}
	return false;
}

/* The name of a debug file is its build id; other files are compared. */
static bool name_in(int fd, bool is_debug, const struct file *file, char *name, size_t size)
{
	ElfW(Shdr) table, strings;
	ElfW(Ehdr) head;
	ElfW(Sym) symbol;
	ssize_t got;

	if (!read_at(fd, 0, &head, sizeof(head)) || memcmp(head.e_ident, ELFMAG, SELFMAG) != 0 ||
	    head.e_ident[EI_CLASS] != (sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32) ||
	    head.e_shentsize != sizeof(table) || head.e_phentsize != sizeof(ElfW(Phdr)) ||
	    !(is_debug || is_same_file(fd, &head, file)))
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		if (!read_at(fd, head.e_shoff + i * sizeof(table), &table, sizeof(table)))
			return false;
		if (table.sh_type != SHT_SYMTAB)
			continue;
		if (table.sh_link >= head.e_shnum ||
		    !find_symbol(fd, &table, file->address, &symbol) ||
		    !read_at(fd, head.e_shoff + table.sh_link * sizeof(strings), &strings,
			     sizeof(strings)) ||
		    symbol.st_name >= strings.sh_size ||
		    strings.sh_offset > INT64_MAX - strings.sh_size)
			return false;
		got = pread(fd, name, size - 1, (off_t)(strings.sh_offset + symbol.st_name));
		name[got > 0 ? got : 0] = '\0';
		return *name != '\0';
	}
	return false;
}

static bool name_in_path(const char *path, bool is_debug, const struct file *file, char *name,
			 size_t size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	bool found;

	if (fd < 0)
		return false;
	found = name_in(fd, is_debug, file, name, size);
	(void)close(fd);
	return found;
}

static bool debug_path(const struct file *file, char *path, size_t size)
{
	int used;

	if (file->build_id_size < 2)
		return false;
	used = snprintf(path, size, "/usr/lib/debug/.build-id/%02x/", file->build_id[0]);
	for (unsigned i = 1; i < file->build_id_size; i++)
		used += snprintf(path + used, size - used, "%02x", file->build_id[i]);
	(void)snprintf(path + used, size - used, ".debug");
	return true;
}

bool kymo_static_name(const void *function, char *name, size_t size)
{
	struct file file = { .function = (uintptr_t)function };
	char debug[256];
	struct kymo_calm calm;
	bool found;

	if (!dl_iterate_phdr(find_file, &file))
		return false;
	kymo_calm_begin(&calm);
	found = name_in_path(file.path, false, &file, name, size) ||
		(debug_path(&file, debug, sizeof(debug)) &&
		 name_in_path(debug, true, &file, name, size));
	kymo_calm_end(&calm);
	return found;
}

bool kymo_code_of(const void *code, struct kymo_code *found)
{
	struct file file = { .function = (uintptr_t)code };
	struct kymo_calm calm;
	ssize_t length;

	if (!dl_iterate_phdr(find_file, &file))
		return false;
	kymo_calm_begin(&calm);
	length = *file.path == '/' && strcmp(file.path, "/proc/self/exe") != 0
			 ? snprintf(found->file, sizeof(found->file), "%s", file.path)
			 : readlink("/proc/self/exe", found->file, sizeof(found->file));
	kymo_calm_end(&calm);
	if (*file.path != '/' || length <= 0 || (size_t)length >= sizeof(found->file))
		return false;
	found->file[length] = '\0';
	found->address = file.address;
	*found->build_id = '\0';
	for (unsigned i = 0; i < file.build_id_size; i++)
		(void)snprintf(found->build_id + 2 * (size_t)i, 3, "%02x", file.build_id[i]);
	return true;
}
