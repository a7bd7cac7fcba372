/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of CTF 1.8 written as those of CTF 2, for the same packets. */
#ifndef KYMO_CTF_CTF2_WRITE_H
#define KYMO_CTF_CTF2_WRITE_H

#include <stdio.h>

#include "ctf/tsdl/tsdl_metadata.h"

/**
 * ctf2_write() - @metadata, of version 1, as JSON text sequence
 *
 * Names lose LTTng's leading underscore, as all readers show them. A log level and a URI become
 * attributes in the namespace "kymo".
 * Return: 0; -1 with @err: a length or a choice names no field. You look at ferror(@out).
 * Context: allocates.
 */
int ctf2_write(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err);

/** ctf2_write_events() - only the events, to follow what ctf2_write() wrote of the same trace.
 * Otherwise as ctf2_write(). */
int ctf2_write_events(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err);

#endif
