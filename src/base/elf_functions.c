/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of an ELF file by address, its build id, and the vDSO as a file. See elf.h. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf.h"
#include "base/io.h"

#define PAGE 4096u
#define NOTES_MAX 65536u
#define STUBS_MAX 8u /* sections of them */

/* Return: bytes of the build id in the notes of @segment; 0: none. */
static unsigned read_build_id(const struct elf *elf, const Elf64_Phdr *segment,
			      uint8_t id[ELF_BUILD_ID_MAX])
{
	unsigned found = 0;
	uint64_t size = segment->p_filesz < NOTES_MAX ? segment->p_filesz : NOTES_MAX, at = 0;
	uint8_t *notes = elf_read_array(elf, segment->p_offset, size, 1);
	Elf64_Nhdr note;

	while (notes && at + sizeof(note) <= size) {
		uint64_t name, text;

		memcpy(&note, notes + at, sizeof(note));
		name = at + sizeof(note);
		text = name + ((uint64_t)note.n_namesz + 3) / 4 * 4;
		at = text + ((uint64_t)note.n_descsz + 3) / 4 * 4;
		if (at > size)
			break;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) || note.n_descsz > ELF_BUILD_ID_MAX)
			continue;
		memcpy(id, notes + text, note.n_descsz);
		found = note.n_descsz;
		break;
	}
	free(notes);
	return found;
}

unsigned elf_build_id(const struct elf *elf, uint8_t id[ELF_BUILD_ID_MAX])
{
	unsigned found = 0;

	for (unsigned i = 0; elf->readable && !found && i < elf->segment_count; i++)
		if (elf->segment[i].p_type == PT_NOTE)
			found = read_build_id(elf, &elf->segment[i], id);
	return found;
}

static int by_address(const void *a, const void *b)
{
	const struct elf_function *x = a, *y = b;

	if (x->address != y->address)
		return x->address < y->address ? -1 : 1;
	/* A function with several names always gets the same one. */
	return strcmp(x->name, y->name);
}

/* _init and _fini are where a section begins, without a size. What is behind them has other names
 * or none. */
static bool is_mark(const Elf64_Sym *symbol, const char *name)
{
	return !symbol->st_size && (strcmp(name, "_init") == 0 || strcmp(name, "_fini") == 0);
}

/* Return: false: there is no such table. */
static bool read_table(const struct elf *elf, uint32_t type, struct elf_functions *functions)
{
	Elf64_Shdr section, strings;
	Elf64_Sym *symbols;
	uint64_t count;

	if (!elf_find_section(elf, type, &section, &strings))
		return false;
	count = section.sh_size / sizeof(*symbols);
	if (count > ELF_SYMBOLS_MAX || strings.sh_size > ELF_STRINGS_MAX)
		return false;
	symbols = elf_read_array(elf, section.sh_offset, count, sizeof(*symbols));
	functions->names = elf_read_array(elf, strings.sh_offset, strings.sh_size, 1);
	functions->function = calloc(count + 1, sizeof(*functions->function));
	for (uint64_t i = 0; symbols && functions->names && functions->function && i < count; i++) {
		const Elf64_Sym *symbol = &symbols[i];

		if (symbol->st_shndx == SHN_UNDEF || symbol->st_name >= strings.sh_size ||
		    ELF64_ST_TYPE(symbol->st_info) != STT_FUNC)
			continue;
		if (is_mark(symbol, functions->names + symbol->st_name))
			continue;
		functions->function[functions->count++] = (struct elf_function){
			symbol->st_value, symbol->st_size, functions->names + symbol->st_name };
	}
	free(symbols);
	return functions->count != 0;
}

/* What jumps to functions of other files, in sections such as .plt.sec, has no symbols. */
static void add_stubs(const struct elf *elf, struct elf_functions *functions)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, section;
	struct elf_function *function;
	char name[sizeof(".plt") - 1];

	if (!elf_read_at(elf, 0, &head, sizeof(head)) || head.e_shentsize != sizeof(section) ||
	    !elf_read_at(elf, head.e_shoff + head.e_shstrndx * sizeof(names), &names,
			 sizeof(names)))
		return;
	function = realloc(functions->function, (functions->count + STUBS_MAX) * sizeof(*function));
	if (!function)
		return;
	functions->function = function;
	for (unsigned i = 0, stubs = 0; i < head.e_shnum && stubs < STUBS_MAX; i++) {
		if (!elf_read_at(elf, head.e_shoff + i * sizeof(section), &section,
				 sizeof(section)))
			return;
		if (section.sh_type != SHT_PROGBITS || !(section.sh_flags & SHF_EXECINSTR) ||
		    !section.sh_size ||
		    !elf_read_at(elf, names.sh_offset + section.sh_name, name, sizeof(name)) ||
		    memcmp(name, ".plt", sizeof(name)) != 0)
			continue;
		function[functions->count++] =
			(struct elf_function){ section.sh_addr, section.sh_size, "[plt]" };
		stubs++;
	}
}

static void add_code(struct elf_functions *functions, const Elf64_Phdr *segment)
{
	const uint64_t end = segment->p_vaddr + segment->p_memsz;

	if (!functions->code_end || segment->p_vaddr < functions->code)
		functions->code = segment->p_vaddr;
	if (end > functions->code_end)
		functions->code_end = end;
}

