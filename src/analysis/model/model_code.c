/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the source of a callback is. While a program registers a callback, kymo records in which
 * file the code of its symbol is, and at which address; of a lambda it knows the file alone. The
 * rest is looked for when somebody asks, in that file on this machine:
 *
 *   a function   address ─────────────────────────────────────▶ line table ▶ file and line
 *   a lambda     symbol ▶ its operator() in the symbol table ─▶ the same
 *
 * The compiler may have inlined operator() into the function that std::function or a timer calls.
 * Then the first line of that function which is not one of a library's header is the lambda's.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/model/model_internal.h"
#include "analysis/symbol/symbol.h"

#define LAMBDA "{lambda("
#define DEBUG_PATH_MAX 256

/* The code of all callbacks of a process with one symbol. */
struct code {
	struct model *model;
	const char *symbol, *file, *build_id;
	uint64_t address;     /* as linked; 0: a lambda */
	const char *location; /* "source.cpp:12"; "": not found; NULL: not looked for */
	struct code *next, *next_looked;
};

/* What was read of the file that was looked into last, and of the one with its debug
 * information. */
struct code_file {
	const char *path, *build_id;
	struct elf_functions functions;
	struct code_lines lines[2];
	bool is_open;
};

static void on_callback_code(struct model *model, const struct now *now)
{
	ARGS(callback_code, now->event);
	const char *symbol = model_word(model, &args->symbol);
	struct code *code;

	if (!args->symbol.present || !args->file.present || model_code_of(now->process, symbol))
		return;
	code = model_alloc(model, sizeof(*code));
	if (!code)
		return;
	*code = (struct code){
		.model = model,
		.symbol = symbol,
		.file = model_word(model, &args->file),
		.build_id = model_word(model, &args->build_id),
		.address = args->address.u,
		.next = now->process->codes,
	};
	now->process->codes = code;
}

struct code *model_code_of(const struct process *process, const char *symbol)
{
	for (struct code *code = process->codes; code; code = code->next)
		if (strcmp(code->symbol, symbol) == 0)
			return code;
	return NULL;
}

/* ---- the file on this machine ---- */

static void file_close(struct code_file *file)
{
	if (!file->is_open)
		return;
	elf_functions_free(&file->functions);
	code_lines_close(&file->lines[0]);
	code_lines_close(&file->lines[1]);
	*file = (struct code_file){ 0 };
}

void model_code_free(struct model *model)
{
	if (model->code_file)
		file_close(model->code_file);
	free(model->code_file);
}

/* Without a build id, nothing says whether a file is the same. */
static bool is_same(const struct elf *elf, const char *build_id)
{
	uint8_t id[ELF_BUILD_ID_MAX];
	char text[2 * ELF_BUILD_ID_MAX + 1] = "";
	const unsigned size = elf_build_id(elf, id);

	for (unsigned i = 0; i < size; i++)
		(void)snprintf(text + 2 * (size_t)i, 3, "%02x", id[i]);
	return size && strcmp(text, build_id) == 0;
}

/* Where distributions install the debug information of a file. Return: false: nowhere. */
static bool debug_path(const char *build_id, char path[DEBUG_PATH_MAX])
{
	const size_t length = strlen(build_id);

	if (length < 4 || length > 2 * ELF_BUILD_ID_MAX ||
	    strspn(build_id, "0123456789abcdef") != length)
		return false;
	(void)snprintf(path, DEBUG_PATH_MAX, "/usr/lib/debug/.build-id/%.2s/%.128s.debug",
		       build_id, build_id + 2);
	return true;
}

/* @elf: the file itself. */
static void read_file(struct code_file *file, const struct elf *elf)
{
	char path[DEBUG_PATH_MAX];
	struct elf debug;

	code_lines_open(&file->lines[0], elf);
	if (!debug_path(file->build_id, path) || elf_open(&debug, path, NULL)) {
		elf_functions(elf, &file->functions);
		return;
	}
	code_lines_open(&file->lines[1], &debug);
	elf_functions(&debug, &file->functions);
	elf_close(&debug);
}

