/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Completion scripts for bash, zsh and fish. Each shell gets the same facts: the verbs, the options
 * of each verb, and the words that an option with choices accepts. Names of nodes, topics,
 * processes, callbacks, actions and recordings come from `kymo --complete`. Words after -- are
 * completed as a command of their own; everything else as file names.
 */
#include "cli/verb_table.h"
#include "base/array.h"
#include "analysis/tables/tables.h"
#include "report/report.h"

#include <string.h>

static void choices(FILE *out, const char *text, const char *separator)
{
	for (; *text; text++) {
		if (*text == '[')		/* an optional number, which cannot be completed */
			text += strcspn(text, "|");
		if (!*text)
			break;
		if (*text == '|')
			fputs(separator, out);
		else
			fputc(*text, out);
	}
}

/* The kind of --complete that knows values of this option; NULL: none does. */
static const char *values_of(const struct opt *opt)
{
	static const char *const kinds[] = { "node", "topic", "process", "trigger" };

	for (size_t i = 0; i < COUNT_OF(kinds); i++)
		if (!strcmp(opt->name, kinds[i]) && opt->kind == OPT_LIST)
			return kinds[i];
	return NULL;
}

/* Of `report`: the only option of this name whose values are known without a trace. */
static bool is_section(const struct opt *opt)
{
	return !strcmp(opt->name, "section");
}

static void section_words(FILE *out)
{
	fputs("help", out);
	for (unsigned i = 0; report_section_name(i); i++)
		fprintf(out, " %s", report_section_name(i));
	for (unsigned i = 0; i < TABLES; i++)
		fprintf(out, " %s", tables_table[i].name);
}

/* What the verb's operands are, besides files; NULL: nothing known. */
static const char *operands_of(const struct verb *verb)
{
	if (!strcmp(verb->name, "rm") || !strcmp(verb->name, "top"))
		return "session";
	if (!strcmp(verb->name, "incidents"))
		return "incident";
	if (!strcmp(verb->name, "why"))
		return "callback action session";
	if (!strcmp(verb->name, "flow"))
		return "action session";
	return strstr(verb->synopsis, "[TRACE") == verb->synopsis ? "session" : NULL;
}

static void verb_names(FILE *out, const struct verb *const *verbs)
{
	fputs("help", out);
	for (; *verbs; verbs++)
		fprintf(out, " %s", (*verbs)->name);
}

/* ---- bash ---- */

static void bash_values(FILE *out, const struct opt *opt)
{
	fprintf(out, "\t\t--%s=|--%s", opt->name, opt->name);
	if (opt->letter)
		fprintf(out, "|-%c", opt->letter);
	if (is_section(opt)) {
		fputs(") COMPREPLY=($(compgen -W '", out);
		section_words(out);
		fputs("' -- \"$cur\")); return ;;\n", out);
	} else {
		fprintf(out, ") _kymo_values %s; return ;;\n", values_of(opt));
	}
}

static void bash_verb(FILE *out, const struct verb *verb)
{
	fprintf(out, "\t%s)\n\t\tcase $prev$equals in\n", verb->name);
	for (const struct opt *opt = verb->opts; opt->name; opt++) {
		if (values_of(opt) || is_section(opt))
			bash_values(out, opt);
		if (opt->kind != OPT_CHOICE && opt->kind != OPT_SWITCH)
			continue;
		fprintf(out, "\t\t--%s=", opt->name); /* a switch has its value behind "=" only */
		if (opt->kind == OPT_CHOICE)
			fprintf(out, "|--%s", opt->name);
		if (opt->kind == OPT_CHOICE && opt->letter)
			fprintf(out, "|-%c", opt->letter);
		fputs(") COMPREPLY=($(compgen -W '", out);
		choices(out, opt->choices, " ");
		fputs("' -- \"$cur\")); return ;;\n", out);
	}
	fputs("\t\tesac\n\t\twords='--help", out);
	for (const struct opt *opt = verb->opts; opt->name; opt++)
		fprintf(out, " --%s", opt->name);
	fprintf(out, "' values='%s' ;;\n", operands_of(verb) ? operands_of(verb) : "");
}

