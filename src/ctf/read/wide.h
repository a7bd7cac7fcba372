/* SPDX-License-Identifier: Apache-2.0 */
/* Text in UTF-16 or UTF-32, as CTF 2 allows it. */
#ifndef KYMO_CTF_WIDE_H
#define KYMO_CTF_WIDE_H

#include <stdbool.h>
#include <stdint.h>

/** wide_length() - bytes in front of the first NUL unit of @unit (2 or 4) bytes; of whole units, at
 * most @size. */
uint64_t wide_length(const uint8_t *at, uint64_t size, unsigned unit);

/**
 * wide_text() - @size bytes of text as UTF-8; units that are no character become U+FFFD
 *
 * Context: allocates; free with free(). Return: NULL: no memory.
 */
char *wide_text(const uint8_t *at, uint64_t size, unsigned unit, bool big_endian);

#endif
