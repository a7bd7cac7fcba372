/* SPDX-License-Identifier: Apache-2.0 */
/* The chunks of a rotated recording, for `kymo info`. */
#ifndef KYMO_CLI_INFO_CHUNKS_H
#define KYMO_CLI_INFO_CHUNKS_H

#include "base/table.h"
#include "ctf/read/reader.h"

/**
 * info_chunks() - print a section with a row for each chunk, if there are any
 * @begin_ns: times are since then; 0: since the epoch
 * @most: rows
 *
 * Return: how many chunks there are. Context: allocates, blocks.
 */
unsigned info_chunks(struct table *table, struct kymo_ctf_reader *reader, int64_t begin_ns, unsigned most);

#endif
