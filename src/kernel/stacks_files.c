/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which file is where in a process, and the functions of the kernel; see stacks_internal.h.
 *
 * The kernel reports a mapping of executable code: address, file, and offset in the file. The
 * trace needs the address of the lowest byte that the file has in memory, so the file is opened,
 * once, for its segments and its build id.
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "base/elf.h"
#include "kernel/stacks_internal.h"

#define PAGE 4096u
#define PATH_ROOM 4096

struct segment {
	uint64_t offset, size, address; /* in the file; as linked */
};

/* A file, as this machine has it. */
struct stacks_image {
	struct stacks_image *next;
	char *path;
	struct segment code[4];
	unsigned codes;      /* 0: it is not an ELF file, or cannot be read */
	uint64_t base, size; /* as linked: the lowest address, and from there to the highest */
	uint8_t build_id[ELF_BUILD_ID_MAX];
	unsigned build_id_size;
};

/* ---- files ---- */

static void read_segments(struct stacks_image *image, const struct elf *elf)
{
	uint64_t low = UINT64_MAX, high = 0;

	for (unsigned i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segment[i];

		if (segment->p_type != PT_LOAD)
			continue;
		low = segment->p_vaddr < low ? segment->p_vaddr : low;
		if (segment->p_vaddr + segment->p_memsz > high)
			high = segment->p_vaddr + segment->p_memsz;
		if (segment->p_flags & PF_X && image->codes < COUNT_OF(image->code))
			image->code[image->codes++] =
				(struct segment){ segment->p_offset, segment->p_filesz,
						  segment->p_vaddr };
	}
	image->base = low / PAGE * PAGE;
	image->size = high > image->base ? high - image->base : 0;
}

/* The process may have another root directory (a container), or may have ended. */
static int open_image(struct elf *elf, int32_t pid, const char *path)
{
	char through[PATH_ROOM + 32];
	int rc;

	if (*path == '[')
		return elf_open_vdso(elf);
	(void)snprintf(through, sizeof(through), "/proc/%d/root%s", pid, path);
	rc = elf_open(elf, through, NULL);
	return rc ? elf_open(elf, path, NULL) : 0;
}

static struct stacks_image *image_of(struct stacks_files *files, int32_t pid, const char *path)
{
	struct stacks_image *image;
	struct elf elf;

	for (image = files->images; image; image = image->next)
		if (strcmp(image->path, path) == 0)
			return image;
	image = calloc(1, sizeof(*image));
	if (!image)
		return NULL;
	image->path = strdup(path);
	if (!image->path) {
		free(image);
		return NULL;
	}
	image->next = files->images;
	files->images = image;
	if (open_image(&elf, pid, path))
		return image;
	if (elf.readable) {
		read_segments(image, &elf);
		image->build_id_size = elf_build_id(&elf, image->build_id);
	}
	elf_close(&elf);
	return image;
}

/* The address of the file's lowest byte. Return: false: this mapping is not of its code. */
static bool find_base(const struct stacks_image *image, uint64_t address, uint64_t offset,
		      uint64_t *base)
{
	for (unsigned i = 0; i < image->codes; i++) {
		const struct segment *code = &image->code[i];

		if (offset + PAGE <= code->offset || offset >= code->offset + code->size)
			continue;
		*base = address - (code->address + offset - code->offset) + image->base;
		return true;
	}
	return false;
}

static const struct stacks_file *add(struct stacks_files *files, const struct stacks_file *file)
{
	for (unsigned i = 0; i < files->count; i++)
		if (files->file[i].pid == file->pid && files->file[i].base == file->base &&
		    files->file[i].path == file->path)
			return NULL;
	if (!ARRAY_ROOM(files->file, files->count, files->room))
		return NULL;
	files->file[files->count] = *file;
	return &files->file[files->count++];
}

const struct stacks_file *stacks_files_mapped(struct stacks_files *files, int32_t pid,
					      uint64_t address, uint64_t length, uint64_t offset,
					      const char *path)
{
	const bool is_file = *path == '/' && path[1] != '/' && strlen(path) < PATH_ROOM;
	struct stacks_file file = { .pid = pid, .base = address, .size = length };
	struct stacks_image *image;

	/* A 32-bit process has another vDSO, below 4 GiB. */
	if (!is_file && (strcmp(path, "[vdso]") != 0 || address >> 32 == 0))
		return NULL;
	image = image_of(files, pid, path);
	if (!image)
		return NULL;
	file.path = image->path;
	if (find_base(image, address, offset, &file.base))
		file.size = image->size;
	file.has_id = image->build_id_size && image->build_id_size <= sizeof(file.build_id);
	if (file.has_id)
		memcpy(file.build_id, image->build_id, image->build_id_size);
	return add(files, &file);
}

void stacks_files_forget(struct stacks_files *files, int32_t pid)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < files->count; i++)
		if (files->file[i].pid != pid)
			files->file[kept++] = files->file[i];
	files->count = kept;
}

/* ---- the kernel ---- */

static int by_address(const void *a, const void *b)
{
	const struct stacks_symbol *x = a, *y = b;

	return x->address < y->address ? -1 : x->address > y->address;
}

static bool add_symbol(struct stacks_files *files, uint64_t address, const char *name)
{
	const size_t size = strlen(name) + 1;

	if (!ARRAY_ROOM(files->symbol, files->symbols, files->symbol_room) ||
	    !ARRAY_FIT(files->names, files->names_size + size, files->names_room))
		return false;
	files->symbol[files->symbols++] =
		(struct stacks_symbol){ address, (uint32_t)files->names_size, false };
	memcpy(files->names + files->names_size, name, size);
	files->names_size += size;
	return true;
}

/* "ffffffff81000000 T _text"; all addresses are 0 for a user who may not see them. */
static void read_kernel(struct stacks_files *files)
{
	FILE *file = fopen("/proc/kallsyms", "re");
	char line[1024], name[512], type;
	unsigned long long address;

	files->read = true;
	while (file && fgets(line, sizeof(line), file))
		if (sscanf(line, "%llx %c %511s", &address, &type, name) == 3 && address &&
		    strchr("tw", tolower((unsigned char)type)) && !add_symbol(files, address, name))
			break;
	if (file)
		(void)fclose(file);
	if (files->symbols)
		qsort(files->symbol, files->symbols, sizeof(*files->symbol), by_address);
}

struct stacks_symbol *stacks_files_symbol(struct stacks_files *files, uint64_t address,
					  uint64_t *size)
{
	unsigned low = 0, high, middle;

	if (!files->read)
		read_kernel(files);
	high = files->symbols;
	while (low < high) {
		middle = low + (high - low) / 2;
		if (files->symbol[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low || low == files->symbols)
		return NULL;
	*size = files->symbol[low].address - files->symbol[low - 1].address;
	return &files->symbol[low - 1];
}

void stacks_files_free(struct stacks_files *files)
{
	for (struct stacks_image *image = files->images, *next; image; image = next) {
		next = image->next;
		free(image->path);
		free(image);
	}
	free(files->file);
	free(files->symbol);
	free(files->names);
	*files = (struct stacks_files){ 0 };
}
