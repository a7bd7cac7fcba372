/* SPDX-License-Identifier: Apache-2.0 */
/* A small ELF reader, see elf.h. All reads go through elf_read_at(), which checks them against the
 * file's size. */
#include "base/array.h"
#include "base/elf.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define OUR_DATA ELFDATA2LSB
#else
#define OUR_DATA ELFDATA2MSB
#endif

bool elf_read_at(const struct elf *elf, uint64_t offset, void *to, uint64_t size)
{
	uint8_t *at = to;

	if (offset > elf->size || size > elf->size - offset)
		return false;
	while (size) {
		ssize_t got = pread(elf->fd, at, size, (off_t)offset);

		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;	/* it shrank meanwhile */
		at += got;
		offset += (uint64_t)got;
		size -= (uint64_t)got;
	}
	return true;
}

void *elf_read_array(const struct elf *elf, uint64_t offset, uint64_t count, size_t size)
{
	void *array;

	if (offset > elf->size || count > (elf->size - offset) / size)
		return NULL;
	array = calloc(count + 1, size);
	if (array && !elf_read_at(elf, offset, array, count * size)) {
		free(array);
		return NULL;
	}
	return array;
}

/* The offset of @address in the file, and how many bytes of its segment follow. */
static bool file_offset(const struct elf *elf, uint64_t address, uint64_t *offset, uint64_t *room)
{
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segment[i];
		uint64_t into = address - segment->p_vaddr;

		if (segment->p_type != PT_LOAD || address < segment->p_vaddr ||
		    into >= segment->p_filesz || segment->p_offset > elf->size ||
		    into >= elf->size - segment->p_offset)
			continue;
		*offset = segment->p_offset + into;
		*room = segment->p_filesz - into;
		if (*room > elf->size - *offset)
			*room = elf->size - *offset;
		return true;
	}
	return false;
}

static uint64_t dynamic_value(const struct elf *elf, int64_t tag)
{
	for (unsigned i = 0; i < elf->dyn_count; i++) {
		if (elf->dyn[i].d_tag == tag)
			return elf->dyn[i].d_un.d_val;
	}
	return 0;
}

/*
 * The number of dynamic symbols, which a dynamic section does not contain. A DT_HASH table has one
 * chain entry per symbol. In a DT_GNU_HASH table, the symbol with the highest number is the end of
 * the chain of the highest bucket.
 */
static uint64_t count_by_hash(const struct elf *elf)
{
	uint64_t offset, room, address = dynamic_value(elf, DT_HASH);
	uint32_t head[4], highest = 0, link;

	if (address && file_offset(elf, address, &offset, &room) &&
	    elf_read_at(elf, offset, head, 8))
		return head[1];
	address = dynamic_value(elf, DT_GNU_HASH);
	if (!address || !file_offset(elf, address, &offset, &room) ||
	    !elf_read_at(elf, offset, head, 16) || head[0] > ELF_SYMBOLS_MAX)
		return 0;
	offset += 16 + 8 * (uint64_t)head[2];	/* the bloom filter */
	for (uint32_t i = 0; i < head[0]; i++, offset += 4) {
		uint32_t bucket;

		if (!elf_read_at(elf, offset, &bucket, 4))
			return 0;
		if (bucket > highest)
			highest = bucket;
	}
	if (highest < head[1])
		return head[1];		/* nothing is defined: the table has none of the symbols */
	do {
		if (!elf_read_at(elf, offset + 4 * (uint64_t)(highest - head[1]), &link, 4))
			return 0;
	} while (highest++ < ELF_SYMBOLS_MAX && !(link & 1));
	return highest;
}

/* Most files have section headers, but no file needs them. */
bool elf_find_section(const struct elf *elf, uint32_t type, Elf64_Shdr *section,
			 Elf64_Shdr *strings)
{
	Elf64_Ehdr head;

	if (!elf_read_at(elf, 0, &head, sizeof head) || head.e_shentsize != sizeof *section)
		return false;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		if (!elf_read_at(elf, head.e_shoff + i * sizeof *section, section, sizeof *section))
			return false;
		if (section->sh_type != type)
			continue;
		return section->sh_link < head.e_shnum &&
		       elf_read_at(elf, head.e_shoff + section->sh_link * sizeof *strings, strings,
			       sizeof *strings);
	}
	return false;
}

