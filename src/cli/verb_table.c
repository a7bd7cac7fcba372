/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The verbs, their options and conventions as tables, so that a program that wraps the command
 * (`ros2 kymo`) needs no copy.
 */
#include "cli/verb_table.h"

#include "cli/common/common.h"
#include "base/array.h"

/* The kind of an option's value, for programs that complete or check it. */
static const char *const kinds[] = {
	[OPT_FLAG] = "flag", [OPT_TEXT] = "text",     [OPT_U64] = "integer",
	[OPT_SIZE] = "size", [OPT_TIME] = "time",     [OPT_CHOICE] = "choice",
	[OPT_LIST] = "list", [OPT_SWITCH] = "switch",
};

static const struct table_column verb_columns[] = {
	{ "verb", "Verb" }, { "synopsis", "Synopsis" }, { "summary", "Summary" },
};

static const struct table_column option_columns[] = {
	{ "verb", "Verb" }, { "option", "Option" }, { "letter", "Letter" }, { "kind", "Kind" },
	{ "value", "Value" }, { "choices", "Choices" }, { "help", "Help" },
};

static const struct table_column status_columns[] = {
	{ "status", "Status" }, { "meaning", "Meaning" },
};

static const struct table_column variable_columns[] = {
	{ "variable", "Variable" }, { "read_by", "Read by" }, { "meaning", "Meaning" },
};

static const struct table_column place_columns[] = {
	{ "file", "File" }, { "meaning", "Meaning" },
};

/* What holds for the whole command: conventions.def. */
static void conventions(struct table *table)
{
	table_section(table, "statuses", "Exit statuses", status_columns, COUNT_OF(status_columns));
#define STATUS(status, meaning) table_u64(table, status), table_text(table, meaning);
#define VARIABLE(name, reader, meaning)
#define PLACE(path, meaning)
#include "cli/conventions.def"
#undef STATUS
#undef VARIABLE
	table_section(table, "variables", "Environment", variable_columns, COUNT_OF(variable_columns));
#define STATUS(status, meaning)
#define VARIABLE(name, reader, meaning) \
	table_text(table, name), table_text(table, reader), table_text(table, meaning);
#include "cli/conventions.def"
#undef VARIABLE
#undef PLACE
	table_section(table, "files", "Files", place_columns, COUNT_OF(place_columns));
#define VARIABLE(name, reader, meaning)
#define PLACE(path, meaning) table_text(table, path), table_text(table, meaning);
#include "cli/conventions.def"
#undef STATUS
#undef VARIABLE
#undef PLACE
}

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

int verb_table_print(const struct verb *const *verbs, const struct verb *only,
		     enum table_format format)
{
	struct table *table;

	if (cli_table("help", (int)format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "verbs", "Verbs", verb_columns, COUNT_OF(verb_columns));
	for (unsigned i = 0; verbs[i]; i++) {
		if (only && verbs[i] != only)
			continue;
		table_text(table, verbs[i]->name);
		table_text(table, verbs[i]->synopsis);
		table_text(table, verbs[i]->summary);
	}
	table_section(table, "options", "Options", option_columns, COUNT_OF(option_columns));
	for (unsigned i = 0; verbs[i]; i++)
		for (const struct opt *opt = verbs[i]->opts; opt->name; opt++)
			if (!only || verbs[i] == only)
				option_row(table, verbs[i], opt);
	if (!only)
		conventions(table);
	return cli_close("help", table, KYMO_EXIT_OK);
}