/* Return: false: it is not here, or was built again since. */
static bool file_open(struct code_file *file, const struct code *code)
{
	struct elf elf;

	if (file->is_open && strcmp(file->path, code->file) == 0 &&
	    strcmp(file->build_id, code->build_id) == 0)
		return true;
	file_close(file);
	if (*code->file != '/' || elf_open(&elf, code->file, NULL))
		return false;
	if (elf.readable && is_same(&elf, code->build_id)) {
		file->is_open = true;
		file->path = code->file;
		file->build_id = code->build_id;
		read_file(file, &elf);
	}
	elf_close(&elf);
	return file->is_open;
}

static bool line_at(const struct code_file *file, uint64_t address, uint64_t end,
		    struct code_line *line)
{
	return code_line(&file->lines[0], address, end, line) ||
	       code_line(&file->lines[1], address, end, line);
}

/* ---- the function of a lambda ---- */

/* The code of a function that seldom runs, as that behind a throw: it begins anywhere in it. */
static bool is_cold(const char *symbol)
{
	return strstr(symbol, ".cold") != NULL;
}

/* How well does @function, in C++, fit the lambda? 2: it is its operator(); 1: it contains it. */
static unsigned fits(const char *function, const char *lambda)
{
	const size_t length = strlen(lambda);

	if (strncmp(function, "auto ", 5) == 0) /* of a generic lambda */
		function += 5;
	if (strncmp(function, lambda, length) == 0)
		return strncmp(function + length, "::operator()", 12) == 0 &&
				       !strstr(function + length, LAMBDA)
			       ? 2
			       : 0;
	return strstr(function, lambda) &&
	       (strstr(function, "::_M_invoke(") || strstr(function, "::execute_callback(") ||
		strstr(function, "::call()"));
}

static bool lambda_line(const struct code_file *file, const char *lambda, struct code_line *line)
{
	const struct elf_functions *functions = &file->functions;
	unsigned best = 0;

	for (uint64_t i = 0; i < functions->count && best < 2; i++) {
		const struct elf_function *function = &functions->function[i];
		char *text = strstr(function->name, "Ul") && !is_cold(function->name) ?
				     symbol_demangled(function->name) :
				     NULL;
		const unsigned fit = text ? fits(text, lambda) : 0;

		free(text);
		if (fit <= best)
			continue;
		if (line_at(file, function->address,
			    fit == 2 ? 0 : function->address + function->size, line))
			best = fit;
	}
	return best != 0;
}

static void look(struct code *code)
{
	struct model *model = code->model;
	struct code_line line;
	char text[sizeof(line.file) + 16];
	bool found = false;

	code->location = "";
	code->next_looked = model->looked;
	model->looked = code;
	if (!model->code_file)
		model->code_file = calloc(1, sizeof(*model->code_file));
	if (!model->code_file || !file_open(model->code_file, code))
		return;
	if (code->address)
		found = line_at(model->code_file, code->address, 0, &line);
	else if (strstr(code->symbol, LAMBDA))
		found = lambda_line(model->code_file, code->symbol, &line);
	if (!found)
		return;
	(void)snprintf(text, sizeof(text), "%s:%u", line.file, line.line);
	code->location = model_keep(model, text, strlen(text));
	if (!code->location)
		code->location = "";
}

void model_code_files(const struct model *model, void (*each)(void *context, const char *path),
		      void *context)
{
	char debug[DEBUG_PATH_MAX];

	for (const struct code *code = model->looked; code; code = code->next_looked) {
		if (*code->file != '/')
			continue;
		each(context, code->file);
		if (debug_path(code->build_id, debug))
			each(context, debug);
	}
}

const char *model_callback_location(const struct model_callback *callback)
{
	struct code *code = callback->code;

	if (!code)
		return "";
	if (!code->location)
		look(code);
	return code->location;
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(callback_code),
};

const struct model_part model_code = { .handlers = handlers };