static void read_dynamic(struct elf *elf, const Elf64_Phdr *segment)
{
	uint64_t count = segment->p_filesz / sizeof *elf->dyn, offset, room;
	Elf64_Shdr section, strings;

	elf->dynamic = true;
	if (count > ELF_DYNAMIC_MAX)
		count = ELF_DYNAMIC_MAX;
	elf->dyn = elf_read_array(elf, segment->p_offset, count, sizeof *elf->dyn);
	if (!elf->dyn)
		return;
	while (elf->dyn_count < count && elf->dyn[elf->dyn_count].d_tag != DT_NULL)
		elf->dyn_count++;

	elf->string_size = dynamic_value(elf, DT_STRSZ);
	if (elf->string_size > ELF_STRINGS_MAX)
		elf->string_size = ELF_STRINGS_MAX;
	if (file_offset(elf, dynamic_value(elf, DT_STRTAB), &offset, &room) &&
	    room >= elf->string_size)
		elf->strings = elf_read_array(elf, offset, elf->string_size, 1);
	if (!elf->strings)
		elf->string_size = 0;

	if (!file_offset(elf, dynamic_value(elf, DT_SYMTAB), &offset, &room))
		return;
	elf->symbol_count = elf_find_section(elf, SHT_DYNSYM, &section, &strings) ?
		section.sh_size / sizeof *elf->symbols : count_by_hash(elf);
	if (elf->symbol_count > ELF_SYMBOLS_MAX)
		elf->symbol_count = ELF_SYMBOLS_MAX;
	if (elf->symbol_count > room / sizeof *elf->symbols)
		elf->symbol_count = room / sizeof *elf->symbols;
	elf->symbols = elf_read_array(elf, offset, elf->symbol_count, sizeof *elf->symbols);
	if (!elf->symbols)
		elf->symbol_count = 0;
}

static void read_segments(struct elf *elf, const Elf64_Ehdr *head)
{
	if (head->e_phentsize != sizeof *elf->segment)
		return;
	for (unsigned i = 0; i < head->e_phnum && i < ELF_SEGMENTS_MAX; i++) {
		Elf64_Phdr *segment = &elf->segment[i];

		if (!elf_read_at(elf, head->e_phoff + i * sizeof *segment, segment,
				 sizeof *segment))
			break;
		elf->segment_count++;
		if (segment->p_type == PT_INTERP && segment->p_filesz < sizeof elf->interpreter)
			(void)elf_read_at(elf, segment->p_offset, elf->interpreter,
				      segment->p_filesz);
	}
	for (unsigned i = 0; i < elf->segment_count; i++) {
		if (elf->segment[i].p_type == PT_DYNAMIC && !elf->dynamic)
			read_dynamic(elf, &elf->segment[i]);
	}
}

int elf_open(struct elf *elf, const char *path, struct kymo_err *err)
{
	struct elf result = { .fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK) };
	Elf64_Ehdr head;
	struct stat status;

	if (result.fd < 0 || fstat(result.fd, &status)) {
		err_set(err, KYMO_EXIT_INPUT, "cannot read %s: %s", path, strerror(errno));
		elf_close(&result);
		return -1;
	}
	result.size = S_ISREG(status.st_mode) && status.st_size > 0 ? (uint64_t)status.st_size : 0;
	/* e_type and e_machine have the same place in both classes. */
	if (!elf_read_at(&result, 0, &head, 20) || memcmp(head.e_ident, ELFMAG, SELFMAG)) {
		elf_close(&result);
		return 1;
	}
	result.bits = head.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
	result.readable = head.e_ident[EI_DATA] == OUR_DATA && result.bits == 64 &&
			  elf_read_at(&result, 0, &head, sizeof head);
	result.machine = head.e_ident[EI_DATA] == OUR_DATA ? head.e_machine :
							     __builtin_bswap16(head.e_machine);
	result.type = head.e_type;
	if (result.readable)
		read_segments(&result, &head);
	*elf = result;
	return 0;
}

