/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The TSDL text of the traces that ctf/write/writer.h writes, in pieces that can be appended. All
 * functions print to a stream and allocate nothing themselves; ferror() says whether it failed.
 */
#ifndef KYMO_CTF_METADATA_H
#define KYMO_CTF_METADATA_H

#include <stdint.h>
#include <stdio.h>

#include "abi/points.h"
#include "ctf/write/writer.h"

/** ctf_metadata_uuid() - a random one, for a new trace. Context: a system call. */
void ctf_metadata_uuid(uint8_t uuid[16]);

/**
 * ctf_metadata_head() - everything before the streams: types, trace, env, clock, struct
 * event_header and struct packet_context
 * @domain: "ust" or "kernel", as LTTng has them
 */
void ctf_metadata_head(FILE *out, const struct ctf_trace_desc *desc, const char *domain,
		       const uint8_t uuid[16]);

/** ctf_metadata_begin() - everything before the first event: the head, and the streams of
 * ctf/write/writer.h. */
void ctf_metadata_begin(FILE *out, const struct ctf_trace_desc *desc, const uint8_t uuid[16]);

/** ctf_metadata_event() - the declaration of one event of the table, with @id, in @class. */
void ctf_metadata_event(FILE *out, const struct kymo_point *point, unsigned id,
			enum ctf_class class);

#endif
