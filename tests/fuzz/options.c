/* SPDX-License-Identifier: Apache-2.0 */
/* Any words as a command line, through every kind of option. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/opt.h"
#include "base/text.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct target {
	bool flag;
	const char *text;
	uint64_t number, bytes;
	int64_t ns;
	int choice, which;
	struct opt_list list;
};

static const struct opt opts[] = {
	{ "switch", 0, OPT_SWITCH, offsetof(struct target, which), NULL, "", "a|b" },
	{ "flag", 'q', OPT_FLAG, offsetof(struct target, flag), NULL, "", NULL },
	{ "text", 'o', OPT_TEXT, offsetof(struct target, text), "T", "", NULL },
	{ "number", 'p', OPT_U64, offsetof(struct target, number), "N", "", NULL },
	{ "bytes", 'b', OPT_SIZE, offsetof(struct target, bytes), "B", "", NULL },
	{ "time", 't', OPT_TIME, offsetof(struct target, ns), "T", "", NULL },
	{ "choice", 'c', OPT_CHOICE, offsetof(struct target, choice), NULL, "", "a|bc|d" },
	{ "list", 'l', OPT_LIST, offsetof(struct target, list), "L", "", NULL },
	{ 0 },
};

#define WORDS_MAX 128

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *words[WORDS_MAX + 1], **argv = words, *copy = malloc(size + 1);
	char *clean = malloc(4 * size + 1);
	struct target target = { 0 };
	struct kymo_err err = { 0 };
	int argc = 0, dashdash;

	if (!copy || !clean)
		abort();
	memcpy(copy, data, size);
	copy[size] = 0;
	(void)text_clean(clean, 4 * size + 1, copy);
	for (size_t i = 0; i < size; i++) {
		if (data[i] == '\n')
			copy[i] = 0;
	}
	for (size_t at = 0; at < size && argc < WORDS_MAX; at += strlen(copy + at) + 1)
		words[argc++] = copy + at;
	words[argc] = NULL;
	(void)opt_asks_help(opts, argc, argv);
	if (opt_parse(opts, &target, &argc, &argv, &dashdash, &err)) {
		if (err.status != KYMO_EXIT_USAGE || !err.text[0])
			abort();
	} else if (argv[argc] || dashdash > argc || target.choice > 2 ||
		   target.list.count > OPT_LIST_MAX) {
		abort();
	}
	free(copy);
	free(clean);
	return 0;
}