void elf_close(struct elf *elf)
{
	if (elf->fd >= 0)
		(void)close(elf->fd);
	free(elf->dyn);
	free(elf->strings);
	free(elf->symbols);
	*elf = (struct elf){ .fd = -1 };
}

const char *elf_name(const struct elf *elf, uint64_t offset)
{
	return offset < elf->string_size ? elf->strings + offset : "";
}

const char *elf_dynamic(const struct elf *elf, int64_t tag, unsigned nth)
{
	for (unsigned i = 0; i < elf->dyn_count; i++) {
		if (elf->dyn[i].d_tag == tag && !nth--)
			return elf_name(elf, elf->dyn[i].d_un.d_val);
	}
	return NULL;
}

const Elf64_Sym *elf_symbol(const struct elf *elf, const char *name)
{
	for (uint64_t i = 0; i < elf->symbol_count; i++) {
		if (elf->symbols[i].st_shndx != SHN_UNDEF &&
		    !strcmp(elf_name(elf, elf->symbols[i].st_name), name))
			return &elf->symbols[i];
	}
	return NULL;
}

unsigned elf_uses(const struct elf *elf, const char *prefix)
{
	size_t length = strlen(prefix);
	unsigned count = 0;

	for (uint64_t i = 0; i < elf->symbol_count; i++)
		count += elf->symbols[i].st_shndx == SHN_UNDEF &&
			 !strncmp(elf_name(elf, elf->symbols[i].st_name), prefix, length);
	return count;
}

bool elf_defines(const struct elf *elf, const char *prefix)
{
	struct elf_functions functions;
	size_t length = strlen(prefix);
	bool found = false;

	for (uint64_t i = 0; i < elf->symbol_count && !found; i++)
		found = elf->symbols[i].st_shndx != SHN_UNDEF &&
			!strncmp(elf_name(elf, elf->symbols[i].st_name), prefix, length);
	if (found)
		return true;
	elf_functions(elf, &functions);
	for (uint64_t i = 0; i < functions.count && !found; i++)
		found = !strncmp(functions.function[i].name, prefix, length) &&
			!strchr(functions.function[i].name,
				'$'); /* mold names jumps elsewhere function$plt */
	elf_functions_free(&functions);
	return found;
}

bool elf_pointed_text(const struct elf *elf, uint64_t address, char *out, size_t size)
{
	uint64_t offset, room, count = dynamic_value(elf, DT_RELASZ) / sizeof(Elf64_Rela);
	Elf64_Rela rela;

	if (!file_offset(elf, dynamic_value(elf, DT_RELA), &offset, &room))
		return false;
	if (count > room / sizeof rela)
		count = room / sizeof rela;
	for (uint64_t i = 0; i < count; i++) {
		if (!elf_read_at(elf, offset + i * sizeof rela, &rela, sizeof rela))
			return false;
		if (rela.r_offset != address)
			continue;
		/* A relative relocation: the addend is the string's own address. */
		if (ELF64_R_SYM(rela.r_info) ||
		    !file_offset(elf, (uint64_t)rela.r_addend, &offset, &room))
			return false;
		if (room > size - 1)
			room = size - 1;
		memset(out, 0, size);
		return elf_read_at(elf, offset, out, room);
	}
	return false;
}

const char *elf_machine_name(unsigned machine, char out[32])
{
	static const struct {
		unsigned machine;
		const char *name;
	} names[] = {
		{ EM_X86_64, "x86-64" }, { EM_AARCH64, "aarch64" }, { EM_386, "i386" },
		{ EM_ARM, "arm" }, { EM_RISCV, "riscv" }, { EM_PPC64, "ppc64" },
	};

	for (size_t i = 0; i < COUNT_OF(names); i++) {
		if (names[i].machine == machine)
			return names[i].name;
	}
	(void)snprintf(out, 32, "machine %u", machine);
	return out;
}
