/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The configuration file of a robot, kymo.yaml: what it is called, and where its numbers go.
 *
 *   robot: r2d2
 *   software: 1.4.0
 *   labels: {site: hall-3}
 *   clickhouse: {url: http://127.0.0.1:8123}
 *
 * config.def has its keys. One file is read: $KYMO_CONFIG, else the user's
 * (~/.config/kymo/kymo.yaml), else /etc/kymo/kymo.yaml; without one all keys have their defaults.
 *
 * Context of all functions: not thread-safe; allocate; block as the disk does.
 */
#ifndef KYMO_CONFIG_H
#define KYMO_CONFIG_H

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/pool.h"

#define CONFIG_SYSTEM "/etc/kymo/kymo.yaml"
#define CONFIG_LABELS_MAX 16u
#define CONFIG_VALUE_MAX 256u /* bytes of a label's value */

struct config_label {
	const char *name, *value;
	unsigned line;
};

/* How many keys config.def has. */
enum {
	CONFIG_KEYS =
#define CONFIG(key, kind, member, preset, meaning) +1
#include "config/config.def"
};

/* Where windows are pushed to, and incidents are uploaded. "": not given. */
struct config_target {
	const char *url, *secret_file, *ca, *cert, *key;
	int unencrypted; /* not 0: secrets may go there without TLS */
};

enum config_encoding { CONFIG_PROTOBUF, CONFIG_JSON };
enum config_webhook { CONFIG_INCIDENT, CONFIG_SENTENCE };
enum config_temporality { CONFIG_DELTA, CONFIG_CUMULATIVE };

struct config {
	const char *path; /* of the file; "": there is none */
	const char *robot, *boot, *software;
	struct config_label label[CONFIG_LABELS_MAX];
	unsigned labels;
	const char *labels_json; /* all labels as an object; "": none */
	const char *listen, *tls_cert, *tls_key, *token_file;
	int everybody; /* not 0: may read without TLS and token */
	int64_t window_ns;
	uint64_t series, entities, objects;
	int count; /* not 0: programs that nobody records only count */
	int64_t sample_ns; /* of each window: programs are recorded so long, and count otherwise; 0:
			      all of it */
	struct config_target otlp, clickhouse, upload, webhook;
	const char *webhook_url_file;
	int webhook_body;     /* enum config_webhook */
	int otlp_encoding;    /* enum config_encoding */
	int otlp_temporality; /* enum config_temporality */
	const char *clickhouse_database, *clickhouse_user;
	int64_t clickhouse_every_ns;
	int clickhouse_buckets; /* 0: 32 for each power of two, 1: 16, ... */
	const char *spool;
	uint64_t spool_limit, bandwidth; /* 0: no limit */
	const char *upload_region;
	uint64_t upload_bandwidth;  /* 0: no limit */
	unsigned line[CONFIG_KEYS]; /* of the file that set them; 0: none */
	struct pool pool;
};

/**
 * config_read() - read @path; NULL: the file that exists, or none
 *
 * robot and boot are never "" after it. Return: 0, or -1 with @err (KYMO_EXIT_INPUT), which names
 * the line, the key, and the nearest key that exists.
 */
int config_read(struct config **config, const char *path, struct kymo_err *err);
void config_free(struct config *config);

/**
 * config_check() - as config_read(), but it calls @wrong with each error of the content, in the
 * order of the file, and goes on
 *
 * Return: 0, or -1 with @err, whose text is "" if @wrong was called with all errors.
 */
int config_check(struct config **config, const char *path,
		 void (*wrong)(void *context, const struct kymo_err *err), void *context,
		 struct kymo_err *err);

/** config_set() - the key @key (of config.def) becomes @value, from a command line.
 * Return: 0, or -1 with @err (KYMO_EXIT_USAGE). */
int config_set(struct config *config, const char *key, const char *value, struct kymo_err *err);

/** config_is_set() - does the file set @key of config.def? */
bool config_is_set(const struct config *config, const char *key);

/** config_files() - call @wrong with each unreadable file that @config names. Return: the count. */
unsigned config_files(const struct config *config,
		      void (*wrong)(void *context, const struct kymo_err *err), void *context);

/** config_line() - the line of the file that sets @key of config.def; 0: none does. */
unsigned config_line(const struct config *config, const char *key);

/** config_can_read() - false: @key of config.def names a file that cannot be read. */
bool config_can_read(const struct config *config, const char *key);

/** config_each() - call @take with each key, its value as text, the line that sets it (0: none
 * does) and its meaning; labels come as "labels.NAME" */
void config_each(const struct config *config,
		 void (*take)(void *context, const char *key, const char *value, unsigned line,
			      const char *meaning),
		 void *context);

#endif
