/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What fields of headers and contexts mean: CTF 1.8 knows roles by the names of fields, CTF 2 says
 * them.
 *
 * Context of all functions: any thread; neither allocate nor block.
 */
#ifndef KYMO_CTF_ROLE_H
#define KYMO_CTF_ROLE_H

#include "ctf/tsdl/tsdl_metadata.h"

/**
 * role_of() - CTF 1.8: the role of the field called @name (without LTTng's underscore) of @type in
 * @scope, or 0
 * @scope: enum ctf_scope of scope.h
 */
uint16_t role_of(unsigned scope, const char *name, const struct ctf_type *type);

/** role_field() - what CTF 1.8 calls a field of @role in @scope; NULL: it has no name for it. */
const char *role_field(unsigned scope, uint16_t role);

/** role_name() - what CTF 2 calls @role; NULL: 0 is none. */
const char *role_name(uint16_t role);

/** role_named() - the role that CTF 2 calls @name, or 0. */
uint16_t role_named(const char *name);

#endif
