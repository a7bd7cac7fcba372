/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The vDSO as a file: the function behind each of its symbols in memory has the name of that
 * symbol. And the stubs of a program.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/auxv.h>
#include <cmocka.h>

#include "base/elf.h"

static void vdso(void **state)
{
	const uint64_t base = getauxval(AT_SYSINFO_EHDR);
	struct elf_functions functions;
	const struct elf_function *found;
	const Elf64_Sym *symbol;
	uint8_t code[16];
	struct elf elf;

	(void)state;
	if (!base)
		skip(); /* under some emulators */
	assert_int_equal(elf_open_vdso(&elf), 0);
	elf_functions(&elf, &functions);
	assert_true(functions.build_id_size >= 16);
	symbol = elf_symbol(&elf, "clock_gettime");
	symbol = symbol ? symbol : elf_symbol(&elf, "__kernel_clock_gettime");
	assert_non_null(symbol);
	found = elf_function_at(&functions, symbol->st_value + symbol->st_size / 2);
	assert_non_null(found);
	assert_non_null(strstr(found->name, "clock_gettime"));
	/* The same bytes as in memory. */
	assert_true(elf_read_at(&elf, symbol->st_value, code, sizeof(code)));
	assert_memory_equal(code, (const void *)(uintptr_t)(base + symbol->st_value), sizeof(code));
	elf_functions_free(&functions);
	elf_close(&elf);
}

/* The stubs of this program, through which it calls libraries. */
static void stubs(void **state)
{
	struct elf_functions functions;
	const struct elf_function *found;
	unsigned count = 0;
	struct elf elf;

	(void)state;
	assert_int_equal(elf_open(&elf, "/proc/self/exe", NULL), 0);
	elf_functions(&elf, &functions);
	for (uint64_t i = 0; i < functions.count; i++) {
		if (strcmp(functions.function[i].name, "[plt]") != 0)
			continue;
		count++;
		found = elf_function_at(&functions, functions.function[i].address +
							    functions.function[i].size - 1);
		assert_ptr_equal(found, &functions.function[i]);
	}
	assert_true(count > 0);
	elf_functions_free(&functions);
	elf_close(&elf);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(vdso),
		cmocka_unit_test(stubs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
