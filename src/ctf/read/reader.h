/* SPDX-License-Identifier: Apache-2.0 */
/* The reader for other rooms: the functions of libkymo-ctf, errors, and two questions about a
 * reader's traces. */
#ifndef KYMO_CTF_READER_H
#define KYMO_CTF_READER_H

#include <stdbool.h>
#include <string.h>

#include "base/err.h"
#include "kymo/ctf.h"

#define READER_NO_TRACE UINT32_MAX

/** reader_trace_before() - the trace that trace @index continues: the same one in the chunk before.
 * Return: READER_NO_TRACE: there is none, or it was not read. */
uint32_t reader_trace_before(const struct kymo_ctf_reader *reader, uint32_t index);

/** reader_declares() - whether a trace declares an event of this @name. As in kymo_ctf_bind(), a *
 * at the end of the name stands for any rest. */
static inline bool reader_declares(const struct kymo_ctf_reader *reader, const char *name)
{
	const char *rest = strchr(name, '*');
	const size_t length = rest ? (size_t)(rest - name) : strlen(name) + 1;

	for (unsigned i = 0; i < kymo_ctf_class_count(reader); i++)
		if (strncmp(kymo_ctf_class(reader, i)->name, name, length) == 0)
			return true;
	return false;
}

#endif
