/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file in YAML as a tree of libyaml's nodes. Its reader goes through the tree; the first error
 * counts, with file and line, and the rest is passed over, unless the reader wants all errors.
 */
#ifndef KYMO_YAML_FILE_H
#define KYMO_YAML_FILE_H

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/err.h"

#define YAML_ERRORS_MAX 20u

/* The errors of a file, in its order. */
struct yaml_errors {
	unsigned count; /* also of those that have no room here */
	struct kymo_err err[YAML_ERRORS_MAX];
};

struct yaml_file {
	const char *path;	/* lent */
	const char *remedy;	/* behind each error of the content; NULL: none */
	struct kymo_err *err;	/* lent; receives the first error */
	/* lent; receives all errors of the content. NULL: the first ends reading */
	struct yaml_errors *all;
	bool failed;		/* @err is set */
	bool broken;		/* and nothing more can be read */
	yaml_document_t document;
};

/**
 * yaml_file_load() - read file->path, of at most @most bytes
 *
 * Depth and aliases have limits: what a reader goes through is not much more than what the file
 * contains, and ends.
 * Return: 0, then yaml_document_delete(&file->document); -1 with file->err.
 * Context: allocates and blocks.
 */
int yaml_file_load(struct yaml_file *file, size_t most);

/** yaml_wrong() - the content at @node is wrong, as @what says. NULL: of the file. */
void yaml_wrong(struct yaml_file *file, const yaml_node_t *node, const char *what);

/** yaml_is_over() - there was an error, and no other is wanted. */
bool yaml_is_over(const struct yaml_file *file);

/** yaml_kept() - @memory that was allocated for the content. NULL: that failed. Return: @memory. */
void *yaml_kept(struct yaml_file *file, void *memory);

/** yaml_line() - where @node begins, from 1; NULL: 1. */
unsigned yaml_line(const yaml_node_t *node);

/** yaml_scalar() - the text of @node, which the document owns; "": it is NULL, a list or a map. */
const char *yaml_scalar(const yaml_node_t *node);

static inline const yaml_node_t *yaml_at(struct yaml_file *file, int item)
{
	return yaml_document_get_node(&file->document, item);
}

#endif
