/* SPDX-License-Identifier: Apache-2.0 */
/* kymo doctor: can it be traced, and if not, why and what to do. */
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "base/text.h"
#include "cli/common/attaching.h"
#include "cli/common/common.h"
#include "cli/common/screen.h"
#include "recorder/doctor/doctor.h"
#include "base/array.h"

struct options {
	uint64_t pid;
	int format;
	bool all;
};

static const struct opt opts[] = {
	CLI_OPT_PID(struct options, "check a running process"),
	CLI_OPT_FORMAT(struct options),
	{ "all", 'a', OPT_FLAG, offsetof(struct options, all), NULL,
	  "on a terminal, too, all that was found; without it, what is in order has a line each",
	  NULL },
	CLI_OPT_SCREEN(0),
	CLI_OPT_END,
};

static const struct table_column columns[] = {
	{ "check", "Check" }, { "result", "Result" }, { "found", "Found" }, { "remedy", "What to do" },
};

/* Findings are kept until the end: if the program does not exist, only that is printed. */
#define FINDINGS_MAX 64
struct finding {
	enum doctor_result result;
	char *check, *text, *remedy;	/* remedy: NULL where there is nothing to do */
};

struct findings {
	unsigned count;
	struct finding item[FINDINGS_MAX];
};

static void found(void *context, const struct doctor_found *found)
{
	struct findings *findings = context;

	if (findings->count < FINDINGS_MAX)
		findings->item[findings->count++] = (struct finding){
			found->result,
			strdup(found->name),
			strdup(found->text),
			found->remedy ? strdup(found->remedy) : NULL,
		};
}

static void free_findings(struct findings *findings)
{
	while (findings->count) {
		struct finding *finding = &findings->item[--findings->count];

		free(finding->check);
		free(finding->text);
		free(finding->remedy);
	}
}

static const char *const results[] = { "ok", "warning", "problem" };

/* ---- on a terminal ---- */

#define RESULT_WIDTH 9
#define CHECK_WIDTH 19

static bool is_in_order(const struct finding *finding)
{
	return finding->result == DOCTOR_OK && !finding->remedy;
}

static void print_what(const struct finding *finding)
{
	static const char *const paint[] = { "", "\033[33m", "\033[31m" };
	const char *begin = screen_has_color() ? paint[finding->result] : "";
	char text[2048], clean[4 * sizeof(text)];

	printf("%s%-*s%s", begin, RESULT_WIDTH, results[finding->result],
	       *begin ? "\033[0m" : "");
	(void)snprintf(text, sizeof(text), "%s: %s", finding->check, finding->text);
	(void)text_clean(clean, sizeof(clean), text);
	screen_say(stdout, RESULT_WIDTH, RESULT_WIDTH, clean);
	if (!finding->remedy)
		return;
	(void)snprintf(text, sizeof(text), "-> %s", finding->remedy);
	(void)text_clean(clean, sizeof(clean), text);
	printf("%*s", RESULT_WIDTH, "");
	screen_say(stdout, RESULT_WIDTH, RESULT_WIDTH + 3, clean);
}

/* Up to the first semicolon, and in one line. */
static void print_in_order(const struct finding *finding)
{
	const unsigned width = screen_width(), before = RESULT_WIDTH + CHECK_WIDTH;
	const size_t room = width > before + 8 ? width - before : SIZE_MAX;
	char text[2048];
	size_t length;
	bool cut;

	(void)text_clean(text, sizeof(text), finding->text);
	length = strcspn(text, ";");
	cut = length > room;
	if (cut)
		length = room - 3;
	printf("%-*s%-*s%.*s%s\n", RESULT_WIDTH, results[DOCTOR_OK], CHECK_WIDTH, finding->check,
	       (int)length, text, cut ? "..." : "");
}

/* What is to be done first; return: exit status. */
static int print_short(struct findings *findings, unsigned problems)
{
	unsigned shown = 0;

	for (int result = DOCTOR_PROBLEM; result >= DOCTOR_OK; result--)
		for (unsigned i = 0; i < findings->count; i++)
			if ((int)findings->item[i].result == result &&
			    !is_in_order(&findings->item[i])) {
				print_what(&findings->item[i]);
				shown++;
			}
	if (shown)
		putchar('\n');
	for (unsigned i = 0; i < findings->count; i++)
		if (is_in_order(&findings->item[i]))
			print_in_order(&findings->item[i]);
	free_findings(findings);
	printf("\n%s", problems ? "" : "No problem found.");
	if (problems)
		printf("%u problem%s.", problems, problems == 1 ? "" : "s");
	puts(" --all shows everything that was found.");
	return problems ? KYMO_EXIT_FAILED : KYMO_EXIT_OK;
}

