/* SPDX-License-Identifier: Apache-2.0 */
/* The table of keys, for config.c and config_read.c. */
#ifndef KYMO_CONFIG_INTERNAL_H
#define KYMO_CONFIG_INTERNAL_H

#include <stddef.h>

#include "config/config.h"

enum config_kind {
	KIND_TEXT,
	KIND_FILE,
	KIND_URL,
	KIND_PLACE,
	KIND_TIME,
	KIND_SIZE,
	KIND_COUNT,
	KIND_CHOICE
};

struct config_key {
	const char *key;
	enum config_kind kind;
	size_t offset;
	const char *preset, *meaning;
};

extern const struct config_key config_key[CONFIG_KEYS];

/* Return: NULL: there is no such key. */
const struct config_key *config_find(const char *key);
/* Return: 0, or -1 with @err, which begins with the key. */
int config_put(struct config *config, const struct config_key *key, const char *value,
	       struct kymo_err *err);
int config_presets(struct config *config, struct kymo_err *err);

#endif
