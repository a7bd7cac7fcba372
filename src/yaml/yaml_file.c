/* SPDX-License-Identifier: Apache-2.0 */
/* See yaml_file.h. */
#include "yaml/yaml_file.h"

#include <stdint.h>
#include <stdlib.h>

#include "base/file.h"

/*
 * Limits of what libyaml gets to read. Its time grows with the square of anchors and tags, and of
 * the depth; and a file of a kilobyte can name a million things, where each of a few lists contains
 * the one before ten times. Files for kymo need little of all that.
 */
#define DEPTH_MAX 64u
#define MARKS_MAX 4096u
#define NAMED_MAX 1000000u /* nodes, where each alias counts as all that it stands for */

unsigned yaml_line(const yaml_node_t *node)
{
	return node ? (unsigned)node->start_mark.line + 1 : 1;
}

/* Return: where the text of the next error goes; NULL: nowhere. */
static struct kymo_err *next_error(struct yaml_file *file)
{
	struct yaml_errors *all = file->all;

	if (all && all->count < YAML_ERRORS_MAX)
		return &all->err[all->count];
	return all || file->failed ? NULL : file->err;
}

void yaml_wrong(struct yaml_file *file, const yaml_node_t *node, const char *what)
{
	(void)err_set(next_error(file), KYMO_EXIT_INPUT, "%s:%u: %s%s%s", file->path, yaml_line(node), what,
		      file->remedy ? "; " : "", file->remedy ? file->remedy : "");
	if (file->all) {
		if (!file->failed && file->err)
			*file->err = file->all->err[0];
		file->all->count++;
	}
	file->failed = true;
}

bool yaml_is_over(const struct yaml_file *file)
{
	return file->failed && (!file->all || file->broken || file->all->count > YAML_ERRORS_MAX);
}

void *yaml_kept(struct yaml_file *file, void *memory)
{
	if (!memory && !yaml_is_over(file))
		(void)err_no_memory(file->err);
	file->failed |= !memory;
	file->broken |= !memory;
	return memory;
}

const char *yaml_scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

/* ---- limits ---- */

struct marks {
	unsigned depth, count;
};

static bool is_within(struct marks *marks, const yaml_token_t *token)
{
	switch (token->type) {
	case YAML_BLOCK_SEQUENCE_START_TOKEN:
	case YAML_BLOCK_MAPPING_START_TOKEN:
	case YAML_FLOW_SEQUENCE_START_TOKEN:
	case YAML_FLOW_MAPPING_START_TOKEN:
		return ++marks->depth <= DEPTH_MAX;
	case YAML_BLOCK_END_TOKEN:
	case YAML_FLOW_SEQUENCE_END_TOKEN:
	case YAML_FLOW_MAPPING_END_TOKEN:
		marks->depth -= marks->depth > 0;
		return true;
	case YAML_ANCHOR_TOKEN:
	case YAML_ALIAS_TOKEN:
	case YAML_TAG_DIRECTIVE_TOKEN:
		return ++marks->count <= MARKS_MAX;
	default:
		return true;
	}
}

/*
 * Before the parser reads the text, in time that grows with its size. What the scanner refuses, the
 * parser refuses, too.
 */
static int check_text(struct yaml_file *file, const char *text, size_t size)
{
	struct marks marks = { 0, 0 };
	yaml_parser_t scanner;
	yaml_token_t token;
	bool within = true, ends = false;
	size_t line = 0;

	if (!yaml_parser_initialize(&scanner))
		return err_no_memory(file->err);
	yaml_parser_set_input_string(&scanner, (const unsigned char *)text, size);
	while (within && !ends && yaml_parser_scan(&scanner, &token)) {
		within = is_within(&marks, &token);
		ends = token.type == YAML_STREAM_END_TOKEN;
		line = token.start_mark.line;
		yaml_token_delete(&token);
	}
	yaml_parser_delete(&scanner);
	if (within)
		return 0;
	return err_set(file->err, KYMO_EXIT_INPUT, "%s:%zu: more than %u %s", file->path, line + 1,
		       marks.depth > DEPTH_MAX ? DEPTH_MAX : MARKS_MAX,
		       marks.depth > DEPTH_MAX ? "levels: write it flatter" : "anchors, aliases and tags: write what they stand for");
}

/*
 * How many nodes item @number is, with all below it. @sizes: of the items that are known; 0: not
 * known. Return: 0: an alias stands for a list that it is in, or there is no end near.
 */
static uint64_t count_nodes(struct yaml_file *file, uint64_t *sizes, int number, unsigned depth)
{
	const yaml_node_t *node = yaml_at(file, number);
	uint64_t sum = 1, some = 1;

	if (!node || sizes[number - 1])
		return node ? sizes[number - 1] : 1;
	if (depth == 0)
		return 0;
	if (node->type == YAML_SEQUENCE_NODE) {
		for (const yaml_node_item_t *i = node->data.sequence.items.start;
		     some && i < node->data.sequence.items.top; i++) {
			some = count_nodes(file, sizes, *i, depth - 1);
			sum += some;
		}
	} else if (node->type == YAML_MAPPING_NODE) {
		for (const yaml_node_pair_t *i = node->data.mapping.pairs.start;
		     some && i < node->data.mapping.pairs.top; i++) {
			const uint64_t key = count_nodes(file, sizes, i->key, depth - 1);

			some = key ? count_nodes(file, sizes, i->value, depth - 1) : 0;
			sum += key + some;
		}
	}
	if (some)
		sizes[number - 1] = sum < UINT32_MAX ? sum : UINT32_MAX;
	return some ? sizes[number - 1] : 0;
}

static int check_document(struct yaml_file *file)
{
	const size_t count = (size_t)(file->document.nodes.top - file->document.nodes.start);
	uint64_t *sizes = calloc(count + 1, sizeof(*sizes)), whole;

	if (!sizes)
		return err_no_memory(file->err);
	whole = count ? count_nodes(file, sizes, 1, 2 * DEPTH_MAX) : 1;
	free(sizes);
	if (!whole)
		return err_set(file->err, KYMO_EXIT_INPUT, "%s: an alias stands for a list that it is in: write what it stands for", file->path);
	if (whole > count && whole > NAMED_MAX)
		return err_set(file->err, KYMO_EXIT_INPUT, "%s: its aliases stand for more than %u values: write fewer", file->path, NAMED_MAX);
	return 0;
}

/* ---- the file ---- */

static int parse(struct yaml_file *file, const char *text, size_t size)
{
	yaml_parser_t parser;
	int loaded;

	if (!yaml_parser_initialize(&parser))
		return err_no_memory(file->err);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, size);
	loaded = yaml_parser_load(&parser, &file->document);
	if (!loaded)
		(void)err_set(file->err, KYMO_EXIT_INPUT, "%s:%zu: not YAML: %s", file->path,
			      parser.problem_mark.line + 1, parser.problem ? parser.problem : "broken");
	yaml_parser_delete(&parser);
	return loaded ? 0 : -1;
}

int yaml_file_load(struct yaml_file *file, size_t most)
{
	char *text;
	size_t size;
	int status = file_load(file->path, most, &text, &size, file->err);

	if (status == 0) {
		status = check_text(file, text, size) || parse(file, text, size) ? -1 : 0;
		free(text);
	}
	if (status == 0 && check_document(file)) {
		yaml_document_delete(&file->document);
		status = -1;
	}
	file->failed = file->broken = status != 0;
	return status;
}
