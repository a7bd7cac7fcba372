/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The files whose functions are recorded.
 *
 * Files come with dlopen(), too, so a function tells that its file is loaded: its address is in no
 * range that is known. Ranges are only added: threads look without a lock, and the dynamic loader's
 * lock, which dl_iterate_phdr() holds during its call back, lets one thread at a time add one.
 * If a file is unloaded and another one is loaded in its place, the other one has no fact.
 */
#include "inside/functions/functions_files.h"
#include "inside/functions/functions_frames.h"
#include "inside/functions/functions_returns.h"

#include <link.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <unistd.h>

#include "abi/points.h"
#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_libc.h"

#define FILES_MAX 1024u /* functions of further files have no names */
#define PATH_BYTES 1024u
#define BUILD_ID_BYTES 24u /* a longer one is cut, and then fits no file */
#define PAGE 4096u

__thread struct functions_range functions_near;

static struct functions_range known[FILES_MAX];
static uint32_t known_count;
static char executable[PATH_BYTES];

static bool is_known(uintptr_t address)
{
	uint32_t count = __atomic_load_n(&known_count, __ATOMIC_ACQUIRE);

	for (uint32_t i = 0; i < count; i++)
		if (address - known[i].begin < known[i].size) {
			functions_near = known[i];
			return true;
		}
	return false;
}

/* ---- facts ---- */

/* The path as the program gave it to dlopen() may be relative. Only one thread at a time is here.
 */
static const char *absolute(const char *path)
{
	static char whole[2 * PATH_BYTES];
	size_t length;

	if (!path || !*path)
		return executable;
	/* The vdso's name has no directory, and no file. */
	if (*path == '/' || !strchr(path, '/') || !getcwd(whole, PATH_BYTES))
		return path;
	length = strlen(whole);
	(void)snprintf(whole + length, sizeof(whole) - length, "/%s", path);
	return whole;
}

static void tell_path(const struct functions_range *range, const char *path)
{
	const uint64_t numbers[2] = { range->begin, range->size };
	size_t length = strnlen(path, 2 * PATH_BYTES);
	struct kymo_fact fact;

	if (!kymo__log_reserve(&fact, KYMO_POINT_bin_info, sizeof(numbers) + length + 1))
		return;
	memcpy(fact.payload, numbers, sizeof(numbers));
	memcpy(fact.payload + sizeof(numbers), path, length);
	fact.payload[sizeof(numbers) + length] = 0;
	kymo__log_commit(&fact);
}

static void tell_build_id(const struct functions_range *range, const uint8_t id[BUILD_ID_BYTES])
{
	const uint64_t begin = range->begin;
	struct kymo_fact fact;

	if (!kymo__log_reserve(&fact, KYMO_POINT_build_id, sizeof(begin) + BUILD_ID_BYTES))
		return;
	memcpy(fact.payload, &begin, sizeof(begin));
	memcpy(fact.payload + sizeof(begin), id, BUILD_ID_BYTES);
	kymo__log_commit(&fact);
}

/* Return: whether @notes contain the build id, which is in memory. */
static bool find_build_id(const uint8_t *notes, size_t size, uint8_t id[BUILD_ID_BYTES])
{
	ElfW(Nhdr) note;

	for (size_t at = 0; at + sizeof(note) <= size;) {
		size_t name = at + sizeof(note), text;

		memcpy(&note, notes + at, sizeof(note));
		text = name + ((size_t)note.n_namesz + 3) / 4 * 4;
		at = text + ((size_t)note.n_descsz + 3) / 4 * 4;
		if (at > size)
			return false;
		if (note.n_type != NT_GNU_BUILD_ID || note.n_namesz != 4 ||
		    memcmp(notes + name, "GNU", 4) != 0)
			continue;
		memset(id, 0, BUILD_ID_BYTES);
		memcpy(id, notes + text,
		       note.n_descsz < BUILD_ID_BYTES ? note.n_descsz : BUILD_ID_BYTES);
		return true;
	}
	return false;
}

static int find_file(struct dl_phdr_info *info, size_t size, void *argument)
{
	const uintptr_t address = *(const uintptr_t *)argument;
	struct functions_range range = { UINTPTR_MAX, 0 };
	uint8_t id[BUILD_ID_BYTES];
	uintptr_t end = 0;

	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *segment = &info->dlpi_phdr[i];
		uintptr_t at = info->dlpi_addr + segment->p_vaddr;

		if (segment->p_type != PT_LOAD)
			continue;
		if (at < range.begin)
			range.begin = at / PAGE * PAGE;
		if (at + segment->p_memsz > end)
			end = at + segment->p_memsz;
	}
	range.size = end > range.begin ? end - range.begin : 0;
	if (address - range.begin >= range.size)
		return 0;
	functions_near = range;
	/* Another thread may have been here meanwhile. */
	if (is_known(address) || known_count == FILES_MAX)
		return 1;
	tell_path(&range, absolute(info->dlpi_name));
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_NOTE &&
		    find_build_id((const uint8_t *)info->dlpi_addr + info->dlpi_phdr[i].p_vaddr,
				  info->dlpi_phdr[i].p_memsz, id)) {
			tell_build_id(&range, id);
			break;
		}
	known[known_count] = range;
	__atomic_store_n(&known_count, known_count + 1, __ATOMIC_RELEASE);
	return 1;
}

void functions_find_file(struct kymo_guest *guest, const void *function)
{
	uintptr_t address = (uintptr_t)function;
	struct kymo_calm calm;

	if (is_known(address))
		return;
	kymo_calm_begin(&calm);
	guest->inside = true;
	if (!dl_iterate_phdr(find_file, &address))
		functions_near = (struct functions_range){ address, 1 }; /* generated code */
	guest->inside = false;
	kymo_calm_end(&calm);
}

static void in_child(void)
{
	known_count = 0;
	functions_near = (struct functions_range){ 0, 0 };
	functions_stacks_in_child();
	functions_frames_in_child();
}

void functions_begin(struct kymo_guest *guest)
{
	ssize_t length = readlink("/proc/self/exe", executable, sizeof(executable) - 1);

	executable[length > 0 ? length : 0] = '\0';
	kymo_at_fork(NULL, NULL, in_child);
	functions_find_file(guest, (const void *)getauxval(AT_ENTRY));
}
