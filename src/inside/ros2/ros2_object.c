/* SPDX-License-Identifier: Apache-2.0 */
/* A loaded object; see ros2_object.h. */
#include "inside/ros2/ros2_object.h"

#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

static uintptr_t absolute(const struct kymo_object *object, uintptr_t address)
{
	return address < object->base ? address + object->base : address;
}

static void read_dynamic(struct kymo_object *object, const Elf64_Dyn *dynamic)
{
	for (; dynamic->d_tag != DT_NULL; dynamic++) {
		const uintptr_t at = absolute(object, dynamic->d_un.d_ptr);

		switch (dynamic->d_tag) {
		case DT_SYMTAB:
			object->symbol = (const Elf64_Sym *)at;
			break;
		case DT_STRTAB:
			object->text = (const char *)at;
			break;
		case DT_GNU_HASH:
			object->gnu_hash = (const uint32_t *)at;
			break;
		case DT_RELA:
			object->rela[0] = (const Elf64_Rela *)at;
			break;
		case DT_RELASZ:
			object->relas[0] = dynamic->d_un.d_val / sizeof(Elf64_Rela);
			break;
		case DT_JMPREL:
			object->rela[1] = (const Elf64_Rela *)at;
			break;
		case DT_PLTRELSZ:
			object->relas[1] = dynamic->d_un.d_val / sizeof(Elf64_Rela);
			break;
		default:
			break;
		}
	}
}

bool kymo_object_read(struct kymo_object *object, const struct dl_phdr_info *info)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const Elf64_Dyn *dynamic = NULL;

	*object = (struct kymo_object){ .base = info->dlpi_addr, .from = UINTPTR_MAX };
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const Elf64_Phdr *segment = &info->dlpi_phdr[i];
		const uintptr_t at = info->dlpi_addr + segment->p_vaddr,
				end = at + segment->p_memsz;

		if (segment->p_type == PT_LOAD) {
			object->from = at < object->from ? at : object->from;
			object->to = end > object->to ? end : object->to;
		} else if (segment->p_type == PT_GNU_RELRO) {
			object->locked = at & ~(page - 1);
			object->locked_to = end & ~(page - 1);
		} else if (segment->p_type == PT_DYNAMIC) {
			dynamic = (const Elf64_Dyn *)at;
		}
	}
	if (!dynamic)
		return false;
	read_dynamic(object, dynamic);
	return object->symbol && object->text;
}

uint32_t kymo_object_hash(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

uint32_t kymo_object_find(const struct kymo_object *object, const char *name, uint32_t hash)
{
	const uint32_t *table = object->gnu_hash;
	const uint64_t *bloom;
	const uint32_t *bucket, *chain;
	uint32_t at;

	if (!table || !table[0])
		return 0;
	bloom = (const uint64_t *)(table + 4);
	bucket = (const uint32_t *)(bloom + table[2]);
	chain = bucket + table[0];
	if (!(bloom[hash / 64 % table[2]] >> hash % 64 &
	      bloom[hash / 64 % table[2]] >> (hash >> table[3]) % 64 & 1))
		return 0;
	at = bucket[hash % table[0]];
	if (at < table[1])
		return 0;
	for (;; at++) {
		if ((chain[at - table[1]] | 1) == (hash | 1) &&
		    !strcmp(object->text + object->symbol[at].st_name, name))
			return at;
		if (chain[at - table[1]] & 1)
			return 0;
	}
}

bool kymo_object_is_function(const Elf64_Sym *symbol)
{
	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ||
		ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE);
}

static bool is_locked(const struct kymo_object *object, uintptr_t entry)
{
	return entry >= object->locked && entry < object->locked_to;
}

bool kymo_object_set(const struct kymo_object *object, uintptr_t *entry, uintptr_t value)
{
	const uintptr_t at = object->locked;
	const bool locked = is_locked(object, (uintptr_t)entry);

	if (locked && mprotect((void *)at, object->locked_to - at, PROT_READ | PROT_WRITE))
		return false;
	__atomic_store_n(entry, value, __ATOMIC_RELEASE);
	if (locked)
		(void)mprotect((void *)at, object->locked_to - at, PROT_READ);
	return true;
}

bool kymo_object_is_unbound(const struct kymo_object *object, unsigned type, uintptr_t value)
{
	return type == OBJECT_JUMP_SLOT && value >= object->from && value < object->to;
}
