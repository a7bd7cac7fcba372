/* SPDX-License-Identifier: Apache-2.0 */
/* Option tables: every kind, every spelling, every refusal, and what is printed from them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/array.h"
#include "base/opt.h"

struct target {
	bool quiet, verbose;
	const char *output;
	uint64_t pid, size;
	int64_t wait;
	int format, kernel;
	struct opt_list names;
};

static const struct opt opts[] = {
	{ "quiet", 'q', OPT_FLAG, offsetof(struct target, quiet), NULL, "say less", NULL },
	{ "verbose", 'v', OPT_FLAG, offsetof(struct target, verbose), NULL, "say more", NULL },
	{ "output", 'o', OPT_TEXT, offsetof(struct target, output), "DIR", "where to", NULL },
	{ "pid", 'p', OPT_U64, offsetof(struct target, pid), "PID", "which one", NULL },
	{ "size", 0, OPT_SIZE, offsetof(struct target, size), "BYTES", "how much", NULL },
	{ "wait", 0, OPT_TIME, offsetof(struct target, wait), "TIME", "how long", NULL },
	{ "format", 'f', OPT_CHOICE, offsetof(struct target, format), NULL, "how",
	  "table|json[:N]|csv" },
	{ "kernel", 'k', OPT_SWITCH, offsetof(struct target, kernel), NULL, "the kernel",
	  "if-possible|never" },
	{ "name", 'n', OPT_LIST, offsetof(struct target, names), "NAME", "which ones", NULL },
	{ 0 },
};

/* One parse; args are separated by blanks. */
struct parsed {
	struct target target;
	struct kymo_err err;
	char text[1024];
	char *argv[128];
	char **operand;
	int argc, dashdash, result;
};

static int split(char *line, char **argv)
{
	int argc = 0;

	for (char *word = line, *next; word && *word; word = next) {
		next = strchr(word, ' ');
		if (next)
			*next++ = 0;
		argv[argc++] = word;
	}
	return argc;
}

static struct parsed *parse(const char *line)
{
	static struct parsed p;

	memset(&p, 0, sizeof p);
	(void)snprintf(p.text, sizeof p.text, "%s", line);
	p.argc = split(p.text, p.argv);
	p.operand = p.argv;
	p.result = opt_parse(opts, &p.target, &p.argc, &p.operand, &p.dashdash, &p.err);
	return &p;
}

static void long_and_short(void **state)
{
	struct parsed *p = parse("-qv --output=a -p7 trace --size 64K -o b --wait=250us -f json");

	(void)state;
	assert_int_equal(p->result, 0);
	assert_true(p->target.quiet && p->target.verbose);
	assert_string_equal(p->target.output, "b");
	assert_int_equal(p->target.pid, 7);
	assert_int_equal(p->target.size, 65536);
	assert_int_equal(p->target.wait, 250000);
	assert_int_equal(p->target.format, 1);
	assert_int_equal(p->argc, 1);
	assert_string_equal(p->operand[0], "trace");
	assert_null(p->operand[1]);
	assert_int_equal(p->dashdash, -1);
}

static void command_behind_dashes(void **state)
{
	struct parsed *p = parse("one -q -- ls -l -- x");

	(void)state;
	assert_int_equal(p->result, 0);
	assert_int_equal(p->argc, 5);
	assert_int_equal(p->dashdash, 1);
	assert_string_equal(p->operand[1], "ls");
	assert_string_equal(p->operand[2], "-l");
	assert_string_equal(p->operand[3], "--");
	assert_null(p->operand[5]);
	assert_int_equal(parse("--")->dashdash, 0);
	assert_int_equal(parse("-")->argc, 1);	/* a lone dash is an operand */
}

