/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the program in a command line and what removes LD_PRELOAD before it. Prefix after prefix is
 * parsed with its row of prefixes.def: its options, its operands, assignments. Each has an effect
 * on the environment of the next one; the first effect that makes recording impossible is the
 * problem.
 */
#include "recorder/launch/prefixes.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/launch/preload.h"
#include "base/array.h"

enum effect {
	PASSES,		/* the environment as it is */
	ENVIRONMENT,	/* env: as its words describe_problem */
	SETPRIV,	/* removes variables on request, or becomes another user */
	PRIVILEGED,	/* setuid itself, and cleans the environment */
	OTHER_USER,	/* another user has another runtime directory */
	SYSTEMD,	/* asks systemd to start it, unless --scope */
	ELSEWHERE,	/* asks another process, host or container to start it */
};

struct prefix {
	const char *name;
	enum effect effect;
	const char *letters, *words;
	unsigned operands;
};

static const struct prefix prefixes[] = {
#define PREFIX(name, effect, letters, words, operands) { name, effect, letters, words, operands },
#include "recorder/launch/prefixes.def"
#undef PREFIX
};

/* "ld-linux-x86-64.so.2 PROGRAM": the loader as a command. */
static const struct prefix loader = { "ld.so", PASSES, "", "library-path preload argv0 audit inhibit-rpath glibc-hwcaps-prepend", 0 };

static const struct prefix *find_prefix(const char *word)
{
	const char *name = basename(word);

	for (size_t i = 0; i < COUNT_OF(prefixes); i++)
		if (!strcmp(prefixes[i].name, name))
			return &prefixes[i];
	return !strncmp(name, "ld-linux", 8) || !strncmp(name, "ld.so", 5) ? &loader : NULL;
}

/* ---- the words of one prefix ---- */

/* Does the option @name, without its dashes, read_prefix the next word as its value? */
static bool is_listed(const char *list, const char *name)
{
	size_t length = strlen(name);

	for (const char *at = list; *at; at += strcspn(at, " "), at += *at == ' ')
		if (strcspn(at, " ") == length && !strncmp(at, name, length))
			return true;
	return false;
}

/* Return: how many words the option at @word is. */
static unsigned option_words(const struct prefix *prefix, char *const *word)
{
	const char *at = *word + 1;

	if (*at == '-')
		return strchr(at, '=') || !is_listed(prefix->words, at + 1) || !word[1] ? 1 : 2;
	for (; *at; at++)
		if (strchr(prefix->letters, *at))
			return at[1] || !word[1] ? 1 : 2;		/* "-n5" or "-n 5" */
	return 1;
}

/* What a prefix does with a variable that recording needs. */
struct needed {
	const char *name;
	bool is_there;
	const char *set;		/* the new value; NULL: as it was */
};

enum { PRELOAD, SESSION, DIRECTORY, DISABLED, NEEDED };

static void unset(struct needed needed[NEEDED], const char *name)
{
	for (unsigned i = 0; i < NEEDED; i++)
		if (!name || !strcmp(needed[i].name, name))
			needed[i].is_there = false;
}

static void assign(struct needed needed[NEEDED], const char *word)
{
	size_t length = strcspn(word, "=");

	for (unsigned i = 0; i < NEEDED; i++) {
		if (strlen(needed[i].name) != length || strncmp(needed[i].name, word, length) != 0)
			continue;
		needed[i].is_there = true;
		needed[i].set = word + length + 1;
	}
}

/* Options of env. */
static void apply_env_option(struct needed needed[NEEDED], char *const *word)
{
	const char *text = *word, *value = NULL;

	if (!strcmp(text, "-") || !strcmp(text, "--ignore-environment")) {
		unset(needed, NULL);
	} else if (!strncmp(text, "--unset", 7)) {
		value = text[7] == '=' ? text + 8 : word[1];
	} else if (text[1] != '-') {
		for (const char *at = text + 1; *at && !value; at++) {
			if (*at == 'i')
				unset(needed, NULL);
			else if (*at == 'u')
				value = at[1] ? at + 1 : word[1];
			else if (*at == 'C' || *at == 'S')
				break;
		}
	}
	if (value)
		unset(needed, value);
}

static bool is_assignment(const char *word)
{
	return strchr(word, '=') && strcspn(word, "=") > 0 && !strchr("-/.", *word);
}

/* What prevents recording; NULL: nothing. @records: a recorder waits for the command. */
static const char *missing_variable(const struct needed needed[NEEDED], bool records)
{
	const struct needed *preload = &needed[PRELOAD];

	if (!preload->is_there)
		return "takes LD_PRELOAD away";
	if (preload->set && !strstr(preload->set, PRELOAD_LIBRARY))
		return "sets LD_PRELOAD to something else";
	if (needed[DISABLED].set && !strcmp(needed[DISABLED].set, "1"))
		return "sets KYMO_DISABLE=1";
	if (records && (!needed[SESSION].is_there || needed[SESSION].set))
		return "takes KYMO_SESSION away, by which the recorder knows its command";
	if (records && needed[DIRECTORY].set && strcmp(needed[DIRECTORY].set, getenv("KYMO_DIR") ? getenv("KYMO_DIR") : "") != 0)
		return "gives another KYMO_DIR, into which the recorder does not look";
	return NULL;
}

/* ---- all prefixes ---- */

struct prefix_walk {
	char *const *command;
	unsigned at;			/* after the words that were parsed */
	const char *problem;		/* what the prefix does that prevents recording */
	bool records;			/* a recorder waits for the command */
	bool blind;			/* the words do not show what it runs */
};

