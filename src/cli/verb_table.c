/* SPDX-License-Identifier: Apache-2.0 */
/* The verbs and their options as tables, so that who wraps the command (`ros2 kymo`) has no copy of them. */
#include "cli/verb_table.h"

#include "cli/common.h"

/* What the value of an option is, for who completes or checks it. */
static const char *const kinds[] = {
	[OPT_FLAG] = "flag", [OPT_TEXT] = "text", [OPT_U64] = "integer", [OPT_SIZE] = "size",
	[OPT_TIME] = "time", [OPT_CHOICE] = "choice", [OPT_LIST] = "list",
};

static const struct table_column verb_columns[] = {
	{ "verb", "Verb" }, { "synopsis", "Synopsis" }, { "summary", "Summary" },
};

static const struct table_column option_columns[] = {
	{ "verb", "Verb" }, { "option", "Option" }, { "letter", "Letter" }, { "kind", "Kind" },
	{ "value", "Value" }, { "choices", "Choices" }, { "help", "Help" },
};

static void option_row(struct table *table, const struct verb *verb, const struct opt *opt)
{
	const char letter[2] = { opt->letter, 0 };

	table_text(table, verb->name);
	table_text(table, opt->name);
	table_text(table, opt->letter ? letter : NULL);
	table_text(table, kinds[opt->kind]);
	table_text(table, opt->value);
	table_text(table, opt->choices);
	table_text(table, opt->help);
}

int verb_table_print(const struct verb *const *verbs, const struct verb *only, enum table_format format)
{
	struct table *table;

	if (table_open(&table, stdout, format) < 0) {
		fputs("kymo help: out of memory\n", stderr);
		return EXIT_FAILED;
	}
	table_section(table, "verbs", "Verbs", verb_columns, sizeof verb_columns / sizeof *verb_columns);
	for (unsigned i = 0; verbs[i]; i++) {
		if (only && verbs[i] != only)
			continue;
		table_text(table, verbs[i]->name);
		table_text(table, verbs[i]->synopsis);
		table_text(table, verbs[i]->summary);
	}
	table_section(table, "options", "Options", option_columns, sizeof option_columns / sizeof *option_columns);
	for (unsigned i = 0; verbs[i]; i++)
		for (const struct opt *opt = verbs[i]->opts; opt->name; opt++)
			if (!only || verbs[i] == only)
				option_row(table, verbs[i], opt);
	return cli_close("help", table, EXIT_OK);
}
