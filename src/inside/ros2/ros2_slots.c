/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Leads calls to kymo in a process that was started without it.
 *
 * An object calls a function of another object through an entry of its global offset table. The
 * dynamic linker fills the entries when it loads the object (bound), or leaves them pointing into
 * the object itself until the first call (not bound yet):
 *
 *     rclcpp.so   call ros_trace_callback_start@plt ──▶ entry
 *                   ├──▶ libtracetools.so   ros_trace_callback_start()
 *                   └╌╌▶ libkymo-ros2.so    ros_trace_callback_start()
 *
 * With a preloaded library, the linker itself finds kymo's functions first. Here the same is done
 * afterwards, in two passes over all objects. The first finds, for each function that
 * libkymo-ros2.so exports, the object that defines it: the first one in the order in which they
 * were loaded, as the linker does. The second goes through the relocations of all objects, and
 * changes each entry for such a symbol that leads to that definition, or is not bound yet. Entries
 * that lead elsewhere are left alone: a program's own function of this name, and the address that a
 * program which is not position-independent has for a function.
 *
 * Entries below PT_GNU_RELRO are read-only. Their pages are writable during the change only.
 */
#include "inside/ros2/ros2_slots.h"

#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "inside/ros2/ros2_late.h"

#if defined(__x86_64__)
#define JUMP_SLOT R_X86_64_JUMP_SLOT
#define GLOB_DAT R_X86_64_GLOB_DAT
#define ABSOLUTE R_X86_64_64
#elif defined(__aarch64__)
#define JUMP_SLOT R_AARCH64_JUMP_SLOT
#define GLOB_DAT R_AARCH64_GLOB_DAT
#define ABSOLUTE R_AARCH64_ABS64
#else
#error "kymo attach knows x86-64 and aarch64"
#endif

#define HOOKS_MAX 512u

/* A function that libkymo-ros2.so exports, and the function that the objects called before. */
static struct hook {
	const char *name;
	uint32_t hash;
	uint32_t symbol;          /* its number in our own symbol table; 0: not exported */
	uintptr_t ours, original; /* original 0: nobody defines it */
	uintptr_t *next;          /* of a late hook; NULL: kymo's hook finds the function itself */
} hook[HOOKS_MAX];
static unsigned hooks;

/* A loaded object, as its program headers and its dynamic section describe it. */
struct object {
	uintptr_t base, from, to;    /* its segments are in [from, to) */
	uintptr_t locked, locked_to; /* the pages of PT_GNU_RELRO */
	const Elf64_Sym *symbol;
	const char *text;
	const uint32_t *gnu_hash;
	const Elf64_Rela *rela[2];
	size_t relas[2];
};

static struct object self;

static uintptr_t absolute(const struct object *object, uintptr_t address)
{
	return address < object->base ? address + object->base : address;
}

static void read_dynamic(struct object *object, const Elf64_Dyn *dynamic)
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

