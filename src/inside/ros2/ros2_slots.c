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
 */
#include "inside/ros2/ros2_slots.h"

#include <string.h>

#include "inside/ros2/ros2_late.h"
#include "inside/ros2/ros2_object.h"

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

static struct kymo_object self;

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

		if (!kymo_object_is_function(&self.symbol[at]) || !strncmp(name, "kymo_", 5))
			continue;
		hook[hooks++] = (struct hook){ name, kymo_object_hash(name), at,
					       self.base + self.symbol[at].st_value, 0, NULL };
	}
}

static struct hook *hook_named(const char *name)
{
	const uint32_t hash = kymo_object_hash(name), at = kymo_object_find(&self, name, hash);

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
			hook[hooks++] = (struct hook){ late->name, kymo_object_hash(late->name), 0,
						       (uintptr_t)late->ours, 0, late->next };
		}
	}
}

static int find_self(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct kymo_object object;

	(void)size;
	(void)unused;
	if (!kymo_object_read(&object, info) || (uintptr_t)find_self < object.from ||
	    (uintptr_t)find_self >= object.to)
		return 0;
	self = object;
	return 1;
}

/* ---- the first pass: who defines the functions ---- */

static int find_originals(struct dl_phdr_info *info, size_t size, void *unused)
{
	struct kymo_object object;

	(void)size;
	(void)unused;
	if (!kymo_object_read(&object, info) || object.from == self.from)
		return 0;
	for (unsigned i = 0; i < hooks; i++) {
		const uint32_t at =
			hook[i].original ? 0
					 : kymo_object_find(&object, hook[i].name, hook[i].hash);

		if (!at || !kymo_object_is_function(&object.symbol[at]))
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

static void change(const struct pass *pass, const struct kymo_object *object,
		   const Elf64_Rela *rela, const struct hook *its)
{
	uintptr_t *entry = (uintptr_t *)(object->base + rela->r_offset);
	const uintptr_t value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	const bool ours = value == its->ours;

	if (!value || !its->original || rela->r_addend)
		return;
	if (!ours && value != its->original &&
	    !kymo_object_is_unbound(object, ELF64_R_TYPE(rela->r_info), value)) {
		pass->slots->elsewhere++;
		return;
	}
	if (ours != pass->on) {
		if (!kymo_object_set(object, entry, pass->on ? its->ours : its->original))
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
	struct kymo_object object;

	(void)size;
	pass->slots->generation = info->dlpi_adds;
	if (!kymo_object_read(&object, info) || object.from == self.from)
		return 0;
	for (unsigned list = 0; list < 2; list++)
		for (size_t i = 0; object.rela[list] && i < object.relas[list]; i++) {
			const Elf64_Rela *rela = &object.rela[list][i];
			const unsigned type = ELF64_R_TYPE(rela->r_info);
			const Elf64_Sym *symbol = &object.symbol[ELF64_R_SYM(rela->r_info)];
			const struct hook *its;

			if (type != OBJECT_JUMP_SLOT && type != OBJECT_GLOB_DAT &&
			    type != OBJECT_ABSOLUTE)
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

static void lead_entry(struct lead *lead, const struct kymo_object *object, const Elf64_Rela *rela)
{
	const unsigned type = ELF64_R_TYPE(rela->r_info);
	const Elf64_Sym *symbol = &object->symbol[ELF64_R_SYM(rela->r_info)];
	uintptr_t *entry = (uintptr_t *)(object->base + rela->r_offset);
	uintptr_t value;

	if ((type != OBJECT_JUMP_SLOT && type != OBJECT_GLOB_DAT) || rela->r_addend ||
	    strcmp(object->text + symbol->st_name, lead->name) != 0)
		return;
	value = __atomic_load_n(entry, __ATOMIC_RELAXED);
	if (value == lead->from || kymo_object_is_unbound(object, type, value))
		lead->changed += kymo_object_set(object, entry, lead->to);
}

static int lead_object(struct dl_phdr_info *info, size_t size, void *context)
{
	struct lead *lead = context;
	struct kymo_object object;

	(void)size;
	if (!kymo_object_read(&object, info) || lead->within < object.from ||
	    lead->within >= object.to)
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
	struct kymo_object object;
	uint32_t at;

	(void)size;
	if (!kymo_object_read(&object, info) ||
	    ((uintptr_t)find_self >= object.from && (uintptr_t)find_self < object.to))
		return 0;
	at = kymo_object_find(&object, its->name, its->hash);
	if (!at || !kymo_object_is_function(&object.symbol[at]))
		return 0;
	its->function = (void *)(object.base + object.symbol[at].st_value);
	return 1;
}

void *kymo_slots_definition(const char *name)
{
	struct definition its = { name, kymo_object_hash(name), NULL };

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
