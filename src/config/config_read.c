/* SPDX-License-Identifier: Apache-2.0 */
/* Reads kymo.yaml; see config.h. The file is not trusted. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_text.h"
#include "base/text.h"
#include "config/config_internal.h"
#include "yaml/yaml_file.h"

#define FILE_MAX (1 << 20)
#define KEY_MAX 128u

struct reading {
	struct config *to;
	struct yaml_file yaml;
};

static const char *text_of(const yaml_node_t *node)
{
	if (!node || node->type != YAML_SCALAR_NODE)
		return NULL;
	return (const char *)node->data.scalar.value;
}

/* ---- unknown keys ---- */

/* Is @key of @section ("": of none), and what is its name there? Return: NULL: it is not. */
static const char *name_in(const char *key, const char *section)
{
	const size_t length = strlen(section);

	if (!length)
		return key;
	return !strncmp(key, section, length) && key[length] == '.' ? key + length + 1 : NULL;
}

static bool is_section(const char *name)
{
	for (unsigned i = 0; i < CONFIG_KEYS; i++)
		if (strchr(config_key[i].key, '.') && name_in(config_key[i].key, name))
			return true;
	return false;
}

static void unknown(struct reading *r, const yaml_node_t *node, const char *section,
		    const char *name)
{
	struct text_nearest nearest = { 0 };
	char sections[CONFIG_KEYS][KEY_MAX], text[512];

	for (unsigned i = 0; i < CONFIG_KEYS; i++) {
		const char *key = name_in(config_key[i].key, section);

		snprintf(sections[i], KEY_MAX, "%.*s", key ? (int)strcspn(key, ".") : 0,
			 key ? key : "");
		if (*sections[i])
			text_nearest_try(&nearest, name, sections[i]);
	}
	if (!*section)
		text_nearest_try(&nearest, name, "labels");
	snprintf(text, sizeof(text), "unknown key '%.100s%s%.100s'%s%s%s%s%s", section,
		 *section ? "." : "", name, nearest.name ? "; did you mean '" : "; `kymo config show` lists all",
		 nearest.name ? section : "", nearest.name && *section ? "." : "",
		 nearest.name ? nearest.name : "", nearest.name ? "'?" : "");
	yaml_wrong(&r->yaml, node, text);
}

/* ---- keys ---- */

static void read_value(struct reading *r, const yaml_node_t *key_node, const char *name,
		       const yaml_node_t *node)
{
	const struct config_key *key = config_find(name);
	const char *value = text_of(node);
	char text[256];
	struct kymo_err why;

	if (!value || (!*value && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE)) {
		snprintf(text, sizeof(text), "%s: expected one value", name);
		yaml_wrong(&r->yaml, key_node, text);
	} else if (r->to->line[key - config_key]) {
		snprintf(text, sizeof(text), "%s: set twice, first in line %u", name,
			 r->to->line[key - config_key]);
		yaml_wrong(&r->yaml, key_node, text);
	} else if (config_put(r->to, key, value, &why)) {
		yaml_wrong(&r->yaml, node, why.text);
	}
	r->to->line[key - config_key] = yaml_line(key_node);
}

static bool is_label(const char *name)
{
	if (!isalpha((unsigned char)*name) && *name != '_')
		return false;
	for (const char *c = name; *c; c++)
		if (!isalnum((unsigned char)*c) && *c != '_')
			return false;
	return strlen(name) < 64 && strcmp(name, "robot") && strcmp(name, "boot") &&
	       strcmp(name, "software");
}

static void read_label(struct reading *r, const yaml_node_t *key, const char *name,
		       const yaml_node_t *node)
{
	struct config *to = r->to;
	const char *value = text_of(node);
	struct config_label *label;
	bool is_twice = false;

	for (unsigned i = 0; i < to->labels; i++)
		is_twice |= !strcmp(to->label[i].name, name);
	if (is_twice) {
		yaml_wrong(&r->yaml, key, "a label is set twice");
		return;
	}
	if (!is_label(name)) {
		yaml_wrong(&r->yaml, key,
			   "the name of a label has letters, digits and '_', begins with a letter, and is "
			   "not robot, boot or software");
		return;
	}
	if (!value || !*value || strlen(value) > CONFIG_VALUE_MAX || !text_is_utf8(value)) {
		yaml_wrong(&r->yaml, node, "the value of a label is a text of up to 256 bytes");
		return;
	}
	if (to->labels == CONFIG_LABELS_MAX) {
		yaml_wrong(&r->yaml, key, "too many labels: a robot has up to 16");
		return;
	}
	label = &to->label[to->labels];
	label->name = pool_text(&to->pool, name, strlen(name));
	label->value = pool_text(&to->pool, value, strlen(value));
	label->line = yaml_line(key);
	to->labels++;
}