/* Return: false: not an object with symbols. */
static bool read_object(struct object *object, const struct dl_phdr_info *info)
{
	const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
	const Elf64_Dyn *dynamic = NULL;

	*object = (struct object){ .base = info->dlpi_addr, .from = UINTPTR_MAX };
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

static uint32_t hash_of(const char *name)
{
	uint32_t hash = 5381;

	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* The number of the symbol @name in @object, whether defined or not; 0: none in its hash table. */
static uint32_t find_symbol(const struct object *object, const char *name, uint32_t hash)
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

static bool is_function(const Elf64_Sym *symbol)
{
	return symbol->st_shndx != SHN_UNDEF && symbol->st_value &&
	       (ELF64_ST_TYPE(symbol->st_info) == STT_FUNC ||
		ELF64_ST_TYPE(symbol->st_info) == STT_NOTYPE);
}

/* ---- our own functions ---- */

/* All symbols of our hash table: those from table[1] on, as far as the last chain reaches. */
static void read_hooks(void)
{
	const uint32_t *table = self.gnu_hash, *bucket, *chain;
	uint32_t last = 0;

	if (!table)
		return;
	bucket = (const uint32_t *)((const uint64_t *)(table + 4) + table[2]);
	chain = bucket + table[0];
	for (uint32_t i = 0; i < table[0]; i++)
		last = bucket[i] > last ? bucket[i] : last;
	if (last < table[1])
		return;
	while (!(chain[last - table[1]] & 1))
		last++;
	for (uint32_t at = table[1]; at <= last && hooks < HOOKS_MAX; at++) {
		const char *name = self.text + self.symbol[at].st_name;

		if (!is_function(&self.symbol[at]) || !strncmp(name, "kymo_", 5))
			continue;
		hook[hooks++] = (struct hook){ name, hash_of(name), at,
					       self.base + self.symbol[at].st_value, 0, NULL };
	}
}

static struct hook *hook_named(const char *name)
{
	const uint32_t hash = hash_of(name), at = find_symbol(&self, name, hash);

	for (unsigned i = 0; i < hooks; i++)
		if (at ? hook[i].symbol == at :
			 !hook[i].symbol && hook[i].hash == hash && !strcmp(hook[i].name, name))
			return &hook[i];
	return NULL;
}

/* A late hook comes before the exported hook of that name, if there is one. */
static void add_late_hooks(void)
{
	for (unsigned i = 0; i < kymo_late_hooks && hooks < HOOKS_MAX; i++) {
		const struct kymo_late_hook *late = &kymo_late_hook[i];
		struct hook *exported = hook_named(late->name);

		if (exported) {
			__atomic_store_n(late->next, exported->ours, __ATOMIC_RELEASE);
			exported->ours = (uintptr_t)late->ours;
		} else {
			hook[hooks++] = (struct hook){ late->name, hash_of(late->name), 0,
						       (uintptr_t)late->ours, 0, late->next };
		}
	}
}

static int find_self(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object object;

	(void)size;
	(void)unused;
	if (!read_object(&object, info) || (uintptr_t)find_self < object.from ||
	    (uintptr_t)find_self >= object.to)
		return 0;
	self = object;
	return 1;
}

/* ---- the first pass: who defines the functions ---- */

static int find_originals(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct object object;

	(void)size;
	(void)unused;
	if (!read_object(&object, info) || object.from == self.from)
		return 0;
	for (unsigned i = 0; i < hooks; i++) {
		const uint32_t at =
			hook[i].original ? 0 : find_symbol(&object, hook[i].name, hook[i].hash);

		if (!at || !is_function(&object.symbol[at]))
			continue;
		if (hook[i].next)
			__atomic_store_n(hook[i].next, object.base + object.symbol[at].st_value,
					 __ATOMIC_RELEASE);
		__atomic_store_n(&hook[i].original, object.base + object.symbol[at].st_value,
				 __ATOMIC_RELEASE);
	}
	return 0;
}

/* ---- the second pass: the entries ---- */

struct pass {
	struct kymo_slots *slots;
	bool on;
};

static bool is_locked(const struct object *object, uintptr_t entry)
{
	return entry >= object->locked && entry < object->locked_to;
}

/* Return: false: the page cannot be made writable. */
static bool set(const struct object *object, uintptr_t *entry, uintptr_t value)
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

/* The entry points into its own object, where the code is that asks the linker. */
static bool is_unbound(const struct object *object, unsigned type, uintptr_t value)
{
	return type == JUMP_SLOT && value >= object->from && value < object->to;
}

static void change(const struct pass *pass, const struct object *object, const Elf64_Rela *rela,
		   const struct hook *its)
{
	uintptr_t *entry = (uintptr_t *)(object->base + rela->r_offset);
	const uintptr_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	const bool ours = value == its->ours;

	if (!value || !its->original || rela->r_addend)
		return;
	if (!ours && value != its->original &&
	    !is_unbound(object, ELF64_R_TYPE(rela->r_info), value)) {
		pass->slots->elsewhere++;
		return;
	}
	if (ours != pass->on) {
		if (!set(object, entry, pass->on ? its->ours : its->original))
			return;
		pass->slots->changed++;
	} else if (!pass->on) {
		return;
	}
	pass->slots->entries++;
	pass->slots->tracepoints += !strncmp(its->name, "ros_trace_", strlen("ros_trace_"));
}

static int change_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct pass *pass = context;
	const uint32_t before = pass->slots->entries;
	struct object object;

	(void)size;
	pass->slots->generation = info->dlpi_adds;
	if (!read_object(&object, info) || object.from == self.from)
		return 0;
	for (unsigned list = 0; list < 2; list++)
		for (size_t i = 0; object.rela[list] && i < object.relas[list]; i++) {
			const Elf64_Rela *rela = &object.rela[list][i];
			const unsigned type = ELF64_R_TYPE(rela->r_info);
			const Elf64_Sym *symbol = &object.symbol[ELF64_R_SYM(rela->r_info)];
			const struct hook *its;

			if (type != JUMP_SLOT && type != GLOB_DAT && type != ABSOLUTE)
				continue;
			its = hook_named(object.text + symbol->st_name);
			if (its)
				change(pass, &object, rela, its);
		}
	pass->slots->objects += pass->slots->entries > before;
	return 0;
}

void kymo_slots_change(bool on, struct kymo_slots *slots)
{
	struct pass pass = { slots, on };

	*slots = (struct kymo_slots){ 0 };
	if (!hooks) {
		(void)dl_iterate_phdr(find_self, NULL);
		read_hooks();
		add_late_hooks();
	}
	if (on)
		(void)dl_iterate_phdr(find_originals, NULL);
	(void)dl_iterate_phdr(change_object, &pass);
}

/* ---- one function of one object ---- */

struct lead {
	uintptr_t within, from, to;
	const char *name;
	unsigned changed;
};

static void lead_entry(struct lead *lead, const struct object *object, const Elf64_Rela *rela)
{
	const unsigned type = ELF64_R_TYPE(rela->r_info);
	const Elf64_Sym *symbol = &object->symbol[ELF64_R_SYM(rela->r_info)];
	uintptr_t *entry = (uintptr_t *)(object->base + rela->r_offset);
	uintptr_t value;

	if ((type != JUMP_SLOT && type != GLOB_DAT) || rela->r_addend ||
	    strcmp(object->text + symbol->st_name, lead->name) != 0)
		return;
	value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	if (value == lead->from || is_unbound(object, type, value))
		lead->changed += set(object, entry, lead->to);
}

static int lead_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct lead *lead = context;
	struct object object;

	(void)size;
	if (!read_object(&object, info) || lead->within < object.from || lead->within >= object.to)
		return 0;
	for (unsigned list = 0; list < 2; list++)
		for (size_t i = 0; object.rela[list] && i < object.relas[list]; i++)
			lead_entry(lead, &object, &object.rela[list][i]);
	return 1;
}

