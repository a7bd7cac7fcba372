/* SPDX-License-Identifier: Apache-2.0 */
/* What tsdl_type.c and tsdl_compound.c need of each other. */
#ifndef KYMO_CTF_TSDL_TYPE_H
#define KYMO_CTF_TSDL_TYPE_H

#include "ctf/tsdl/tsdl.h"

struct ctf_type *tsdl_type_new(struct tsdl *p, enum ctf_kind kind, uint32_t align);

/* Types by spelling: "uint8_t", "unsigned long", "struct x". NULL: unknown. */
const struct ctf_type *tsdl_find(const struct tsdl *p, const char *name);
int tsdl_define(struct tsdl *p, const struct tsdl_token *at, const char *name,
		const struct ctf_type *type);

/* What a block of attributes said; which of them mean something depends on the type. */
struct tsdl_attributes {
	uint32_t size, align, exponent, mantissa;
	uint8_t is_signed, base, text, order;
	const char *clock;
};

/* "{ key = value; ... }" from the bracket on; keys that mean nothing here are passed over. */
int tsdl_attributes(struct tsdl *p, struct tsdl_attributes *a);
int tsdl_align(struct tsdl *p, const struct tsdl_value *v, uint32_t *out);

/* A name and its brackets; @type goes in as the element and comes out as declared. */
int tsdl_declarator(struct tsdl *p, const struct ctf_type **type, const char **name);

/* Each begins at its keyword. */
int tsdl_struct(struct tsdl *p, const struct ctf_type **type);
int tsdl_variant(struct tsdl *p, const struct ctf_type **type);
int tsdl_enum(struct tsdl *p, const struct ctf_type **type);

#endif
