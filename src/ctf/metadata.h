/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TSDL text of the traces that ctf/writer.h writes, in pieces that can be appended. All
 * functions print to a stream and allocate nothing themselves.
 */
#ifndef KYMO_CTF_METADATA_H
#define KYMO_CTF_METADATA_H

#include <stdint.h>
#include <stdio.h>

#include "abi/points.h"
#include "ctf/writer.h"

/** ctf_metadata_begin() - everything before the first event: types, trace, env, clock, streams. */
void ctf_metadata_begin(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16]);

/** ctf_metadata_event() - the declaration of one event of the table, with @id, in @class. */
void ctf_metadata_event(FILE *out, const struct kymo_point *point, unsigned id,
			enum ctf_class class);

#endif