static void bash(const struct verb *const *verbs, FILE *out)
{
	/* Names of a trace must not be expanded by the shell, as compgen -W does. */
	fputs("# bash completion for kymo\n"
	      "_kymo_values()\n{\n"
	      "\tlocal kind word plain=${cur//\\\\/}\n"
	      "\tfor kind; do\n"
	      "\t\twhile IFS= read -r word; do\n"
	      "\t\t\t[[ $word != \"$plain\"* ]] || COMPREPLY+=(\"$(printf %q \"$word\")\")\n"
	      "\t\tdone < <(\"${COMP_WORDS[0]}\" --complete \"$kind\" "
	      "\"${COMP_WORDS[@]:2:COMP_CWORD-2}\" 2>/dev/null)\n"
	      "\tdone\n}\n"
	      "_kymo()\n{\n"
	      "\tlocal cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD-1]} words= "
	      "values= equals= i\n"
	      "\tCOMPREPLY=()\n" /* then bash completes file names, which it quotes */
	      "\tif [ \"$cur\" = = ]; then\n\t\tcur= equals==\n" /* --option=value is three words */
	      "\telif [ \"$prev\" = = ]; then\n\t\tprev=${COMP_WORDS[COMP_CWORD-2]} "
	      "equals==\n\tfi\n"
	      "\tif [ \"$COMP_CWORD\" -eq 1 ]; then\n"
	      "\t\tCOMPREPLY=($(compgen -W '",
	      out);
	verb_names(out, verbs);
	fputs(" --help --version --completion --man' -- \"$cur\"))\n\t\treturn\n\tfi\n"
	      "\tfor ((i = 2; i < COMP_CWORD; i++)); do\n"
	      "\t\tif [ \"${COMP_WORDS[i]}\" = -- ]; then\n"
	      "\t\t\tif declare -F _command_offset >/dev/null; then\n"		/* of bash-completion */
	      "\t\t\t\t_command_offset $((i + 1))\n"
	      "\t\t\telif [ \"$COMP_CWORD\" -eq $((i + 1)) ]; then\n"
	      "\t\t\t\tCOMPREPLY=($(compgen -c -- \"$cur\"))\n\t\t\tfi\n\t\t\treturn\n\t\tfi\n\tdone\n"
	      "\tcase ${COMP_WORDS[1]} in\n", out);
	for (const struct verb *const *verb = verbs; *verb; verb++)
		bash_verb(out, *verb);
	fputs("\thelp|--man)\n\t\tCOMPREPLY=($(compgen -W '", out);
	verb_names(out, verbs);
	fputs("' -- \"$cur\"))\n\t\treturn ;;\n"
	      "\t--completion)\n\t\tCOMPREPLY=($(compgen -W 'bash zsh fish' -- \"$cur\"))\n"
	      "\t\treturn ;;\n\tesac\n"
	      "\tcase $cur in\n"
	      "\t-*) COMPREPLY=($(compgen -W \"$words\" -- \"$cur\")) ;;\n"
	      "\t*) case $prev in -*) ;; *) _kymo_values $values ;; esac ;;\n\tesac\n}\n"
	      "complete -o default -F _kymo kymo\n",
	      out);
}

/* ---- zsh ---- */

/* Inside '...' and a description in [...] or after a colon. */
static void zsh_text(FILE *out, const char *text)
{
	for (; *text; text++) {
		if (*text == '\'')
			fputs("'\\''", out);
		else if (strchr("[]:\\", *text))
			fprintf(out, "\\%c", *text);
		else
			fputc(*text, out);
	}
}

static bool is_file(const struct opt *opt)
{
	return opt->value && (!strcmp(opt->value, "FILE") || !strcmp(opt->value, "DIR"));
}

static void zsh_option(FILE *out, const struct opt *opt)
{
	bool repeats = opt->kind == OPT_LIST;

	for (int round = 0; round < (opt->letter ? 2 : 1); round++) {
		fprintf(out, " \\\n\t\t\t'%s", repeats ? "*" : "");
		if (round)
			fprintf(out, "-%c[", opt->letter);
		else
			fprintf(out, "--%s%s[", opt->name,
				opt->kind == OPT_FLAG     ? ""
				: opt->kind == OPT_SWITCH ? "=-"
							  : "=");
		zsh_text(out, opt->help);
		fputc(']', out);
		if (opt->kind == OPT_CHOICE || (opt->kind == OPT_SWITCH && !round)) {
			fprintf(out, "%s:%s:(", opt->kind == OPT_SWITCH ? ":" : "", opt->name);
			choices(out, opt->choices, " ");
			fputc(')', out);
		} else if (is_section(opt)) {
			fputs(":NAME:(", out);
			section_words(out);
			fputc(')', out);
		} else if (values_of(opt)) {
			fprintf(out, ":GLOB: _kymo_values %s", values_of(opt));
		} else if (opt->kind != OPT_FLAG && opt->kind != OPT_SWITCH) {
			fprintf(out, ":%s:%s", opt->value ? opt->value : opt->name, is_file(opt) ? "_files" : "");
		}
		fputc('\'', out);
	}
}

