/* SPDX-License-Identifier: Apache-2.0 */
/* From an address of this program to the line of its source; and damaged tables of lines. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <cmocka.h>

#include "analysis/symbol/symbol.h"

/* This function begins with its brace, one line above. */
__attribute__((noinline)) static unsigned here(void)
{
	return __LINE__ - 1;
}

static const struct elf_function *function_here(const struct elf_functions *functions)
{
	for (uint64_t i = 0; i < functions->count; i++)
		if (strcmp(functions->function[i].name, "here") == 0)
			return &functions->function[i];
	return NULL;
}

static void lines(void **state)
{
	const struct elf_function *function;
	struct elf_functions functions;
	struct code_lines tables;
	struct code_line line;
	struct elf elf;

	(void)state;
	assert_int_equal(elf_open(&elf, "/proc/self/exe", NULL), 0);
	elf_functions(&elf, &functions);
	function = function_here(&functions);
	assert_non_null(function);
	code_lines_open(&tables, &elf);
	if (!code_line(&tables, function->address, 0, &line)) {
		puts("skipped in part: built without debug information");
	} else {
		assert_int_equal(line.line, here());
		assert_non_null(strstr(line.file, "analysis_lines.c"));
		/* Nothing begins between two instructions of data. */
		assert_false(code_line(&tables, 1, 2, &line));
	}
	code_lines_close(&tables);
	elf_functions_free(&functions);
	elf_close(&elf);
}

/* A line table of which any byte may be wrong ends the search, and no more. */
static void damaged_lines(void **state)
{
	struct code_lines tables;
	struct elf elf, copy;
	struct code_line line;
	uint8_t *bytes;

	(void)state;
	assert_int_equal(elf_open(&elf, "/proc/self/exe", NULL), 0);
	bytes = elf_read_array(&elf, 0, elf.size, 1);
	assert_non_null(bytes);
	srand(1);
	for (unsigned turn = 0; turn < 30; turn++) {
		const int fd = memfd_create("damaged", MFD_CLOEXEC);
		char path[64];

		assert_true(fd >= 0);
		for (unsigned i = 0; i < 2000; i++)
			bytes[64 + (uint64_t)rand() % (elf.size - 64)] = (uint8_t)rand();
		assert_int_equal(write(fd, bytes, elf.size), elf.size);
		(void)snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
		if (elf_open(&copy, path, NULL) == 0) {
			code_lines_open(&tables, &copy);
			(void)code_line(&tables, 0x1000, 0x100000, &line);
			code_lines_close(&tables);
			elf_close(&copy);
		}
		(void)close(fd);
	}
	free(bytes);
	elf_close(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(lines),
		cmocka_unit_test(damaged_lines),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
