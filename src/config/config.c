/* SPDX-License-Identifier: Apache-2.0 */
/* Keys and values of kymo.yaml; see config.h. */
#include "config/config_internal.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/file.h"
#include "base/text.h"

const struct config_key config_key[CONFIG_KEYS] = {
#define CONFIG(key, kind, member, preset, meaning) \
	{ key, KIND_##kind, offsetof(struct config, member), preset, meaning },
#include "config/config.def"
};

const struct config_key *config_find(const char *key)
{
	for (unsigned i = 0; i < CONFIG_KEYS; i++)
		if (!strcmp(config_key[i].key, key))
			return &config_key[i];
	return NULL;
}

/* ---- values ---- */

static void *place(struct config *config, const struct config_key *key)
{
	return (char *)config + key->offset;
}

static int put_text(struct config *config, const struct config_key *key, const char *value,
		    struct kymo_err *err)
{
	const char *copy = pool_text(&config->pool, value, strlen(value));

	if (!copy)
		return err_no_memory(err);
	*(const char **)place(config, key) = copy;
	return 0;
}

static int put_url(struct config *config, const struct config_key *key, const char *value,
		   struct kymo_err *err)
{
	const char *host = strstr(value, "://");

	if (*value && (!host || (strncmp(value, "http://", 7) && strncmp(value, "https://", 8)) ||
		       strchr(":/?#", host[3]))) /* or its end */
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: expected an address such as https://HOST:PORT, not '%.100s'",
			       key->key, value);
	if (url_has_user(value))
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: the address contains a user or a password, which everybody "
			       "could read; put the secret into a file",
			       key->key);
	if (strpbrk(value, " \t\r\n"))
		return err_set(err, KYMO_EXIT_INPUT, "%s: an address has no blanks", key->key);
	return put_text(config, key, value, err);
}

/* Is one of the parts of @path "." or ".."? */
static bool has_dots(const char *path)
{
	for (; *path; path += strcspn(path, "/"), path += *path == '/') {
		const size_t length = strcspn(path, "/");

		if ((length == 1 && path[0] == '.') ||
		    (length == 2 && path[0] == '.' && path[1] == '.'))
			return true;
	}
	return false;
}

/* A bucket's path is percent-encoded when it is sent. */
static int put_place(struct config *config, const struct config_key *key, const char *value,
		     struct kymo_err *err)
{
	const bool is_s3 = !strncmp(value, "s3+http://", 10) || !strncmp(value, "s3+https://", 11);
	const char *host = strstr(value, "://") ? strstr(value, "://") + 3 : value,
		   *path = host + strcspn(host, "/");
	bool hidden = false;

	if (!*value)
		return put_text(config, key, value, err);
	if (is_s3 ? path == host : strncmp(value, "file:///", 8) != 0)
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s: expected s3+https://HOST/BUCKET/PREFIX or file:///DIR, not '%.100s'",
			key->key, value);
	if (memchr(host, '@', (size_t)(path - host)))
		return err_set(
			err, KYMO_EXIT_INPUT,
			"%s: the address contains a user or a password, which everybody could read; put the access "
			"key into a file, and name the file in upload.credentials-file",
			key->key);
	for (const char *c = value; *c; c++)
		hidden |= (unsigned char)*c < ' ' || *c == 127;
	if (hidden || (is_s3 && strpbrk(value, " %?#")))
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: the address has a blank or one of the characters %%, ? and #",
			       key->key);
	if (has_dots(path))
		return err_set(err, KYMO_EXIT_INPUT, "%s: write the path without '.' and '..'",
			       key->key);
	return put_text(config, key, value, err);
}

/* Return: the number of @value among the choices "a|b"; -1: it is none of them. */
static int choice_of(const char *choices, const char *value)
{
	const size_t length = strlen(value);

	for (int number = 0;; number++) {
		const size_t word = strcspn(choices, "|");

		if (word == length && !memcmp(choices, value, word))
			return number;
		if (!choices[word])
			return -1;
		choices += word + 1;
	}
}

int config_put(struct config *config, const struct config_key *key, const char *value,
	       struct kymo_err *err)
{
	void *at = place(config, key);
	int64_t ns = 0;

	switch (key->kind) {
	case KIND_TEXT:
	case KIND_FILE:
		return put_text(config, key, value, err);
	case KIND_URL:
		return put_url(config, key, value, err);
	case KIND_PLACE:
		return put_place(config, key, value, err);
	case KIND_TIME:
		if (!text_read_time(value, &ns) || ns < 0 ||
		    (ns == 0 && strcmp(key->preset, "0s") != 0))
			return err_set(err, KYMO_EXIT_INPUT,
				       "%s: expected a time such as 10s, not '%.100s'", key->key,
				       value);
		*(int64_t *)at = ns;
		return 0;
	case KIND_SIZE:
		if (text_read_size(value, at))
			return 0;
		return err_set(err, KYMO_EXIT_INPUT,
			       "%s: expected a size such as 64M, not '%.100s'", key->key, value);
	case KIND_COUNT:
		if (text_read_u64(value, at))
			return 0;
		return err_set(err, KYMO_EXIT_INPUT, "%s: expected a number, not '%.100s'",
			       key->key, value);
	default:
		*(int *)at = choice_of(key->preset, value);
		if (*(int *)at >= 0)
			return 0;
		return err_set(err, KYMO_EXIT_INPUT, "%s: expected %s, not '%.100s'", key->key,
			       key->preset, value);
	}
}

