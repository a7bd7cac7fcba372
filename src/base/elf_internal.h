/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by elf.c and elf_functions.c: reads that know the file's size. */
#ifndef KYMO_BASE_ELF_INTERNAL_H
#define KYMO_BASE_ELF_INTERNAL_H

#include "base/elf.h"

bool elf_read_at(const struct elf *elf, uint64_t offset, void *to, uint64_t size);
/* @count elements of @size bytes at @offset, with a zeroed one behind them. NULL: cannot be had. */
void *elf_read_array(const struct elf *elf, uint64_t offset, uint64_t count, size_t size);
/* The first section header of @type, and that of the strings it names. */
bool elf_find_section(const struct elf *elf, uint32_t type, Elf64_Shdr *section, Elf64_Shdr *strings);

#endif
