/* SPDX-License-Identifier: Apache-2.0 */
/* Names of system calls; see syscalls.h. */
#include "base/array.h"
#include "base/syscalls.h"

#include <asm/unistd.h>
#include <stddef.h>
#include <string.h>

#define SYSCALL(name) [__NR_##name] = #name,
static const char *const names[] = {
#include "base/syscalls.inc"
};
#undef SYSCALL
#define COUNT (COUNT_OF(names))

/* Where the kernel's function, and so LTTng, has another name than <asm/unistd.h>. */
static const struct {
	const char *number, *function;
} renamed[] = {
	{ "stat", "newstat" },	    { "lstat", "newlstat" },	   { "fstat", "newfstat" },
	{ "uname", "newuname" },    { "sendfile", "sendfile64" }, { "umount2", "umount" },
#ifdef __aarch64__
	{ "fadvise64", "fadvise64_64" }, { "personality", "arm64_personality" },
#endif
};

unsigned syscall_count(void)
{
	return COUNT;
}

const char *syscall_name(int64_t number)
{
	const char *name = number >= 0 && (uint64_t)number < COUNT ? names[number] : NULL;

	for (size_t i = 0; name && i < COUNT_OF(renamed); i++)
		if (strcmp(name, renamed[i].number) == 0)
			return renamed[i].function;
	return name;
}

int64_t syscall_number(const char *name)
{
	for (size_t i = 0; i < COUNT; i++)
		if (names[i] && strcmp(syscall_name((int64_t)i), name) == 0)
			return (int64_t)i;
	return -1;
}
