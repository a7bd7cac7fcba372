/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The loader's search, in its order: DT_RPATH of the user and of its users (unless the user has a
 * DT_RUNPATH), LD_LIBRARY_PATH, DT_RUNPATH of the user, the directories of /etc/ld.so.conf, the
 * built-in ones. Instead of the loader's cache the configuration behind it is read; they differ
 * only until the next ldconfig.
 */
#include "recorder/doctor/doctor_internal.h"

#include <ctype.h>
#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"

#define CONF_DEPTH_MAX 8

#if defined(__aarch64__)
#define MULTIARCH "aarch64-linux-gnu"
#else
#define MULTIARCH "x86_64-linux-gnu"
#endif

static const char *const built_in[] = {
	"/lib/" MULTIARCH, "/usr/lib/" MULTIARCH, "/lib64", "/usr/lib64", "/lib", "/usr/lib",
};

static void add_system_dir(struct libraries *l, const char *path)
{
	char *copy = l->system_dir_count < SYSTEM_DIRS_MAX ? strdup(path) : NULL;

	if (copy)
		l->system_dirs[l->system_dir_count++] = copy;
}

static void read_conf(struct libraries *l, const char *path, unsigned depth)
{
	char line[PATH_MAX];
	FILE *file = depth < CONF_DEPTH_MAX ? fopen(path, "re") : NULL;

	while (file && fgets(line, sizeof line, file)) {
		char *at = line + strspn(line, " \t");
		glob_t found;

		at[strcspn(at, "#\r\n")] = 0;
		for (size_t end = strlen(at); end && isspace((unsigned char)at[end - 1]);)
			at[--end] = 0;
		if (*at == '/') {
			add_system_dir(l, at);
		} else if (!strncmp(at, "include", 7) && isspace((unsigned char)at[7]) &&
			   !glob(at + 7 + strspn(at + 7, " \t"), 0, NULL, &found)) {
			for (size_t i = 0; i < found.gl_pathc; i++)
				read_conf(l, found.gl_pathv[i], depth + 1);
			globfree(&found);
		}
	}
	if (file)
		fclose(file);
}

/* One directory of a search path, $ORIGIN and $LIB replaced. false: it does not fit. */
static bool expand(char out[PATH_MAX], const char *dir, size_t length, const char *user_path)
{
	char origin[PATH_MAX];
	size_t used = 0;

	if (!realpath(user_path, origin))
		return false;
	*strrchr(origin, '/') = 0;
	for (size_t i = 0; i < length;) {
		static const struct {
			const char *token;
			bool is_origin;
		} tokens[] = { { "$ORIGIN", true }, { "${ORIGIN}", true },
			       { "$LIB", false }, { "${LIB}", false } };
		const char *put = NULL;
		size_t step = 1, put_length = 1;

		for (size_t k = 0; k < COUNT_OF(tokens) && !put; k++) {
			step = strlen(tokens[k].token);
			if (step <= length - i && !memcmp(dir + i, tokens[k].token, step))
				put = tokens[k].is_origin ? origin : "lib/" MULTIARCH;
		}
		if (put)
			put_length = strlen(put);
		else
			step = 1;
		if (used + put_length >= PATH_MAX)
			return false;
		memcpy(out + used, put ? put : dir + i, put_length);
		used += put_length;
		i += step;
	}
	out[used] = 0;
	return true;
}

/* Does @dir hold a library @name that this machine can load? Then *path is its path. */
static bool try_directory(const char *dir, const char *name, unsigned machine, char **path)
{
	char candidate[PATH_MAX];
	struct elf elf;
	int length = snprintf(candidate, sizeof candidate, "%s/%s", *dir ? dir : ".", name);
	bool fits;

	if (length < 0 || (size_t)length >= sizeof candidate || access(candidate, R_OK) ||
	    elf_open(&elf, candidate, NULL))
		return false;
	fits = elf.readable && elf.machine == machine;	/* the loader passes by others as well */
	elf_close(&elf);
	if (fits)
		*path = strdup(candidate);
	return fits && *path;
}