/* ---- for programs, and all of it ---- */

static int print(struct findings *findings, unsigned problems, const struct options *options)
{
	const int format = options->format;
	struct table *table;

	screen_page();
	if (format == TABLE_TEXT && screen_is_terminal() && !options->all && !opt_screen.wide)
		return print_short(findings, problems);
	if (cli_table("doctor", format, &table))
		return KYMO_EXIT_FAILED;
	table_section(table, "checks", NULL, columns, COUNT_OF(columns));
	for (unsigned i = 0; i < findings->count; i++) {
		struct finding *finding = &findings->item[i];

		table_text(table, finding->check);
		table_text(table, results[finding->result]);
		table_text(table, finding->text);
		table_text(table, finding->remedy);
	}
	free_findings(findings);
	if (problems)
		table_note(table, problems == 1 ? "%u problem." : "%u problems.", problems);
	else
		table_note(table, "No problem found.");
	return cli_close("doctor", table, problems ? KYMO_EXIT_FAILED : KYMO_EXIT_OK);
}

/* Programs that were started without kymo are no fault of the machine. */
static void find_strangers(struct findings *findings)
{
	char hint[ATTACHING_HINT_MAX];
	const struct doctor_found strangers = {
		.result = DOCTOR_OK,
		.name = "running programs",
		.text = hint,
		.remedy = "kymo attach makes them traceable while they run",
	};

	if (attaching_hint(hint))
		found(findings, &strangers);
}

static int run(int argc, char **argv, struct kymo_err *err)
{
	struct options options = { 0 };
	struct findings findings = { 0 };
	struct doctor doctor = {.libdir = KYMO_LIBDIR, .found = found, .context = &findings};
	int result = 0, dashdash;

	if (opt_parse(opts, &options, &argc, &argv, &dashdash, err))
		return -1;
	if ((argc > 1 && dashdash != 0) || (argc && options.pid))
		return err_set(
			err, KYMO_EXIT_USAGE,
			"only one program or process at a time; write a command line after \"--\"");
	if (options.pid > INT_MAX)
		return err_set(err, KYMO_EXIT_INPUT, "no process %llu exists",
			       (unsigned long long)options.pid);
	if (options.pid)
		result = doctor_process(&doctor, (unsigned)options.pid, err);
	else if (argc && dashdash == 0)
		result = doctor_command(&doctor, argv, err);
	else if (argc)
		result = doctor_program(&doctor, argv[0], err);
	else
		doctor_machine(&doctor);
	if (!options.pid && !argc)
		find_strangers(&findings);
	if (!result)
		return print(&findings, doctor.problems, &options);
	free_findings(&findings);
	return -1;
}

const struct verb verb_doctor = {
	.name = "doctor",
	.synopsis = "[PROGRAM | -- CMD [ARG...]]",
	.summary = "check whether a program or process can be traced, and if not, why",
	.description = "Checks without running or changing anything, and prints for each check: "
		       "ok, a warning, or a problem with what to do about it.\n\n"
		       "Without an operand it checks this machine: the preload library, the "
		       "runtime directory, clocks, limits, the agent. With PROGRAM (a path, or a "
		       "name in PATH; for a script, its interpreter is checked) it checks the file "
		       "and all libraries it will load, in the present environment. With a command "
		       "line after \"--\" it also checks the words before the program: do sudo, "
		       "env -i and the like take LD_PRELOAD away? Of \"ros2 run PACKAGE NODE\" it "
		       "checks the node, which it finds in AMENT_PREFIX_PATH. With -p it checks a "
		       "process: is the library loaded, does it have a region, is it being "
		       "recorded?\n\n"
		       "On a terminal, problems and warnings come first, and what is in order has "
		       "a line each; --all prints everything.\n\n"
		       "Exit status: 0 can be traced; 1 a problem was found; 2 wrong usage; 3 no "
		       "such program or process.",
	.examples = "kymo doctor\n"
		    "kymo doctor install/my_robot/lib/my_robot/driver\n"
		    "kymo doctor -- nice -n 5 install/my_robot/lib/my_robot/driver\n"
		    "kymo doctor -p $(pidof driver) --format json",
	.opts = opts,
	.run = run,
};
