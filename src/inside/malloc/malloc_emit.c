/* SPDX-License-Identifier: Apache-2.0 */
#include "inside/malloc/malloc_emit.h"

#include <dlfcn.h>
#include <link.h>
#include <stdlib.h>
#include <sys/auxv.h>

#include "inside/malloc/malloc_sums.h"
#include "inside/tracer/tracer_guest.h"

static __thread struct kymo_guest guest;
static bool in_vain; /* the allocator belongs to a sanitizer that needs all for itself: record
			nothing */
static volatile bool may_register; /* true in the constructor; volatile: the compiler assumes that
				      malloc() does not read it */

bool malloc_may_emit(void)
{
	return !in_vain && kymo_guest_may_emit(&guest, may_register);
}

void malloc_emit(unsigned id, const void *payload, size_t size)
{
	if (malloc_may_emit())
		kymo_guest_emit(&guest, id, payload, size);
}

enum malloc_beside malloc_beside(void)
{
	static const char *const sanitizers[] = { "__asan_init", "__tsan_init", "__hwasan_init",
						  "__msan_init" };

	for (unsigned i = 0; i < sizeof(sanitizers) / sizeof(*sanitizers); i++)
		in_vain |= dlsym(RTLD_DEFAULT, sanitizers[i]) != NULL;
	if (in_vain)
		return BESIDE_ALL;
	return dlsym(RTLD_DEFAULT, "__lsan_init") ? BESIDE_LEAKS : BESIDE_NONE;
}

struct linker {
	uintptr_t begin, end;
};

static int find_linker(struct dl_phdr_info *info, size_t size, void *argument)
{
	struct linker *linker = argument;

	(void)size;
	if (info->dlpi_addr != linker->begin)
		return 0;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const uintptr_t end =
			info->dlpi_addr + info->dlpi_phdr[i].p_vaddr + info->dlpi_phdr[i].p_memsz;

		if (info->dlpi_phdr[i].p_type == PT_LOAD && end > linker->end)
			linker->end = end;
	}
	return 1;
}

bool malloc_is_linker(const void *code)
{
	static struct linker linker;
	const uintptr_t at = (uintptr_t)code;

	if (!__atomic_load_n(&linker.end, __ATOMIC_ACQUIRE)) {
		struct linker found = { .begin = getauxval(AT_BASE), .end = 1 };

		(void)dl_iterate_phdr(find_linker, &found);
		linker.begin = found.begin;
		__atomic_store_n(&linker.end, found.end, __ATOMIC_RELEASE);
	}
	return at >= linker.begin && at < linker.end;
}

KYMO_GUEST_CHECKS_LAYOUT()

/*
 * A program that was started with this library is traced even if it has no other events: so one
 * allocation registers the process. The hooks step aside for sanitizers, so in programs with one
 * the allocation has no event.
 */
__attribute__((constructor(102)))
static void load(void)
{
	void *volatile first;

	malloc_sums_find();
	may_register = true;
	first = malloc(1);
	free(first);
	malloc_sums_record();
	may_register = false;
}
