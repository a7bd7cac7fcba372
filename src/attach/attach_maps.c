/* SPDX-License-Identifier: Apache-2.0 */
/*
 * See attach_maps.h. Symbols are read from the memory of the process, not from files: the file may
 * be gone, replaced, or another one in the root directory of the process. All numbers there are
 * untrusted: reads outside of mappings fail.
 */
#include "attach/attach_maps.h"

#include <elf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/array.h"
#include "base/text.h"

#define LINE_MAX_BYTES 8192
#define SEGMENTS_MAX 64
#define DYNAMIC_MAX 256
#define NAME_MAX_BYTES 64
#define CHAIN_MAX 100000

bool memory_read(unsigned pid, uint64_t address, void *to, size_t size)
{
	const struct iovec local = { to, size }, remote = { (void *)(uintptr_t)address, size };

	return process_vm_readv((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

bool memory_write(unsigned pid, uint64_t address, const void *from, size_t size)
{
	const struct iovec local = { (void *)(uintptr_t)from, size },
			   remote = { (void *)(uintptr_t)address, size };

	return process_vm_writev((pid_t)pid, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/* ---- mappings ---- */

static enum object_kind kind_of(const char *path)
{
	const char *name = text_base_name(path);

	if (path[0] != '/')
		return OBJECT_NONE;
	if (!strncmp(name, "libc.so.6", 9) || !strncmp(name, "libpthread.so.0", 15) ||
	    !strncmp(name, "libc-2.", 7) || !strncmp(name, "libpthread-2.", 13))
		return OBJECT_LIBC;
	if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5) ||
	    !strncmp(name, "ld.so", 5))
		return OBJECT_LINKER;
	return OBJECT_FILE;
}

static bool add_path(struct maps *maps, const char *path, unsigned *at)
{
	const size_t size = strlen(path) + 1;

	if (maps->count && !strcmp(maps->paths + maps->map[maps->count - 1].path, path)) {
		*at = maps->map[maps->count - 1].path;
		return true;
	}
	if (!ARRAY_FIT(maps->paths, maps->paths_size + size, maps->paths_room))
		return false;
	*at = (unsigned)maps->paths_size;
	memcpy(maps->paths + *at, path, size);
	maps->paths_size += size;
	return true;
}

static bool add_line(struct maps *maps, char *line)
{
	struct attach_map map = { 0 };
	char access[5] = "";
	int path = 0;
	unsigned at = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%lx-%lx %4s %lx %*s %*s %n", &map.from, &map.to, access, &map.offset,
		   &path) < 4)
		return true;
	if (!add_path(maps, path ? line + path : "", &at) ||
	    !ARRAY_ROOM(maps->map, maps->count, maps->room))
		return false;
	map.path = at;
	map.execute = access[2] == 'x';
	map.kind = kind_of(maps->paths + at);
	maps->map[maps->count++] = map;
	return true;
}

int maps_read(struct maps *maps, unsigned pid, struct kymo_err *err)
{
	char path[64], *line = NULL;
	ssize_t length;
	size_t room = 0;
	bool fits = true;
	FILE *file;

	*maps = (struct maps){ .pid = pid };
	(void)snprintf(path, sizeof path, "/proc/%u/maps", pid);
	file = fopen(path, "re");
	if (!file)
		return err_set(err, KYMO_EXIT_INPUT, "cannot look into process %u: %s%s", pid,
			       strerror(errno),
			       errno == EACCES || errno == EPERM
				       ? "; use sudo; in a container, start it with --cap-add "
					 "SYS_PTRACE"
				       : "");
	(void)snprintf(path, sizeof path, "/proc/%u/exe", pid);
	length = readlink(path, maps->program, sizeof maps->program - 1);
	maps->program[length > 0 ? length : 0] = 0;
	while (fits && getline(&line, &room, file) > 0)
		fits = add_line(maps, line);
	free(line);
	(void)fclose(file);
	if (!fits) {
		maps_free(maps);
		return err_no_memory(err);
	}
	return 0;
}

void maps_free(struct maps *maps)
{
	free(maps->map);
	free(maps->paths);
	*maps = (struct maps){ 0 };
}

const struct attach_map *maps_at(const struct maps *maps, uint64_t address)
{
	unsigned from = 0, to = maps->count; /* sorted by address */

	while (from < to) {
		const unsigned middle = (from + to) / 2;

		if (address < maps->map[middle].from)
			to = middle;
		else if (address >= maps->map[middle].to)
			from = middle + 1;
		else
			return &maps->map[middle];
	}
	return NULL;
}

const char *maps_path(const struct maps *maps, const struct attach_map *map)
{
	return maps->paths + map->path;
}

const struct attach_map *maps_object(const struct maps *maps, const char *name)
{
	const size_t length = strlen(name);

	for (unsigned i = 0; i < maps->count; i++) {
		const char *base = text_base_name(maps_path(maps, &maps->map[i]));

		if (!maps->map[i].offset && maps->map[i].kind != OBJECT_NONE &&
		    !strncmp(base, name, length) &&
		    (!base[length] || base[length] == '.' || base[length] == ' '))
			return &maps->map[i];
	}
	return NULL;
}

/* ---- symbols ---- */

struct dynamic {
	uint64_t symbols, texts, hash;
};

static bool read_dynamic(const struct maps *maps, uint64_t base, struct dynamic *found)
{
	Elf64_Ehdr head;
	Elf64_Phdr segment[SEGMENTS_MAX];
	Elf64_Dyn entry[DYNAMIC_MAX];
	uint64_t lowest = UINT64_MAX, at = 0, load;
	unsigned count;

	*found = (struct dynamic){ 0 };
	if (!memory_read(maps->pid, base, &head, sizeof head) ||
	    memcmp(head.e_ident, ELFMAG, SELFMAG) || head.e_ident[EI_CLASS] != ELFCLASS64 ||
	    !head.e_phnum || head.e_phnum > SEGMENTS_MAX || head.e_phentsize != sizeof *segment ||
	    !memory_read(maps->pid, base + head.e_phoff, segment, head.e_phnum * sizeof *segment))
		return false;
	for (unsigned i = 0; i < head.e_phnum; i++) {
		if (segment[i].p_type == PT_LOAD && segment[i].p_vaddr < lowest)
			lowest = segment[i].p_vaddr;
		if (segment[i].p_type == PT_DYNAMIC)
			at = segment[i].p_vaddr;
	}
	if (!at || lowest == UINT64_MAX)
		return false;
	load = base - (lowest & ~4095ull);
	for (count = DYNAMIC_MAX;
	     count && !memory_read(maps->pid, load + at, entry, count * sizeof *entry);)
		count /= 2;
	for (unsigned i = 0; i < count && entry[i].d_tag != DT_NULL; i++) {
		const uint64_t value = entry[i].d_un.d_ptr,
			       address = value < load ? value + load : value;

		if (entry[i].d_tag == DT_SYMTAB)
			found->symbols = address;
		else if (entry[i].d_tag == DT_STRTAB)
			found->texts = address;
		else if (entry[i].d_tag == DT_GNU_HASH)
			found->hash = address;
	}
	return found->symbols && found->texts && found->hash;
}

/* Return: whether symbol number @at is @name. */
static bool is_named(const struct maps *maps, const struct dynamic *dynamic, uint32_t at,
		     const char *name, Elf64_Sym *symbol)
{
	const size_t size = strlen(name) + 1;
	char text[NAME_MAX_BYTES];

	return size <= sizeof text &&
	       memory_read(maps->pid, dynamic->symbols + (uint64_t)at * sizeof *symbol, symbol,
			   sizeof *symbol) &&
	       memory_read(maps->pid, dynamic->texts + symbol->st_name, text, size) &&
	       !memcmp(text, name, size);
}

static bool find(const struct maps *maps, const struct dynamic *dynamic, const char *name,
		 Elf64_Sym *symbol)
{
	uint32_t hash = 5381, head[4], at, link;
	uint64_t buckets;

	for (const char *c = name; *c; c++)
		hash = hash * 33 + (unsigned char)*c;
	if (!memory_read(maps->pid, dynamic->hash, head, sizeof head) || !head[0])
		return false;
	buckets = dynamic->hash + sizeof head + (uint64_t)head[2] * 8;
	if (!memory_read(maps->pid, buckets + (uint64_t)(hash % head[0]) * 4, &at, sizeof at) ||
	    at < head[1])
		return false;
	for (unsigned tries = 0; tries < CHAIN_MAX; tries++, at++) {
		if (!memory_read(maps->pid, buckets + ((uint64_t)head[0] + at - head[1]) * 4, &link,
				 sizeof link))
			return false;
		if ((link | 1) == (hash | 1) && is_named(maps, dynamic, at, name, symbol))
			return true;
		if (link & 1)
			return false;
	}
	return false;
}

uint64_t maps_symbol(const struct maps *maps, const struct attach_map *map, const char *name,
		     uint64_t *size)
{
	struct dynamic dynamic;
	Elf64_Ehdr head;
	Elf64_Sym symbol;

	if (!map || !read_dynamic(maps, map->from, &dynamic) ||
	    !find(maps, &dynamic, name, &symbol) || symbol.st_shndx == SHN_UNDEF ||
	    !memory_read(maps->pid, map->from, &head, sizeof head))
		return 0;
	if (size)
		*size = symbol.st_size;
	return (head.e_type == ET_EXEC ? 0 : map->from) + symbol.st_value;
}

void maps_find_allocators(struct maps *maps)
{
	for (unsigned i = 0; i < maps->count; i++) {
		if (maps->map[i].kind != OBJECT_FILE || maps->map[i].offset ||
		    !maps_symbol(maps, &maps->map[i], "malloc", NULL))
			continue;
		for (unsigned j = 0; j < maps->count; j++)
			if (maps->map[j].path == maps->map[i].path)
				maps->map[j].kind = OBJECT_ALLOCATOR;
	}
}
