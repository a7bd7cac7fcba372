/* SPDX-License-Identifier: Apache-2.0 */
/* Between the blocks of tsdl_write.c and their types in tsdl_write_type.c. */
#ifndef KYMO_CTF_TSDL_WRITE_INTERNAL_H
#define KYMO_CTF_TSDL_WRITE_INTERNAL_H

#include <stdbool.h>
#include <stdio.h>

#include "ctf/tsdl/scope.h"
#include "ctf/tsdl/tsdl_metadata.h"

struct tsdl_out {
	const struct ctf_metadata *m;
	FILE *to;
	unsigned scope;			/* the one being written */
	const struct ctf_type *root[SCOPE_COUNT];
	struct kymo_err *err;
};

/* The type of a whole scope, @name, without its semicolon. Return: 0; -1 with o->err: CTF 1.8 has
 * no words for it. */
int tsdl_put_type(struct tsdl_out *o, const char *name, const struct ctf_type *type);

void tsdl_put_quoted(FILE *to, const char *text);
bool tsdl_is_identifier(const char *name);

#endif