static void choices_with_a_number(void **state)
{
	static const char *const wrong[] = { "--format table:1", "--format json:", "--format json:-1", "--format json:16777216", "--format :1" };

	(void)state;
	assert_int_equal(parse("--format json")->target.format, 1);
	assert_int_equal(OPT_CHOICE_NUMBER(1), -1);
	assert_int_equal(parse("--format json:0")->target.format, OPT_CHOICE_WITH(1, 0));
	assert_int_equal(parse("--format json:16777215")->target.format, OPT_CHOICE_WITH(1, OPT_CHOICE_NUMBER_MAX));
	assert_int_equal(OPT_CHOICE_INDEX(OPT_CHOICE_WITH(1, 232)), 1);
	assert_int_equal(OPT_CHOICE_NUMBER(OPT_CHOICE_WITH(1, 232)), 232);
	for (size_t i = 0; i < COUNT_OF(wrong); i++)
		assert_int_equal(parse(wrong[i])->result, -1);
}

static bool asks(const char *line)
{
	char text[128], *argv[16] = { 0 };
	int argc;

	(void)snprintf(text, sizeof text, "%s", line);
	argc = split(text, argv);
	return opt_asks_help(opts, argc, argv);
}

/* The word of a switch stands behind "=": whatever comes next is an argument of its own. */
static void switches_with_a_word(void **state)
{
	struct parsed *p = parse("--kernel never");

	(void)state;
	assert_int_equal(p->result, 0);
	assert_int_equal(p->target.kernel, 1);
	assert_string_equal(p->operand[0], "never");
	assert_int_equal(parse("-q")->target.kernel, 0);
	p = parse("-kq never");
	assert_int_equal(p->result, 0);
	assert_true(p->target.kernel == 1 && p->target.quiet && p->argc == 1);
	assert_int_equal(parse("--kernel=if-possible")->target.kernel, 2);
	assert_int_equal(parse("--kernel --kernel=never")->target.kernel, 3);
	assert_true(asks("--kernel -h"));
}

static void lists_have_a_limit(void **state)
{
	char line[8 * OPT_LIST_MAX];
	size_t used = 0;
	struct parsed *p;

	(void)state;
	for (int i = 0; i < OPT_LIST_MAX; i++)
		used += (size_t)snprintf(line + used, sizeof line - used, "-na ");
	p = parse(line);
	assert_int_equal(p->result, 0);
	assert_int_equal(p->target.names.count, OPT_LIST_MAX);
	(void)snprintf(line + used, sizeof line - used, "-nb");
	p = parse(line);
	assert_int_equal(p->result, -1);
	assert_int_equal(p->target.names.count, OPT_LIST_MAX);
}

static void refusals(void **state)
{
	static const struct {
		const char *line, *says;
	} cases[] = {
		{ "--ouput x", "did you mean --output?" },
		{ "--out x", "did you mean --output?" },
		{ "--zzz", "unknown option --zzz; --help" },
		{ "-Z", "unknown option -Z" },
		{ "-qZ", "unknown option -Z" },
		{ "--output", "needs a value: DIR" },
		{ "-o", "needs a value: DIR" },
		{ "--format", "needs a value: table|json[:N]|csv" },
		{ "--format xml", "not one of table|json[:N]|csv" },
		{ "--format tabl", "not one of" },
		{ "--format |", "not one of" },
		{ "--quiet=yes", "takes no value" },
		{ "--kernel=maybe", "unknown value 'maybe'; write --kernel without a value, or "
				    "--kernel=if-possible|never" },
		{ "--kernel=", "unknown value ''; write --kernel" },
		{ "--pid -1", "'-1' is not a whole number" },
		{ "--pid 18446744073709551616", "not a whole number" },
		{ "--pid 1x", "not a whole number" },
		{ "--size 1Q", "not a size" },
		{ "--wait 5m", "not a time" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT_OF(cases); i++) {
		struct parsed *p = parse(cases[i].line);

		assert_int_equal(p->result, -1);
		assert_int_equal(p->err.status, KYMO_EXIT_USAGE);
		if (!strstr(p->err.text, cases[i].says))
			fail_msg("%s: '%s' lacks '%s'", cases[i].line, p->err.text, cases[i].says);
	}
}

static void help_is_found(void **state)
{
	(void)state;
	assert_true(asks("--help"));
	assert_true(asks("trace -qh"));
	assert_true(asks("--nonsense -h"));
	assert_false(asks("-o -h"));		/* the name of a directory */
	assert_false(asks("--output --help"));
	assert_false(asks("-- ls --help"));
	assert_false(asks("-oh"));
}

static char *printed(void (*print)(const struct verb *, FILE *), const struct verb *verb)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	print(verb, out);
	fclose(out);
	return text;
}

