/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Facts of an executable or shared library, without running it: the loader it names, the libraries
 * it needs, the functions it defines and uses. Reads 64-bit files of this machine's byte order; of
 * other files only bits, machine and type. Every number in the file is input, and checked.
 *
 * Context of all functions, unless they say more: any thread, as nothing changes after elf_open();
 * neither allocate nor block.
 */
#ifndef KYMO_BASE_ELF_H
#define KYMO_BASE_ELF_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define ELF_SEGMENTS_MAX 64
#define ELF_STRINGS_MAX (64u << 20)	/* bytes of names; C++ libraries have some MiB */
#define ELF_SYMBOLS_MAX (4u << 20)
#define ELF_DYNAMIC_MAX 4096u
#define ELF_SECTION_MAX (256u << 20)	/* bytes of a section that is read whole */
#define ELF_BUILD_ID_MAX 64u

struct elf {
	int fd;
	uint64_t size;
	unsigned bits, machine, type;	/* 32 or 64; EM_*; ET_* */
	bool readable;			/* 64-bit, of our byte order: what follows is filled */
	bool dynamic;			/* has a dynamic section */
	char interpreter[256];		/* the path of its loader, or "" */
	unsigned segment_count;
	Elf64_Phdr segment[ELF_SEGMENTS_MAX];
	unsigned dyn_count;
	Elf64_Dyn *dyn;
	uint64_t string_size;
	char *strings;			/* ends with NUL */
	uint64_t symbol_count;
	Elf64_Sym *symbols;		/* dynamic symbols */
};

/**
 * elf_open() - read the head, the segments, the dynamic section and its symbols
 *
 * If a file is damaged behind its head, the parts that can be read are filled; counts are small or
 * 0.
 * Return: 0; 1 when it is not an ELF file; -1 with @err when it cannot be read.
 * Context: allocates, blocks.
 */
int elf_open(struct elf *elf, const char *path, struct kymo_err *err);

/**
 * elf_open_vdso() - the vDSO that the running kernel maps into 64-bit processes, as elf_open()
 *
 * Return: 0; -1: this process has none, or it cannot be copied. Context: allocates, blocks.
 */
int elf_open_vdso(struct elf *elf);

void elf_close(struct elf *elf);

/** elf_name() - the string at @offset of the dynamic strings, or "". */
const char *elf_name(const struct elf *elf, uint64_t offset);

/**
 * elf_dynamic() - the text of the @nth dynamic entry with @tag: DT_NEEDED, DT_SONAME, DT_RPATH,
 * DT_RUNPATH. Return: NULL when there are fewer.
 */
const char *elf_dynamic(const struct elf *elf, int64_t tag, unsigned nth);

/** elf_symbol() - the dynamic symbol @name that the file defines, or NULL. */
const Elf64_Sym *elf_symbol(const struct elf *elf, const char *name);

/** elf_uses() - the number of undefined dynamic symbols that begin with @prefix. */
unsigned elf_uses(const struct elf *elf, const char *prefix);

/** elf_defines() - whether the file defines a function whose name begins with @prefix, also a local
 * one. Context: allocates, blocks. */
bool elf_defines(const struct elf *elf, const char *prefix);

/**
 * elf_build_id() - its build id. Return: bytes in @id; 0: it has none. Context: allocates, blocks.
 */
unsigned elf_build_id(const struct elf *elf, uint8_t id[ELF_BUILD_ID_MAX]);

/* The functions of a file by address, from its symbol table; if it is stripped, from its dynamic
 * symbols. The stubs that jump to functions of other files are "[plt]". */
struct elf_function {
	uint64_t address, size;		/* as linked; size 0: unknown */
	const char *name;
};

struct elf_functions {
	struct elf_function *function;	/* by address */
	uint64_t count;
	uint64_t base; /* the lowest address that is loaded, rounded down to a page */
	uint64_t code, code_end;	/* as linked: all of its code lies between */
	char *names;
	uint8_t build_id[ELF_BUILD_ID_MAX];
	unsigned build_id_size;		/* 0: it has none */
};

/**
 * elf_functions() - read the functions that @elf defines, and its build id
 *
 * What cannot be read is left out. Context: allocates, blocks.
 */
void elf_functions(const struct elf *elf, struct elf_functions *functions);
void elf_functions_free(struct elf_functions *functions);

/** elf_function_at() - the function that contains @address, or NULL. */
const struct elf_function *elf_function_at(const struct elf_functions *functions, uint64_t address);

/**
 * elf_pointed_text() - the string to which the relocated pointer at @address will point
 * @address: as linked
 * @out: [@size], at least 1; a longer string is cut
 *
 * Context: reads the file.
 * Return: true; false: nothing is relocated there, or it does not point to a string.
 */
bool elf_pointed_text(const struct elf *elf, uint64_t address, char *out, size_t size);

/*
 * Bytes of the file, with its size checked: for elf_functions.c. elf_read_array() has @count
 * elements of @size bytes with a zeroed one behind them. elf_find_section() finds the first section
 * of @type, and the section of its strings.
 * Return: false or NULL: the file does not have them, or there is no memory.
 */
bool elf_read_at(const struct elf *elf, uint64_t offset, void *to, uint64_t size);
void *elf_read_array(const struct elf *elf, uint64_t offset, uint64_t count, size_t size);
bool elf_find_section(const struct elf *elf, uint32_t type, Elf64_Shdr *section,
		      Elf64_Shdr *strings);

/** elf_has_section() - has the file a section of this name? A file without section headers has
 * none. Context: allocates, blocks. */
bool elf_has_section(const struct elf *elf, const char *name);

/**
 * elf_section_named() - the bytes of the section @wanted, such as ".debug_line", with a zero behind
 *
 * Context: allocates, blocks. Return: to be freed; NULL, with @size 0: the file has none, or it is
 * compressed: elf_section_compressed().
 */
void *elf_section_named(const struct elf *elf, const char *wanted, uint64_t *size);

/** elf_section_compressed() - the same of a compressed section: an Elf64_Chdr, and what it says. */
void *elf_section_compressed(const struct elf *elf, const char *wanted, uint64_t *size);

/** elf_machine_name() - "x86-64", "aarch64", ... or "machine 123". */
const char *elf_machine_name(unsigned machine, char out[32]);

#endif
