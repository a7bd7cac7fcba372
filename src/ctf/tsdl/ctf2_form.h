/* SPDX-License-Identifier: Apache-2.0 */
/* What a recorder declares, as CTF 2. */
#ifndef KYMO_CTF_TSDL_CTF2_FORM_H
#define KYMO_CTF_TSDL_CTF2_FORM_H

#include <stddef.h>
#include <stdio.h>

/**
 * ctf2_form() - TSDL that a writer made, as fragments of CTF 2; a ctf_form_fn of ctf/write/writer.h
 * @text: [@size] whole TSDL: a trace with its streams, and events
 * @head: bytes at the front of @text that were written before; only events are written then. 0:
 * everything is
 *
 * Return: 0; -ENOMEM; -EINVAL: @text is no TSDL. You look at ferror(@out).
 * Context: allocates.
 */
int ctf2_form(const char *text, size_t head, size_t size, FILE *out);

#endif