void elf_functions(const struct elf *elf, struct elf_functions *functions)
{
	bool loaded = false;

	*functions = (struct elf_functions){ 0 };
	if (!elf->readable)
		return;
	for (unsigned i = 0; i < elf->segment_count; i++) {
		const Elf64_Phdr *segment = &elf->segment[i];

		if (segment->p_type == PT_LOAD && (!loaded || segment->p_vaddr < functions->base)) {
			functions->base = segment->p_vaddr / PAGE * PAGE;
			loaded = true;
		}
		if (segment->p_type == PT_LOAD && segment->p_flags & PF_X)
			add_code(functions, segment);
	}
	functions->build_id_size = elf_build_id(elf, functions->build_id);
	if (!read_table(elf, SHT_SYMTAB, functions)) {
		free(functions->names);
		free(functions->function);
		functions->names = NULL;
		functions->function = NULL;
		(void)read_table(elf, SHT_DYNSYM, functions);
	}
	add_stubs(elf, functions);
	if (functions->count)
		qsort(functions->function, functions->count, sizeof(*functions->function),
		      by_address);
}

void elf_functions_free(struct elf_functions *functions)
{
	free(functions->function);
	free(functions->names);
	*functions = (struct elf_functions){ 0 };
}

const struct elf_function *elf_function_at(const struct elf_functions *functions, uint64_t address)
{
	uint64_t low = 0, high = functions->count;
	const struct elf_function *found;

	while (low < high) {
		uint64_t middle = low + (high - low) / 2;

		if (functions->function[middle].address <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (!low)
		return NULL;
	found = &functions->function[low - 1];
	while (found > functions->function && found[-1].address == found->address)
		found--;
	return !found->size || address - found->address < found->size ? found : NULL;
}

/* Return: its bytes; NULL: there is none, or there is one that is, or is not, compressed. */
static void *read_section(const struct elf *elf, const char *wanted, bool compressed,
			  uint64_t *size)
{
	Elf64_Ehdr head;
	Elf64_Shdr names, section;
	char name[32];
	void *bytes;

	*size = 0;
	if (!elf->readable || !elf_read_at(elf, 0, &head, sizeof(head)) ||
	    head.e_shentsize != sizeof(section) || head.e_shstrndx >= head.e_shnum ||
	    !elf_read_at(elf, head.e_shoff + head.e_shstrndx * sizeof(names), &names,
			 sizeof(names)))
		return NULL;
	for (unsigned i = 0; i < head.e_shnum; i++) {
		if (!elf_read_at(elf, head.e_shoff + i * sizeof(section), &section,
				 sizeof(section)))
			return NULL;
		if (section.sh_type != SHT_PROGBITS ||
		    !(section.sh_flags & SHF_COMPRESSED) == compressed ||
		    section.sh_size > ELF_SECTION_MAX ||
		    !elf_read_at(elf, names.sh_offset + section.sh_name, name,
				 strlen(wanted) + 1) ||
		    memcmp(name, wanted, strlen(wanted) + 1) != 0)
			continue;
		bytes = elf_read_array(elf, section.sh_offset, section.sh_size, 1);
		*size = bytes ? section.sh_size : 0;
		return bytes;
	}
	return NULL;
}

void *elf_section_named(const struct elf *elf, const char *wanted, uint64_t *size)
{
	return read_section(elf, wanted, false, size);
}

void *elf_section_compressed(const struct elf *elf, const char *wanted, uint64_t *size)
{
	return read_section(elf, wanted, true, size);
}

/* ---- the vDSO ---- */

/* The kernel maps the whole file, which ends with the table of sections or the last segment. */
static size_t image_size(const Elf64_Ehdr *head)
{
	const Elf64_Phdr *segment = (const void *)((const char *)head + head->e_phoff);
	size_t size = head->e_shoff + (size_t)head->e_shnum * head->e_shentsize;

	for (unsigned i = 0; i < head->e_phnum; i++)
		if (segment[i].p_offset + segment[i].p_filesz > size)
			size = segment[i].p_offset + segment[i].p_filesz;
	return size;
}

int elf_open_vdso(struct elf *elf)
{
	const Elf64_Ehdr *head = (const void *)getauxval(AT_SYSINFO_EHDR);
	char path[32];
	int fd, rc = -1;

	if (!head || memcmp(head->e_ident, ELFMAG, SELFMAG) ||
	    head->e_ident[EI_CLASS] != ELFCLASS64)
		return -1;
	fd = memfd_create("vdso", MFD_CLOEXEC);
	if (fd < 0)
		return -1;
	(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!write_all(fd, head, image_size(head)) && !elf_open(elf, path, NULL))
		rc = 0;
	(void)close(fd);
	return rc;
}

bool elf_has_section(const struct elf *elf, const char *name)
{
	Elf64_Ehdr head;
	Elf64_Shdr *sections, *names;
	char *text;
	bool found = false;

	if (!elf_read_at(elf, 0, &head, sizeof head) || head.e_shentsize != sizeof *sections)
		return false;
	sections = elf_read_array(elf, head.e_shoff, head.e_shnum, sizeof *sections);
	if (!sections)
		return false;
	names = &sections[head.e_shstrndx < head.e_shnum ? head.e_shstrndx : 0];
	text = names->sh_size <= ELF_STRINGS_MAX
		       ? elf_read_array(elf, names->sh_offset, names->sh_size, 1)
		       : NULL;
	for (unsigned i = 0; text && !found && i < head.e_shnum; i++)
		found = sections[i].sh_name < names->sh_size &&
			strcmp(text + sections[i].sh_name, name) == 0;
	free(text);
	free(sections);
	return found;
}