int config_presets(struct config *config, struct kymo_err *err)
{
	char first[64];

	for (unsigned i = 0; i < CONFIG_KEYS; i++) {
		const char *preset = config_key[i].preset;

		if (config_key[i].kind == KIND_CHOICE) {
			snprintf(first, sizeof(first), "%.*s", (int)strcspn(preset, "|"), preset);
			preset = first;
		}
		if (config_put(config, &config_key[i], preset, err))
			return -1;
	}
	return 0;
}

int config_set(struct config *config, const char *key, const char *value, struct kymo_err *err)
{
	if (!config_put(config, config_find(key), value, err))
		return 0;
	err->status = KYMO_EXIT_USAGE;
	return -1;
}

bool config_is_set(const struct config *config, const char *key)
{
	return config_line(config, key) != 0;
}

unsigned config_line(const struct config *config, const char *key)
{
	return config->line[config_find(key) - config_key];
}

/* As people write it: 64M, if it is so many whole ones. */
static void size_text(char *out, size_t size, uint64_t bytes)
{
	static const char unit[] = "KMG";
	unsigned at = 0;

	for (; bytes && bytes % 1024 == 0 && at < sizeof(unit) - 1; at++)
		bytes /= 1024;
	snprintf(out, size, "%" PRIu64 "%.*s", bytes, at ? 1 : 0, at ? &unit[at - 1] : "");
}

static const char *as_text(const struct config *config, const struct config_key *key, char *out,
			   size_t size)
{
	const void *at = (const char *)config + key->offset;
	const char *choice = key->preset;

	switch (key->kind) {
	case KIND_TEXT:
	case KIND_FILE:
	case KIND_URL:
	case KIND_PLACE:
		return *(const char *const *)at;
	case KIND_TIME:
		snprintf(out, size, "%.12gs", (double)*(const int64_t *)at / 1e9);
		return out;
	case KIND_SIZE:
		size_text(out, size, *(const uint64_t *)at);
		return out;
	case KIND_COUNT:
		snprintf(out, size, "%" PRIu64, *(const uint64_t *)at);
		return out;
	default:
		for (int i = 0; i < *(const int *)at; i++)
			choice += strcspn(choice, "|") + 1;
		snprintf(out, size, "%.*s", (int)strcspn(choice, "|"), choice);
		return out;
	}
}

/* ---- all keys ---- */

/* Return: 0: @key names no file, or one that can be read; -1 with @err. */
static int try_file(const struct config *config, const struct config_key *key, struct kymo_err *err)
{
	char unused[64];
	const char *path = as_text(config, key, unused, sizeof(unused));
	int fd;

	if (key->kind != KIND_FILE || !*path)
		return 0;
	fd = file_open(path);
	if (fd < 0)
		return err_set(err, KYMO_EXIT_INPUT, "%s:%u: %s: cannot read %s: %s", config->path,
			       config->line[key - config_key], key->key, path, file_why(fd));
	(void)close(fd);
	return 0;
}

unsigned config_files(const struct config *config,
		      void (*wrong)(void *context, const struct kymo_err *err), void *context)
{
	struct kymo_err err;
	unsigned wrongs = 0;

	for (unsigned i = 0; i < CONFIG_KEYS; i++) {
		if (!try_file(config, &config_key[i], &err))
			continue;
		wrong(context, &err);
		wrongs++;
	}
	return wrongs;
}

bool config_can_read(const struct config *config, const char *key)
{
	struct kymo_err unused;

	return !try_file(config, config_find(key), &unused);
}

void config_each(const struct config *config,
		 void (*take)(void *context, const char *key, const char *value, unsigned line,
			      const char *meaning),
		 void *context)
{
	char text[64], name[CONFIG_VALUE_MAX + 16];

	for (unsigned i = 0; i < CONFIG_KEYS; i++)
		take(context, config_key[i].key,
		     as_text(config, &config_key[i], text, sizeof(text)), config->line[i],
		     config_key[i].meaning);
	for (unsigned i = 0; i < config->labels; i++) {
		snprintf(name, sizeof(name), "labels.%s", config->label[i].name);
		take(context, name, config->label[i].value, config->label[i].line,
		     "a label of this robot");
	}
}

void config_free(struct config *config)
{
	if (!config)
		return;
	pool_free(&config->pool);
	free(config);
}
