/* SPDX-License-Identifier: Apache-2.0 */
/* What ctf2_write.c, which writes fragments, needs of ctf2_write_class.c, their field classes. */
#ifndef KYMO_CTF_CTF2_WRITE_INTERNAL_H
#define KYMO_CTF_CTF2_WRITE_INTERNAL_H

#include <json-c/json.h>

#include "ctf/tsdl/ctf2_write.h"
#include "ctf/tsdl/scope.h"

struct ctf2_out {
	const struct ctf_metadata *m;
	const struct ctf_type *scope[SCOPE_COUNT];	/* that are in front of the present one */
	unsigned making;
	struct kymo_err *err;
};

void ctf2_add_text(json_object *to, const char *key, const char *text);
void ctf2_add_number(json_object *to, const char *key, uint64_t number);

/** ctf2_object_of() - a new object with the property "type". */
json_object *ctf2_object_of(const char *type);

/**
 * ctf2_add_scope() - put the structure of scope @which into @fragment as @key, if there is one
 *
 * Return: 0; -1 with the error set: a length or a choice names no field.
 */
int ctf2_add_scope(struct ctf2_out *o, json_object *fragment, const char *key, unsigned which,
		   const struct ctf_type *type);

#endif
