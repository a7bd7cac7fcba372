/* SPDX-License-Identifier: Apache-2.0 */
/* Metadata of CTF 2 written as those of CTF 1.8, for the same packets. */
#ifndef KYMO_CTF_TSDL_WRITE_H
#define KYMO_CTF_TSDL_WRITE_H

#include <stdio.h>

#include "ctf/tsdl/tsdl_metadata.h"

/**
 * tsdl_write() - @metadata, of version 2, as TSDL
 *
 * Fields get LTTng's leading underscore, which readers remove, or the name that stands for their
 * role.
 * Return: 0; -1 with @err: a field that CTF 1.8 cannot describe. You look at ferror(@out).
 * Context: wait-free but for @out.
 */
int tsdl_write(const struct ctf_metadata *metadata, FILE *out, struct kymo_err *err);

#endif
