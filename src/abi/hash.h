/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hash of tracepoints.def. Two programs compare it (kymo_region.table_hash) to know whether they
 * were built from the same table. The hash is FNV-1a, 64 bits, over this text of each row, in the
 * order of the rows, without separators between rows:
 *
 *     provider:id:name:phase:from:to:KIND argument;KIND argument;...
 *
 * from and to are the spelling in the table, e.g. "KYMO_V(8, 4)".
 */
#ifndef KYMO_ABI_HASH_H
#define KYMO_ABI_HASH_H

#include <stddef.h>
#include <stdint.h>

#include "abi/each.h"

#define KYMO_HASH_FIELD(kind, arg, ...) #kind " " #arg ";"

/** kymo_table_hash() - hash of tracepoints.def. Context: wait-free; reads some KiB of constants. */
static inline uint64_t kymo_table_hash(void)
{
	static const char text[] =
#define POINT(provider, id, name, phase, hook, from, to, text, ...)        \
#provider ":" #id ":" #name ":" #phase ":" #hook ":" #from ":" #to \
		  ":" EACH(KYMO_HASH_FIELD, __VA_ARGS__)
#include "abi/tracepoints.def"
#undef POINT
		;
	uint64_t hash = 0xcbf29ce484222325ull;

	for (size_t i = 0; i < sizeof text - 1; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3ull;
	return hash;
}

#endif
