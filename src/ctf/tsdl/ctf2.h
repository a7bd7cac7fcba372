/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The parser of CTF 2's metadata: a row of JSON objects, called fragments, each behind a record
 * separator (RFC 7464). json-c parses the JSON; ctf2.c reads fragments, ctf2_type.c their field
 * classes, ctf2_part.c what several classes have. What they find goes into the same struct
 * ctf_metadata that the parser of TSDL fills. Private to these files and tsdl_file.c.
 */
#ifndef KYMO_CTF_CTF2_H
#define KYMO_CTF_CTF2_H

#include <json-c/json.h>

#include "ctf/tsdl/tsdl_metadata.h"

/* The metadata of CTF 2 begins with this byte. */
#define CTF2_BEGIN 0x1e

struct ctf2_alias {
	const char *name;
	const struct ctf_type *type;
};

struct ctf2 {
	struct ctf_metadata *metadata;
	const char *file;
	uint32_t fragment;		/* the number of the present one, from 1 */
	const char *kind;		/* and its type */
	struct ctf2_alias *alias;
	uint32_t alias_count;
	unsigned depth;
	struct kymo_err *err;
};

/**
 * ctf2_parse() - fragments at @text, which begins with a record separator
 * @err: file and fragment
 *
 * Return: 0; 1: the last fragment is not complete, and was left out, @err says so; -1 with @err.
 * Context: allocates.
 */
int ctf2_parse(const char *text, size_t size, const char *file, struct ctf_metadata *metadata,
	       struct kymo_err *err);

/* Between the three files. All that return int return 0, or -1 with the error set. */

__attribute__((format(printf, 2, 3)))
int ctf2_error(struct ctf2 *p, const char *format, ...);
int ctf2_no_memory(struct ctf2 *p);

/* Properties of @object. A missing one leaves *@out as it is, and is an error if it is
 * @required. */
int ctf2_text(struct ctf2 *p, json_object *object, const char *key, bool required,
	      const char **out);
int ctf2_unsigned(struct ctf2 *p, json_object *object, const char *key, bool required,
		  uint64_t *out);
int ctf2_signed(struct ctf2 *p, json_object *object, const char *key, int64_t *out);
/* *@value NULL: it is missing. */
int ctf2_get(struct ctf2 *p, json_object *object, const char *key, json_type type,
	     json_object **value);

/* The field class in property @key of @object, or the alias named there. */
int ctf2_type(struct ctf2 *p, json_object *object, const char *key, bool required,
	      const struct ctf_type **type);

/* A power of two in bits. A missing one leaves *@out. */
int ctf2_alignment(struct ctf2 *p, json_object *class, const char *key, uint32_t *out);
int ctf2_byte_order(struct ctf2 *p, json_object *class, struct ctf_type *type);
int ctf2_roles(struct ctf2 *p, json_object *class, struct ctf_type *type);
/* "[[1, 3], [7, 7]]" as ranges of @type, all with the same @label. */
int ctf2_ranges(struct ctf2 *p, json_object *list, const char *label, struct ctf_type *type);
/* The names in @all, each with its ranges. */
int ctf2_named_ranges(struct ctf2 *p, json_object *all, struct ctf_type *type);
/* A type with mappings is an enumeration. */
int ctf2_mappings(struct ctf2 *p, json_object *class, struct ctf_type *type);
/* Where the length or the choice of @type stands, as property @key of @class has it. */
int ctf2_location(struct ctf2 *p, json_object *class, const char *key, struct ctf_type *type);

/* Room for one more element behind the @count elements of @list, in the arena. */
#define CTF2_ROOM(p, list, count)                                                       \
	(((list) = arena_grow(&(p)->metadata->arena, (list), (count), sizeof(*(list)))) \
		 ? 0                                                                    \
		 : ctf2_no_memory(p))

#endif
