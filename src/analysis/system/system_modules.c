/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Loaded files of processes, and the functions in them; see system_modules.h.
 *
 * The idea: the trace says which file is at which address, and the file on this machine says which
 * function is at which place in it. The latest file that was loaded around an address has it. A
 * file whose build id is not that of the trace gives no names. Each file is opened once, when the
 * first of its names is asked for.
 */
#include "analysis/system/system_modules.h"

#include <stdlib.h>
#include <string.h>

#include "analysis/symbol/symbol.h"
#include "base/array.h"

/* A file on this machine; several processes may have loaded it. */
struct module_file {
	const char *path;
	struct elf_functions functions;
	struct map names;		/* (address, 0) -> readable name */
	bool is_here;
	bool changed;			/* it differs from the file at the time of the recording */
	struct module_file *next;
};

enum { BIN_INFO, SO_INFO, LIB_LOAD, DL_OPEN, BUILD_IDS, KERNEL = BUILD_IDS + 3 };

#define KERNEL_SPACE (1ull << 63)
#define KERNEL_FILE "[kernel]"
#define KERNEL_MAX 100000u

const struct kymo_ctf_bind modules_bind[MODULES_BINDS] = {
	[BIN_INFO] = { "lttng_ust_statedump:bin_info", { "baddr", "memsz", "path" } },
	/* From LTTng up to 2.7. */
	[SO_INFO] = { "lttng_ust_statedump:soinfo", { "baddr", "size", "sopath" } },
	[LIB_LOAD] = { "lttng_ust_lib:load", { "baddr", "memsz", "path" } },
	[DL_OPEN] = { "lttng_ust_dl:dlopen", { "baddr", "memsz", "path" } },
	[BUILD_IDS] = { "lttng_ust_statedump:build_id", { "baddr", "build_id" } },
	{ "lttng_ust_lib:build_id", { "baddr", "build_id" } },
	{ "lttng_ust_dl:build_id", { "baddr", "build_id" } },
	[KERNEL] = { "kymo_stacks:kernel_function", { "address", "size", "name" } },
};

/* The function at an address, once it was looked for. */
struct module_start {
	uint64_t address; /* 0: a file is there, but not its code */
	bool is_known;    /* in a file or in the kernel */
};

void modules_free(struct modules *modules)
{
	for (struct module_file *file = modules->files, *next; file; file = next) {
		next = file->next;
		map_free_all(&file->names);
		elf_functions_free(&file->functions);
		free(file);
	}
	free(modules->module);
	free(modules->kernel);
	map_free_all(&modules->starts);
	pool_free(&modules->pool);
	*modules = (struct modules){ 0 };
}

/* ---- loaded files ---- */

/* The latest file at @base of a process: addresses are reused after dlclose(). */
static struct module *module_at(const struct modules *modules, const struct kymo_ctf_event *event,
				uint64_t base)
{
	for (uint32_t i = modules->count; i; i--) {
		struct module *module = &modules->module[i - 1];

		if (module->base == base && module->pid == event->vpid &&
		    module->host == event->trace)
			return module;
	}
	return NULL;
}

static struct module *module_new(struct modules *modules)
{
	if (modules->count == MODULES_MAX)
		return NULL;
	if (!ARRAY_ROOM(modules->module, modules->count, modules->room)) {
		modules->failed = true;
		return NULL;
	}
	return &modules->module[modules->count++];
}

static void on_load(struct modules *modules, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct module *module;

	if (!value[0].present || !value[1].present || !value[2].present || !value[2].bytes)
		return;
	module = module_at(modules, event, value[0].u);
	if (module && module->size == value[1].u && strcmp(module->path, value[2].bytes) == 0)
		return;
	module = module_new(modules);
	if (!module)
		return;
	*module = (struct module){ .host = event->trace, .pid = event->vpid, .base = value[0].u,
				   .size = value[1].u };
	module->path = pool_text(&modules->pool, value[2].bytes, strnlen(value[2].bytes, 4096));
	if (!module->path) {
		modules->failed = true;
		modules->count--;
	}
}

