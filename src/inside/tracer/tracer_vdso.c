/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The kernel's clock, past everybody who defines a clock_gettime() of his own: with faketime(1),
 * the program lives in another time than the recorder, which would take its events for damaged.
 *
 * The kernel maps a small library into each process, the vDSO. Its function is looked up once, in
 * its table of symbols.
 */
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

#include "inside/tracer/tracer_process.h"

static int (*gettime)(clockid_t, struct timespec *) = clock_gettime;

struct vdso {
	uintptr_t shift; /* added to the addresses in its tables */
	const ElfW(Dyn) * dynamic;
	const ElfW(Sym) * symbols;
	const char *strings;
	const ElfW(Word) * hash;
};

static bool find_segments(struct vdso *vdso, uintptr_t base)
{
	const ElfW(Ehdr) *head = (const ElfW(Ehdr) *)base;
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(base + head->e_phoff);
	bool loaded = false;

	if (memcmp(head->e_ident, ELFMAG, SELFMAG) || head->e_phentsize != sizeof(*segment))
		return false;
	for (unsigned i = 0; i < head->e_phnum; i++, segment++) {
		if (segment->p_type == PT_LOAD && !loaded) {
			loaded = true;
			vdso->shift = base + segment->p_offset - segment->p_vaddr;
		} else if (segment->p_type == PT_DYNAMIC) {
			vdso->dynamic = (const ElfW(Dyn) *)(base + segment->p_offset);
		}
	}
	return loaded && vdso->dynamic;
}

static bool find_tables(struct vdso *vdso)
{
	for (const ElfW(Dyn) *entry = vdso->dynamic; entry->d_tag != DT_NULL; entry++) {
		const uintptr_t at = vdso->shift + entry->d_un.d_ptr;

		if (entry->d_tag == DT_SYMTAB)
			vdso->symbols = (const ElfW(Sym) *)at;
		else if (entry->d_tag == DT_STRTAB)
			vdso->strings = (const char *)at;
		else if (entry->d_tag == DT_HASH)
			vdso->hash = (const ElfW(Word) *)at;
	}
	return vdso->symbols && vdso->strings;
}

/* Newer kernels have no DT_HASH; the strings follow the symbols there. */
static size_t count_symbols(const struct vdso *vdso)
{
	const uintptr_t first = (uintptr_t)vdso->symbols, behind = (uintptr_t)vdso->strings;

	if (vdso->hash)
		return vdso->hash[1];
	return behind > first ? (behind - first) / sizeof(*vdso->symbols) : 0;
}

void kymo_gettime_find(void)
{
	const uintptr_t base = getauxval(AT_SYSINFO_EHDR);
	struct vdso vdso = { 0 };
	size_t count;

	if (!base || !find_segments(&vdso, base) || !find_tables(&vdso))
		return;
	count = count_symbols(&vdso);
	for (size_t i = 0; i < count; i++) {
		const ElfW(Sym) *symbol = &vdso.symbols[i];
		const char *name = vdso.strings + symbol->st_name;

		if (!symbol->st_shndx || (strcmp(name, "__vdso_clock_gettime") &&
					  strcmp(name, "__kernel_clock_gettime")))
			continue;
		gettime = (int (*)(clockid_t, struct timespec *))(vdso.shift + symbol->st_value);
		return;
	}
}

int kymo_gettime(clockid_t clock, struct timespec *now)
{
	return gettime(clock, now);
}
