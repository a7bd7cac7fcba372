/* SPDX-License-Identifier: Apache-2.0 */
/* Any bytes as a program file: everything the doctor asks of it is answered. */
#include <stdint.h>
#include <stdio.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/elf.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int fd = -1;
	char path[64], text[64];
	struct elf_functions functions;
	struct elf elf;

	if (fd < 0)
		fd = memfd_create("fuzz", MFD_CLOEXEC);
	if (fd < 0 || ftruncate(fd, 0) || pwrite(fd, data, size, 0) != (ssize_t)size)
		return 0;
	(void)snprintf(path, sizeof path, "/proc/self/fd/%d", fd);
	if (elf_open(&elf, path, NULL))
		return 0;
	for (unsigned n = 0; elf_dynamic(&elf, DT_NEEDED, n); n++)
		;
	(void)elf_dynamic(&elf, DT_RUNPATH, 0);
	(void)elf_symbol(&elf, "ros_trace_rcl_init");
	(void)elf_uses(&elf, "ros_trace_");
	(void)elf_defines(&elf, "ros_trace_");
	(void)elf_pointed_text(&elf, size, text, sizeof text);
	elf_functions(&elf, &functions);
	(void)elf_function_at(&functions, functions.base + size);
	elf_functions_free(&functions);
	elf_close(&elf);
	return 0;
}
