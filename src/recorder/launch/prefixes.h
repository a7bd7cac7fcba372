/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A command that begins with other commands ("nice -n 5 env -i talker"): which word is the program, and does the preload library get
 * so far? Looks at the words only; nothing is run.
 */
#ifndef KYMO_RECORDER_PREFIXES_H
#define KYMO_RECORDER_PREFIXES_H

#include <stddef.h>

struct prefixes {
	unsigned program;	/* the word that is the program; that of the first prefix behind which it is not to be seen */
	unsigned behind;	/* the word behind what is in the way; 0: it is not to be seen, or nothing is in the way */
	char problem[256];	/* what is in the way; empty: nothing */
	char remedy[512];	/* a complete sentence, with the command line where it can be told */
};

/**
 * prefixes_parse() - look at the words of @command, which end with NULL
 * @verb: that is to stand in the remedy: "record", "run"
 *
 * Context: reads nothing; does not allocate.
 */
void prefixes_parse(char *const *command, const char *verb, struct prefixes *found);

/** prefixes_line() - the words of @command as a shell has them, cut at @size. Return: @line. */
const char *prefixes_line(char *const *command, char *line, size_t size);

#endif