static void zsh(const struct verb *const *verbs, FILE *out)
{
	fputs("#compdef kymo\n# zsh completion for kymo\n"
	      "_kymo_values() {\n\tlocal kind\n\tlocal -a values\n"
	      "\tfor kind; do values+=(${(f)\"$(_call_program values kymo --complete $kind "
	      "2>/dev/null)\"}); done\n"
	      "\tcompadd -a values\n}\n"
	      "_kymo_operands() { local kinds=$1; _alternative \"files:file:_files\" "
	      "\"values:name: _kymo_values $kinds\" }\n"
	      "_kymo() {\n\tlocal -a verbs\n\tverbs=(\n",
	      out);
	for (const struct verb *const *verb = verbs; *verb; verb++) {
		fprintf(out, "\t\t'%s:", (*verb)->name);
		zsh_text(out, (*verb)->summary);
		fputs("'\n", out);
	}
	fputs("\t\t'help:show what a verb does'\n\t)\n"
	      "\tif (( CURRENT == 2 )); then\n\t\t_describe verb verbs\n\t\treturn\n\tfi\n"
	      "\tlocal verb=$words[2] dashes=$words[(i)--]\n"
	      "\tif (( dashes < CURRENT )); then\n"
	      "\t\tshift $dashes words\n\t\t(( CURRENT -= dashes ))\n\t\t_normal\n\t\treturn\n\tfi\n"
	      "\twords=(\"kymo $verb\" \"${(@)words[3,-1]}\")\n\t(( CURRENT-- ))\n"
	      "\tcase $verb in\n", out);
	for (const struct verb *const *verb = verbs; *verb; verb++) {
		fprintf(out, "\t%s)\n\t\t_arguments '(- *)--help[show help]'", (*verb)->name);
		for (const struct opt *opt = (*verb)->opts; opt->name; opt++)
			zsh_option(out, opt);
		if (operands_of(*verb))
			fprintf(out, " \\\n\t\t\t'*:operand: _kymo_operands \"%s\"' ;;\n",
				operands_of(*verb));
		else
			fputs(" \\\n\t\t\t'*:operand:_files' ;;\n", out);
	}
	fputs("\thelp|--man) _describe verb verbs ;;\n"
	      "\t--completion) compadd bash zsh fish ;;\n\tesac\n}\n"
	      "if [ \"$funcstack[1]\" = _kymo ]; then _kymo \"$@\"; else compdef _kymo kymo; fi\n", out);
}

/* ---- fish ---- */

static void fish_text(FILE *out, const char *text)
{
	fputc('\'', out);
	for (; *text; text++) {
		if (*text == '\'' || *text == '\\')
			fputc('\\', out);
		fputc(*text, out);
	}
	fputc('\'', out);
}

static void fish(const struct verb *const *verbs, FILE *out)
{
	fputs("# fish completion for kymo\n"
	      "function __kymo_command -d 'Complete what follows --'\n"
	      "\tset -l words (commandline -opc)\n"
	      "\tset -l dashes (contains -i -- -- $words); or return\n"
	      "\tset -l current (commandline -ct)\n"
	      "\tset -e words[1..$dashes]\n"
	      "\tcomplete -C (string join ' ' -- (string escape -- $words) \"$current\")\nend\n"
	      "complete -c kymo -n 'contains -- -- (commandline -opc)' -f -a '(__kymo_command)'\n", out);
	for (const struct verb *const *verb = verbs; *verb; verb++) {
		fprintf(out, "complete -c kymo -n __fish_use_subcommand -f -a %s -d ", (*verb)->name);
		fish_text(out, (*verb)->summary);
		fputc('\n', out);
		for (const struct opt *opt = (*verb)->opts; opt->name; opt++) {
			fprintf(out, "complete -c kymo -n '__fish_seen_subcommand_from %s' -l %s",
				(*verb)->name, opt->name);
			if (opt->letter)
				fprintf(out, " -s %c", opt->letter);
			if (opt->kind == OPT_CHOICE || opt->kind == OPT_SWITCH) {
				fputs(opt->kind == OPT_CHOICE ? " -x -a '" : " -a '", out);
				choices(out, opt->choices, " ");
				fputc('\'', out);
			} else if (is_section(opt)) {
				fputs(" -x -a '", out);
				section_words(out);
				fputc('\'', out);
			} else if (values_of(opt)) {
				fprintf(out, " -x -a '(kymo --complete %s 2>/dev/null)'",
					values_of(opt));
			} else if (opt->kind != OPT_FLAG) {
				fputs(" -r", out);
			}
			fputs(" -d ", out);
			fish_text(out, opt->help);
			fputc('\n', out);
		}
	}
	fputs("complete -c kymo -n __fish_use_subcommand -f -a help -d 'show what a verb does'\n"
	      "complete -c kymo -n __fish_use_subcommand -l help -d 'show the verbs'\n"
	      "complete -c kymo -n __fish_use_subcommand -l version -d 'show the version, and what is built in'\n"
	      "complete -c kymo -n __fish_use_subcommand -l completion -x -a 'bash zsh fish' -d 'print the completion script'\n",
	      out);
	fputs("complete -c kymo -n __fish_use_subcommand -l man -x -d 'print a manual page' -a '", out);
	verb_names(out, verbs);
	fputs("'\ncomplete -c kymo -n '__fish_seen_subcommand_from help' -f -a '", out);
	verb_names(out, verbs);
	fputs("'\n", out);
}

int complete_print(const struct verb *const *verbs, const char *shell, FILE *out)
{
	static const struct {
		const char *name;
		void (*print)(const struct verb *const *verbs, FILE *out);
	} shells[] = { { "bash", bash }, { "zsh", zsh }, { "fish", fish } };

	for (size_t i = 0; i < COUNT_OF(shells); i++) {
		if (!strcmp(shells[i].name, shell)) {
			shells[i].print(verbs, out);
			return 0;
		}
	}
	return -1;
}