static void man_1(const struct verb *verb, FILE *out)
{
	opt_man(verb, "1", out);
}

static void help_and_man_show_everything(void **state)
{
	static const struct verb verb = {
		.name = "test", .synopsis = "[-- CMD]", .summary = "try things",
		.description = "First.\n\n.dangerous \\line\n\n  kept as is",
		.examples = "kymo test -- 'x'", .opts = opts,
	};
	char *help = printed(opt_help, &verb), *man = printed(man_1, &verb);

	(void)state;
	assert_non_null(strstr(help, "Usage: kymo test [OPTION...] [-- CMD]\n"));
	for (const struct opt *opt = opts; opt->name; opt++) {
		char name[32];

		(void)snprintf(name, sizeof name, "--%s", opt->name);
		assert_non_null(strstr(help, name));
		assert_non_null(strstr(help, opt->help));
		(void)snprintf(name, sizeof name, "\\-\\-%s\\fR", opt->name);
		assert_non_null(strstr(man, name));
	}
	assert_non_null(strstr(help, "table|json[:N]|csv"));
	assert_non_null(strstr(help, "--kernel[=if-possible|never]"));
	assert_non_null(strstr(man, "kernel\\fR[=\\fIif\\-possible|never\\fR]\n"));
	assert_non_null(strstr(man, "\n\\&.dangerous \\eline\n"));
	assert_non_null(strstr(man, ".nf\n  kept as is\n.fi\n"));
	free(help);
	free(man);
}

/* Line ends of the source are none of the help's; indented and blank lines are kept. */
static void help_fills_paragraphs(void **state)
{
	static const struct opt one[] = {
		{ "name", 'n', OPT_TEXT, 0, "NAME",
		  "which ones of those that were found while looking for all there are", NULL },
		{ 0 },
	};
	static const struct verb verb = {
		.name = "test", .synopsis = "", .summary = "try things", .opts = one,
		.description =
			"A line that is a little longer than the width that help has on all terminals here,\n"
			"and one\nmore.\n"
			"  kept as\n"
			"  it is\n"
			"Again\ntext.\n"
			"\n"
			"A-word-without-any-blank-that-is-longer-than-the-width-that-help-has-on-all-terminals "
			"ends.",
	};
	char *help = printed(opt_help, &verb);

	(void)state;
	assert_non_null(strstr(help, "\n\n"
			       "A line that is a little longer than the width that help has on all terminals\n"
			       "here, and one more.\n"
			       "  kept as\n"
			       "  it is\n"
			       "Again text.\n"
			       "\n"
			       "A-word-without-any-blank-that-is-longer-than-the-width-that-help-has-on-all-terminals\n"
			       "ends.\n"
			       "\nOptions:\n"
			       "  -n, --name NAME           which ones of those that were found while looking\n"
			       "                            for all there are\n"));
	free(help);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(long_and_short),
		cmocka_unit_test(command_behind_dashes),
		cmocka_unit_test(choices_with_a_number),
		cmocka_unit_test(switches_with_a_word),
		cmocka_unit_test(lists_have_a_limit),
		cmocka_unit_test(refusals),
		cmocka_unit_test(help_is_found),
		cmocka_unit_test(help_and_man_show_everything),
		cmocka_unit_test(help_fills_paragraphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
