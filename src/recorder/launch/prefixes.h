/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that begins with other commands ("nice -n 5 env -i talker"): which word is the program,
 * and does LD_PRELOAD arrive there? Only the words are parsed; nothing is run.
 */
#ifndef KYMO_RECORDER_PREFIXES_H
#define KYMO_RECORDER_PREFIXES_H

#include <stddef.h>

struct prefixes {
	unsigned program;  /* index of the word that is the program; of the last prefix, if the
			      program cannot be found in the words */
	unsigned behind;   /* index of the first word after the command that removes LD_PRELOAD; 0:
			      unknown, or there is none */
	char problem[256]; /* what removes LD_PRELOAD; empty: nothing */
	char remedy[512];  /* a sentence, with the command line to type if it is known */
};

/**
 * prefixes_parse() - parse the words of @command, which end with NULL
 * @verb: the verb for the remedy: "record", "run"
 *
 * Context: reads nothing; does not allocate.
 */
void prefixes_parse(char *const *command, const char *verb, struct prefixes *found);

/** prefixes_line() - the words of @command quoted as for a shell, cut at @size. Return: @line. */
const char *prefixes_line(char *const *command, char *line, size_t size);

#endif
