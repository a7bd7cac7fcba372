/* SPDX-License-Identifier: Apache-2.0 */
/* kymo config: the configuration file of a robot. */
#include <stdio.h>
#include <string.h>

#include "base/array.h"
#include "base/text.h"
#include "cli/common/common.h"
#include "config/config.h"
#include "fleet/push/push.h"
#include "fleet/upload/upload.h"
#include "serve/serve_rules.h"

struct options {
	int format;
};

static const struct opt opts[] = {
	CLI_OPT_FORMAT(struct options),
	CLI_OPT_END,
};

static void show_key(void *context, const char *key, const char *value, unsigned line,
		     const char *meaning)
{
	struct table *table = context;
	char from[64] = "default";

	if (line)
		snprintf(from, sizeof(from), "line %u", line);
	table_text(table, key);
	table_text(table, value);
	table_text(table, from);
	table_text(table, meaning);
}

static int show(const struct options *options, const struct config *config)
{
	static const struct table_column columns[] = {
		{ "key", "KEY" }, { "value", "VALUE" }, { "from", "FROM" }, { "meaning", "MEANING" }
	};
	struct table *table;

	if (cli_table("config", options->format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "config", *config->path ? config->path : NULL, columns,
		      COUNT_OF(columns));
	config_each(config, show_key, table);
	return cli_close("config", table, KYMO_EXIT_OK);
}

static void show_wrong(void *context, const struct kymo_err *err)
{
	(void)context;
	(void)cli_fail("config", err);
}

/* @context: the configuration. A file that cannot be read was shown by config_files(). */
static void show_wrong_key(void *context, const char *key, const struct kymo_err *err)
{
	const struct config *config = context;
	const unsigned line = config_line(config, key);
	struct kymo_err with_place;

	if (!config_can_read(config, key))
		return;
	/* No line: a variable of the environment sets it. */
	if (line)
		(void)err_set(&with_place, KYMO_EXIT_INPUT, "%s:%u: %s", config->path, line,
			      err->text);
	(void)cli_fail("config", line ? &with_place : err);
}

/* What `kymo serve` and the upload would refuse, by their own rules. Return: how many. */
static unsigned check_verbs(struct config *config)
{
	const struct serve_rules rules = { .listen = config->listen,
					   .tls_cert = config->tls_cert,
					   .tls_key = config->tls_key,
					   .token_file = config->token_file,
					   .everybody = config->everybody != 0,
					   .window_ns = config->window_ns,
					   .sample_ns = config->sample_ns,
					   .series = config->series,
					   .entities = config->entities,
					   .objects = config->objects };
	unsigned wrongs = serve_rules_check(&rules, show_wrong_key, config) +
			  push_check(config, show_wrong_key, config);
	struct kymo_err err;
	const char *key;

	if (upload_check(config, &key, &err)) {
		show_wrong_key(config, key, &err);
		wrongs++;
	}
	if (upload_webhook_check(config, &key, &err)) {
		show_wrong_key(config, key, &err);
		wrongs++;
	}
	return wrongs;
}

static int check(const char *path, struct kymo_err *err)
{
	struct config *config;
	char clean[4096];
	unsigned wrongs;

	if (config_check(&config, path, show_wrong, NULL, err))
		return -1;
	wrongs = config_files(config, show_wrong, NULL);
	if (*config->path)
		wrongs += check_verbs(config);
	text_clean(clean, sizeof(clean), config->path);
	config_free(config);
	if (wrongs)
		return KYMO_EXIT_INPUT;
	if (!*clean)
		return err_set(err, KYMO_EXIT_INPUT,
			       "there is no file: write " CONFIG_SYSTEM
			       " or ~/.config/kymo/kymo.yaml, or name one");
	printf("%s: no errors\n", clean);
	return KYMO_EXIT_OK;
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct config *config;
	int status;

	if (opt_parse(opts, &options, &argc, &argv, NULL, err))
		return -1;
	if (argc < 1 || argc > 2 || (strcmp(argv[0], "check") && strcmp(argv[0], "show")))
		return err_set(err, KYMO_EXIT_USAGE,
			       "write kymo config check [FILE] or kymo config show [FILE]");
	if (!strcmp(argv[0], "check"))
		return check(argc > 1 ? argv[1] : NULL, err);
	if (config_read(&config, argc > 1 ? argv[1] : NULL, err))
		return -1;
	status = show(&options, config);
	config_free(config);
	return status;
}

const struct verb verb_config = {
	.name = "config",
	.synopsis = "check|show [FILE]",
	.summary = "check or show the configuration file of a robot",
	.description =
		"check reads FILE, or without it the file that `kymo serve` would read, and says "
		"what is wrong in it: the line, the key, and the nearest key that exists. It also "
		"tries to read each file that the configuration names, and asks the rules of `kymo serve` "
		"and of the upload.\n\n"
		"show prints all keys with their values and the line that sets them.\n\n"
		"One file is read: $KYMO_CONFIG, else ~/.config/kymo/kymo.yaml, else "
		"/etc/kymo/kymo.yaml. Options on the command line override it. The file contains "
		"no secrets, only the names of files with secrets. docs/answers/fleet.md shows an "
		"example.",
	.examples = "kymo config check\n"
		    "kymo config show\n"
		    "kymo config check kymo.yaml\n",
	.opts = opts,
	.run = run,
};