unsigned kymo_slots_lead(const void *within, const char *name, const void *from, const void *to)
{
	struct lead lead = { (uintptr_t)within, (uintptr_t)from, (uintptr_t)to, name, 0 };

	(void)dl_iterate_phdr(lead_object, &lead);
	return lead.changed;
}

/* ---- afterwards ---- */

void *kymo_slots_original(const char *name)
{
	const struct hook *its = hooks ? hook_named(name) : NULL;

	return its ? (void *)__atomic_load_n(&its->original, __ATOMIC_ACQUIRE) : NULL;
}

void kymo_slots_each_original(void (*visit)(const void *original))
{
	for (unsigned i = 0; i < hooks; i++)
		if (hook[i].original)
			visit((const void *)hook[i].original);
}

/* The first object in which a function is defined, in the order in which they were loaded. */
struct definition {
	const char *name;
	uint32_t hash;
	void *function;
};

static int find_definition(struct dl_phdr_info *info, size_t size, void *context)
{
	struct definition *its = context;
	struct object object;
	uint32_t at;

	(void)size;
	if (!read_object(&object, info) ||
	    ((uintptr_t)find_self >= object.from && (uintptr_t)find_self < object.to))
		return 0;
	at = find_symbol(&object, its->name, its->hash);
	if (!at || !is_function(&object.symbol[at]))
		return 0;
	its->function = (void *)(object.base + object.symbol[at].st_value);
	return 1;
}

void *kymo_slots_definition(const char *name)
{
	struct definition its = { name, hash_of(name), NULL };

	(void)dl_iterate_phdr(find_definition, &its);
	return its.function;
}

static int read_generation(struct dl_phdr_info *info, size_t size, void *generation)
{
	(void)size;
	*(uint64_t *)generation = info->dlpi_adds;
	return 1;
}

uint64_t kymo_slots_generation(void)
{
	uint64_t generation = 0;

	(void)dl_iterate_phdr(read_generation, &generation);
	return generation;
}
