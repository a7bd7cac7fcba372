/* SPDX-License-Identifier: Apache-2.0 */
/* The reader for other rooms: the functions of libkymo-ctf, and errors. */
#ifndef KYMO_CTF_READER_H
#define KYMO_CTF_READER_H

#include "base/err.h"
#include "kymo/ctf.h"

#define READER_NO_TRACE UINT32_MAX

/** reader_trace_before() - the trace that trace @index continues: the same one in the chunk before.
 * Return: READER_NO_TRACE: there is none, or it was not read. */
uint32_t reader_trace_before(const struct kymo_ctf_reader *reader, uint32_t index);

#endif