static const char other_user[] = "makes it another user's, whose runtime directory is another";

static const char *setpriv_problem(char *const *word, bool records)
{
	const char *value = strchr(*word, '=');

	if (!strcmp(*word, "--reset-env"))
		return "takes LD_PRELOAD away";
	value = value ? value + 1 : word[1];
	if (!records || (strncmp(*word, "--reuid", 7) != 0 && strncmp(*word, "--ruid", 6) != 0))
		return NULL;
	return value && strspn(value, "0123456789") == strlen(value) && strtoul(value, NULL, 10) == geteuid() ? NULL : other_user;
}

/* With "kymo run" another user is possible: root can record that user later (--user). */
static const char *effect_problem(enum effect effect, bool records)
{
	switch (effect) {
	case PRIVILEGED:
		return "takes LD_PRELOAD away, and makes it another user's";
	case OTHER_USER:
		return records ? other_user : NULL;
	case SYSTEMD:
		return "has it started by systemd, without this environment";
	case ELSEWHERE:
		return "has it started elsewhere, without this environment";
	case PASSES: case ENVIRONMENT: case SETPRIV:
		break;
	}
	return NULL;
}

/* Parses the words of @prefix, which is at @walk->at. */
static void read_prefix(struct prefix_walk *walk, const struct prefix *prefix)
{
	struct needed needed[NEEDED] = {
		{ "LD_PRELOAD", true, NULL }, { "KYMO_SESSION", true, NULL }, { "KYMO_DIR", true, NULL }, { "KYMO_DISABLE", true, NULL },
	};
	char *const *command = walk->command;
	unsigned at = walk->at + 1;

	walk->problem = effect_problem(prefix->effect, walk->records);
	walk->blind = prefix->effect == OTHER_USER || prefix->effect == ELSEWHERE;
	while (command[at] && command[at][0] == '-' && strcmp(command[at], "--") != 0) {
		if (prefix->effect == ENVIRONMENT)
			apply_env_option(needed, command + at);
		if (prefix->effect == SETPRIV && !walk->problem)
			walk->problem = setpriv_problem(command + at, walk->records);
		if (prefix->effect == SYSTEMD && !strcmp(command[at], "--scope"))
			walk->problem = NULL;
		if (prefix->effect == OTHER_USER && (!strncmp(command[at], "-u", 2) || !strncmp(command[at], "--user", 6)))
			walk->blind = false; /* otherwise the next word is the user, or words for a
						shell */
		if (prefix->effect == ENVIRONMENT && (!strncmp(command[at], "-S", 2) || !strncmp(command[at], "--split-string", 14)))
			walk->blind = true;
		at += option_words(prefix, command + at);
	}
	if (command[at] && !strcmp(command[at], "--"))
		at++;
	for (unsigned i = 0; i < prefix->operands && command[at]; i++)
		at++;
	while ((prefix->effect == ENVIRONMENT || prefix->effect == PRIVILEGED) && command[at] &&
	       is_assignment(command[at]))
		assign(needed, command[at++]);
	if (prefix->effect == ENVIRONMENT)
		walk->problem = missing_variable(needed, walk->records);
	walk->blind |= !command[at] || command[at][0] == '-';
	walk->at = at;
}

static void describe_problem(const struct prefix_walk *walk, unsigned from, const char *verb,
			     struct prefixes *found)
{
	char before[160], after[160], words[96];
	char *some[64];
	unsigned count = 0;

	found->behind = walk->blind ? 0 : walk->at;
	for (unsigned i = from;
	     walk->command[i] && (walk->blind ? i < from + 1 : i < walk->at) && count < 63; i++)
		some[count++] = walk->command[i];
	some[count] = NULL;
	(void)snprintf(found->problem, sizeof found->problem, "\"%s\" %s", prefixes_line(some, words, sizeof words), walk->problem);
	if (walk->blind) {
		(void)snprintf(found->remedy, sizeof found->remedy, "start kymo where the program is started: kymo %s -- PROGRAM", verb);
		return;
	}
	for (count = 0; count < walk->at && count < 63; count++)
		some[count] = walk->command[count];
	some[count] = NULL;
	(void)snprintf(found->remedy, sizeof found->remedy, "put kymo behind it: %s kymo %s -- %s", prefixes_line(some, before, sizeof before), verb,
		       prefixes_line(walk->command + walk->at, after, sizeof after));
}

void prefixes_parse(char *const *command, const char *verb, struct prefixes *found)
{
	struct prefix_walk walk = { .command = command, .records = strcmp(verb, "run") != 0 };

	*found = (struct prefixes){ 0 };
	while (command[walk.at]) {
		const struct prefix *prefix = find_prefix(command[walk.at]);
		unsigned from = walk.at;

		found->program = walk.at;
		if (!prefix)
			return;
		read_prefix(&walk, prefix);
		if (walk.problem && !*found->problem)
			describe_problem(&walk, from, verb, found);
		if (walk.blind)
			return;
	}
}

const char *prefixes_line(char *const *command, char *line, size_t size)
{
	size_t used = 0;

	line[0] = 0;
	for (unsigned i = 0; command[i] && used < size; i++) {
		const char *word = command[i];
		bool plain = *word && !strpbrk(word, " \t\n'\"\\$&|;<>()*?[]{}~#`!");

		used += (size_t)snprintf(line + used, size - used, plain ? "%s%s" : strchr(word, '\'') ? "%s\"%s\"" : "%s'%s'", i ? " " : "", word);
	}
	if (used >= size && size > 3)
		memcpy(line + size - 4, "...", 4);
	return line;
}