static void on_build_id(struct modules *modules, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct module *module = value[0].present ? module_at(modules, event, value[0].u) : NULL;

	if (!module || !value[1].present || !value[1].bytes || !value[1].size ||
	    value[1].size > sizeof(module->build_id))
		return;
	memcpy(module->build_id, value[1].bytes, value[1].size);
	module->build_id_size = value[1].size;
}

/* Return: how many functions are not behind @address. */
static uint32_t kernel_until(const struct modules *modules, uint32_t trace, uint64_t address)
{
	uint32_t low = 0, high = modules->kernel_count;

	while (low < high) {
		const uint32_t middle = low + (high - low) / 2;
		const struct module_kernel *at = &modules->kernel[middle];

		if (at->host < trace || (at->host == trace && at->address <= address))
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* The function of the kernel around @address. NULL: none. */
static const struct module_kernel *kernel_at(const struct modules *modules, uint32_t trace,
					     uint64_t address)
{
	const uint32_t until = kernel_until(modules, trace, address);
	const struct module_kernel *at = until ? &modules->kernel[until - 1] : NULL;

	return at && at->host == trace && address - at->address < at->size ? at : NULL;
}

static void on_kernel(struct modules *modules, const struct kymo_ctf_event *event)
{
	const struct kymo_ctf_value *value = event->value;
	struct module_kernel function = { event->trace, value[0].u, value[1].u, NULL };

	uint32_t at;

	if (!value[0].present || !value[2].present || !value[2].bytes ||
	    modules->kernel_count == KERNEL_MAX)
		return;
	at = kernel_until(modules, function.host, function.address);
	if (at && modules->kernel[at - 1].host == function.host &&
	    modules->kernel[at - 1].address == function.address)
		return; /* each chunk has it */
	function.name = pool_text(&modules->pool, value[2].bytes, strnlen(value[2].bytes, 512));
	if (!function.name ||
	    !ARRAY_ROOM(modules->kernel, modules->kernel_count, modules->kernel_room)) {
		modules->failed = true;
		return;
	}
	memmove(&modules->kernel[at + 1], &modules->kernel[at],
		(modules->kernel_count++ - at) * sizeof(function));
	modules->kernel[at] = function;
}

void modules_event(struct modules *modules, unsigned row, const struct kymo_ctf_event *event)
{
	if (row == KERNEL)
		on_kernel(modules, event);
	else
		(row < BUILD_IDS ? on_load : on_build_id)(modules, event);
	/* What was found before may be another function now. */
	if (row < BUILD_IDS && modules->starts.count)
		map_free_all(&modules->starts);
}

/* ---- names ---- */

static struct module_file *file_of(struct modules *modules, const char *path)
{
	struct module_file *file;
	struct elf elf;

	for (file = modules->files; file; file = file->next)
		if (strcmp(file->path, path) == 0)
			return file;
	file = calloc(1, sizeof(*file));
	if (!file)
		return NULL;
	file->path = path;
	file->next = modules->files;
	modules->files = file;
	/* The path may be relative to the program's directory; [vdso] is part of the kernel. */
	if (strcmp(path, "[vdso]") == 0 ? elf_open_vdso(&elf) :
					  *path != '/' || elf_open(&elf, path, NULL)) {
		modules->missing += *path != '[';
		return file;
	}
	file->is_here = true;
	elf_functions(&elf, &file->functions);
	elf_close(&elf);
	return file;
}

/* Kymo records a fixed number of bytes, with zeros behind a shorter build id. */
static bool is_same(const struct module *module, const struct module_file *file)
{
	const unsigned size = file->functions.build_id_size;

	if (!module->build_id_size)
		return *file->path != '['; /* a kernel's vDSO is not that of another kernel */
	if (!size || module->build_id_size < size ||
	    memcmp(module->build_id, file->functions.build_id, size) != 0)
		return false;
	for (unsigned i = size; i < module->build_id_size; i++)
		if (module->build_id[i])
			return false;
	return true;
}

static const char *readable(struct module_file *file, const struct elf_function *function)
{
	char *name = map_get(&file->names, function->address, 0);

	if (name)
		return name;
	name = symbol_pretty(function->name, strlen(function->name));
	if (name && !map_put(&file->names, function->address, 0, name))
		return name;
	free(name);
	return function->name;
}

/* The latest file at @address, opened if it is on this machine. NULL: none. */
static struct module *module_around(struct modules *modules, uint32_t trace, int32_t pid,
				    uint64_t address)
{
	struct module *module = NULL;

	for (uint32_t i = modules->count; i && !module; i--) {
		struct module *at = &modules->module[i - 1];

		if (at->pid == pid && at->host == trace && address - at->base < at->size)
			module = at;
	}
	if (!module || module->file)
		return module;
	module->file = file_of(modules, module->path);
	if (module->file && module->file->is_here && !module->file->changed &&
	    !is_same(module, module->file)) {
		module->file->changed = true;
		modules->changed++;
	}
	return module;
}

static const struct elf_function *function_in(const struct module *module, uint64_t address)
{
	return module->file && is_same(module, module->file)
		       ? elf_function_at(&module->file->functions,
					 address - module->base + module->file->functions.base)
		       : NULL;
}

const char *modules_name(struct modules *modules, uint32_t trace, int32_t pid, uint64_t address,
			 const char **name_of_file)
{
	const struct module_kernel *of_kernel;
	const struct elf_function *function;
	const struct module *module;

	*name_of_file = address & KERNEL_SPACE ? KERNEL_FILE : NULL;
	if (*name_of_file) {
		of_kernel = kernel_at(modules, trace, address);
		return of_kernel ? of_kernel->name : NULL;
	}
	module = module_around(modules, trace, pid, address);
	if (!module)
		return NULL;
	*name_of_file = strrchr(module->path, '/') ? strrchr(module->path, '/') + 1 : module->path;
	function = function_in(module, address);
	return function ? readable(module->file, function) : NULL;
}

/* Whether its file shows that no code is at @address. */
static bool is_data(const struct module *module, uint64_t address)
{
	const struct elf_functions *functions = &module->file->functions;
	const uint64_t linked = address - module->base + functions->base;

	return module->file->is_here && is_same(module, module->file) && functions->code_end &&
	       (linked < functions->code || linked >= functions->code_end);
}

static struct module_start find_start(struct modules *modules, uint32_t trace, int32_t pid,
				      uint64_t address)
{
	const struct module_kernel *of_kernel;
	const struct elf_function *function;
	const struct module *module;

	if (address & KERNEL_SPACE) {
		of_kernel = kernel_at(modules, trace, address);
		return (struct module_start){ of_kernel ? of_kernel->address : address, true };
	}
	module = module_around(modules, trace, pid, address);
	if (!module || !module->file)
		return (struct module_start){ address, module != NULL };
	if (is_data(module, address))
		return (struct module_start){ 0 };
	function = function_in(module, address);
	if (function)
		address = function->address - module->file->functions.base + module->base;
	return (struct module_start){ address, true };
}

static struct module_start start_of(struct modules *modules, uint32_t trace, int32_t pid,
				    uint64_t address)
{
	const uint64_t process = (uint64_t)trace << 32 | (uint32_t)pid;
	struct module_start *start = map_get(&modules->starts, address, process);

	if (start)
		return *start;
	start = map_at(&modules->starts, address, process, sizeof(*start));
	if (!start)
		return find_start(modules, trace, pid, address);
	*start = find_start(modules, trace, pid, address);
	return *start;
}

uint32_t modules_stack(struct modules *modules, const struct kymo_ctf_event *event, uint64_t kernel,
		       const struct kymo_ctf_value *frames, uint32_t count, uint64_t start[])
{
	uint32_t known = 0; /* up to the outermost one of a program in a file */
	uint64_t address;

	for (uint32_t i = 0; i < count; i++) {
		const bool is_caller = i && i != kernel;
		struct module_start found;

		memcpy(&address, frames->bytes + (size_t)i * sizeof(address), sizeof(address));
		found = start_of(modules, event->trace, event->vpid, address - is_caller);
		if (!found.address && is_caller) {
			count = i;
			break;
		}
		start[i] = found.address ? found.address : address;
		if (found.is_known && i >= kernel)
			known = i + 1;
	}
	return known ? known : count;
}