static void read_map(struct reading *r, const yaml_node_t *map, const char *section)
{
	for (yaml_node_pair_t *pair = map->data.mapping.pairs.start;
	     pair < map->data.mapping.pairs.top && !yaml_is_over(&r->yaml); pair++) {
		const yaml_node_t *key = yaml_at(&r->yaml, pair->key);
		const yaml_node_t *value = yaml_at(&r->yaml, pair->value);
		const char *name = text_of(key) ? text_of(key) : "";
		char full[KEY_MAX];

		snprintf(full, sizeof(full), "%s%s%.90s", section, *section ? "." : "", name);
		if (!strcmp(section, "labels"))
			read_label(r, key, name, value);
		else if (config_find(full))
			read_value(r, key, full, value);
		else if (*section || (strcmp(name, "labels") && !is_section(name)))
			unknown(r, key, section, name);
		else if (!value || value->type != YAML_MAPPING_NODE)
			yaml_wrong(&r->yaml, key, "expected keys below this one");
		else
			read_map(r, value, name);
	}
}

/* ---- the file ---- */

static void read_document(struct reading *r)
{
	const yaml_node_t *root = yaml_document_get_root_node(&r->yaml.document);

	if (!root)
		return; /* an empty file */
	if (root->type == YAML_MAPPING_NODE)
		read_map(r, root, "");
	else
		yaml_wrong(&r->yaml, root, "expected keys, such as 'robot: r2d2'");
}

static int read_file(struct config *config, struct yaml_errors *all, struct kymo_err *err)
{
	struct reading r = { .to = config,
			     .yaml = { .path = config->path, .err = err, .all = all } };

	if (yaml_file_load(&r.yaml, FILE_MAX))
		return -1;
	read_document(&r);
	yaml_document_delete(&r.yaml.document);
	return r.yaml.failed ? -1 : 0;
}

/* Return: the path of the file that exists; "": there is none. */
static const char *find_file(struct config *config)
{
	const char *named = getenv("KYMO_CONFIG"), *base = getenv("XDG_CONFIG_HOME"),
		   *home = getenv("HOME");
	char path[4096] = "";

	if (named)
		return named;
	if (base && *base == '/')
		snprintf(path, sizeof(path), "%s/kymo/kymo.yaml", base);
	else if (home && *home == '/')
		snprintf(path, sizeof(path), "%s/.config/kymo/kymo.yaml", home);
	if (*path && !access(path, F_OK)) {
		const char *copy = pool_text(&config->pool, path, strlen(path));

		return copy ? copy : "";
	}
	return access(CONFIG_SYSTEM, F_OK) ? "" : CONFIG_SYSTEM;
}

/* ---- what the machine is called, and its labels as JSON ---- */

static int name_machine(struct config *config, struct kymo_err *err)
{
	char host[256] = "", boot[64] = "";
	FILE *file = *config->boot ? NULL : fopen("/proc/sys/kernel/random/boot_id", "re");

	if (file) {
		if (fgets(boot, sizeof(boot), file))
			boot[strcspn(boot, "\n")] = 0;
		(void)fclose(file);
	}
	(void)gethostname(host, sizeof(host) - 1);
	if (!*config->robot && config_put(config, config_find("robot"), *host ? host : "unknown", err))
		return -1;
	if (!*config->boot && config_put(config, config_find("boot"), *boot ? boot : "unknown", err))
		return -1;
	return 0;
}

static int write_labels(struct config *config, struct kymo_err *err)
{
	struct json_text json = { .one_line = true };

	config->labels_json = "";
	if (!config->labels)
		return 0;
	json_text_open(&json, NULL, '{');
	for (unsigned i = 0; i < config->labels; i++)
		json_text_string(&json, config->label[i].name, config->label[i].value);
	json_text_close(&json, '}');
	if (!json.failed)
		config->labels_json = pool_text(&config->pool, json.text, json.size);
	free(json.text);
	return config->labels_json && !json.failed ? 0 : err_no_memory(err);
}

static int read_whole(struct config **out, const char *path, struct yaml_errors *all,
		      struct kymo_err *err)
{
	struct config *config = calloc(1, sizeof(*config));

	if (!config)
		return err_no_memory(err);
	config->path = path ? path : find_file(config);
	if (config_presets(config, err) || (*config->path && read_file(config, all, err)) ||
	    name_machine(config, err) || write_labels(config, err)) {
		config_free(config);
		return -1;
	}
	*out = config;
	return 0;
}

int config_read(struct config **out, const char *path, struct kymo_err *err)
{
	return read_whole(out, path, NULL, err);
}

int config_check(struct config **out, const char *path,
		 void (*wrong)(void *context, const struct kymo_err *err), void *context,
		 struct kymo_err *err)
{
	struct yaml_errors all = { 0 };
	const int status = read_whole(out, path, &all, err);

	for (unsigned i = 0; i < all.count && i < YAML_ERRORS_MAX; i++)
		wrong(context, &all.err[i]);
	if (all.count > YAML_ERRORS_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "the file has more errors than the %u above", YAML_ERRORS_MAX);
	if (status && all.count && err->status == KYMO_EXIT_INPUT)
		err->text[0] = 0;	/* all is said */
	return status;
}
