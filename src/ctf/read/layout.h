/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fields in their places. Many fields may share one type of the metadata; a node is one field in
 * one scope. Its references are resolved: where a sequence has its length, and a variant its
 * choice, from another field, that field gets a slot. While an event is decoded, the slot keeps the
 * field's value.
 *
 *   type    struct { uint32_t n; char text[n]; }
 *   nodes   n: slot 32         text: ref 32
 */
#ifndef KYMO_CTF_LAYOUT_H
#define KYMO_CTF_LAYOUT_H

#include "ctf/tsdl/scope.h"
#include "ctf/tsdl/tsdl_metadata.h"

/* Scopes up to here are the same for a whole stream class; the others are those of an event
 * class. */
#define SCOPE_SHARED SCOPE_EVENT_HEADER

#define NODE_NONE (-1)
#define NODE_VARIES UINT64_MAX

struct ctf_node {
	const struct ctf_type *type;
	const char *name;		/* LTTng's underscore removed; "" for elements and scopes */
	const char *declared;		/* as the metadata says */
	uint32_t simple_name;		/* bytes of the name, when it is printed as it is; or 0 */
	struct ctf_node *child;		/* members, options; the element of arrays and sequences */
	uint32_t child_count;
	int16_t slot;			/* its own value goes here, or NODE_NONE */
	int16_t ref;			/* slot of the length or the tag */
	const struct ctf_type *tag;	/* variant: the enum that selects */
	uint8_t scope;			/* enum ctf_scope it is in */
	uint16_t roles;			/* enum ctf_role */
	bool big_endian;
	bool is_text;    /* array or sequence of characters */
	bool plain;      /* of fixed size and without slots inside: can be skipped */
	uint64_t fixed;  /* bits from an aligned start, or NODE_VARIES */
	int16_t bound;   /* index of the value that the user bound to it, or NODE_NONE */
	int64_t element; /* arrays, sequences: the element in which something is bound, or
			  * NODE_NONE */
};

/* Slots 0..SLOTS_SHARED-1 belong to shared scopes, those above to the event class. */
#define SLOTS_SHARED 32
#define SLOTS_MAX 1024
/* Nodes of one trace; stops types that use each other again and again. */
#define NODES_MAX (1u << 20)
/* No field can be longer than this many bits. */
#define FIXED_MAX (UINT64_C(1) << 40)

struct layout {
	struct ctf_metadata *metadata;
	struct ctf_node *scope[SCOPE_COUNT];	/* NULL: not there */
	const char *place;		/* "event ros2:x", for errors */
	const char *path;		/* of the metadata file */
	unsigned slots_shared, slots_class;
	unsigned slots_most;		/* the largest slots_class of any class */
	unsigned nodes;
	unsigned depth;
	uint8_t making;			/* the scope under construction */
	struct kymo_err *err;
};

/**
 * layout_scope() - create the nodes of @type as scope @which of @layout
 *
 * Scopes must be created in their order. NULL @type: the scope does not exist.
 * Return: 0, or -1 with the error set. Context: allocates in the metadata's arena.
 */
int layout_scope(struct layout *layout, enum ctf_scope which, const struct ctf_type *type);

/** layout_settle() - compute sizes below @node, when all references are resolved. */
void layout_settle(struct ctf_node *node);

/** layout_member() - the member or option called @name (without underscore), or NULL. */
struct ctf_node *layout_member(const struct ctf_node *node, const char *name);

#endif