static bool try_list(const char *list, const char *separators, const char *user_path,
		     const char *name, unsigned machine, char **path)
{
	while (list && *list) {
		size_t length = strcspn(list, separators);
		char dir[PATH_MAX];

		if (expand(dir, list, length, user_path) && try_directory(dir, name, machine, path))
			return true;
		list += length + (list[length] != 0);
	}
	return false;
}

static char *find_library(struct libraries *l, unsigned user, const char *name)
{
	const struct library *by = &l->item[user];
	unsigned machine = l->item[0].elf.machine;
	char *path = NULL;

	if (strchr(name, '/'))
		return access(name, R_OK) ? NULL : strdup(name);
	for (unsigned i = user; !elf_dynamic(&by->elf, DT_RUNPATH, 0); i = l->item[i].user) {
		if (try_list(elf_dynamic(&l->item[i].elf, DT_RPATH, 0), ":", l->item[i].path, name,
			     machine, &path))
			return path;
		if (!i)
			break;
	}
	if (try_list(getenv("LD_LIBRARY_PATH"), ":;", by->path, name, machine, &path) ||
	    try_list(elf_dynamic(&by->elf, DT_RUNPATH, 0), ":", by->path, name, machine, &path))
		return path;
	for (unsigned i = 0; i < l->system_dir_count; i++) {
		if (try_directory(l->system_dirs[i], name, machine, &path))
			return path;
	}
	return NULL;
}

static bool is_known(const struct libraries *l, const char *name)
{
	for (unsigned i = 0; i < l->count; i++) {
		const char *soname = elf_dynamic(&l->item[i].elf, DT_SONAME, 0);

		if (!strcmp(l->item[i].name, name) || (soname && !strcmp(soname, name)))
			return true;
	}
	return false;
}

static void add_needed(struct libraries *l, unsigned user)
{
	const char *name;

	for (unsigned n = 0; (name = elf_dynamic(&l->item[user].elf, DT_NEEDED, n)); n++) {
		struct library *item = &l->item[l->count];

		if (!*name || l->count >= LIBRARIES_MAX || is_known(l, name))
			continue;
		*item = (struct library){ .name = strdup(name), .path = find_library(l, user, name),
					  .user = user, .elf.fd = -1 };
		if (!item->name) {
			free(item->path);
			return;
		}
		if (item->path && elf_open(&item->elf, item->path, NULL))
			item->elf = (struct elf){ .fd = -1 };
		/* Hundreds of files would be open at once; all that is asked for later is in
		 * memory. */
		if (item->elf.fd >= 0 && strncmp(name, "libtracetools", 13)) {
			(void)close(item->elf.fd);
			item->elf.fd = -1;
			item->elf.size = 0;
		}
		l->count++;
	}
}

int libraries_open(struct libraries **libraries, const char *path, struct kymo_err *err)
{
	struct libraries *l = calloc(1, sizeof *l);
	struct library *program;
	int kind;

	if (!l)
		return err_no_memory(err);
	program = &l->item[0];
	l->count = 1;
	kind = elf_open(&program->elf, path, err);
	if (kind)
		program->elf.fd = -1;
	program->path = strdup(path);
	program->name = strdup(path);
	if (kind || !program->path || !program->name) {
		libraries_close(l);
		return kind < 0 ? -1 : err_set(err, KYMO_EXIT_INPUT, "%s is no program", path);
	}
	read_conf(l, "/etc/ld.so.conf", 0);
	for (size_t i = 0; i < COUNT_OF(built_in); i++)
		add_system_dir(l, built_in[i]);
	for (unsigned i = 0; i < l->count; i++)
		add_needed(l, i);
	*libraries = l;
	return 0;
}

void libraries_close(struct libraries *l)
{
	if (!l)
		return;
	for (unsigned i = 0; i < l->count; i++) {
		elf_close(&l->item[i].elf);
		free(l->item[i].path);
		free(l->item[i].name);
	}
	for (unsigned i = 0; i < l->system_dir_count; i++)
		free(l->system_dirs[i]);
	free(l);
}
