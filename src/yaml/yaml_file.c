/* SPDX-License-Identifier: Apache-2.0 */
/* See yaml_file.h. */
#include "yaml/yaml_file.h"

#include <stdlib.h>

#include "base/file.h"

unsigned yaml_line(const yaml_node_t *node)
{
	return node ? (unsigned)node->start_mark.line + 1 : 1;
}

void yaml_wrong(struct yaml_file *file, const yaml_node_t *node, const char *what)
{
	if (!file->failed)
		(void)err_set(file->err, KYMO_EXIT_INPUT, "%s:%u: %s%s%s", file->path, yaml_line(node), what,
			      file->remedy ? "; " : "", file->remedy ? file->remedy : "");
	file->failed = true;
}

void *yaml_kept(struct yaml_file *file, void *memory)
{
	if (!memory && !file->failed)
		(void)err_no_memory(file->err);
	file->failed |= !memory;
	return memory;
}

const char *yaml_scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

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
		status = parse(file, text, size);
		free(text);
	}
	file->failed = status != 0;
	return status;
}
