/* SPDX-License-Identifier: Apache-2.0 */
/* See query_lines.h. */
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#ifdef KYMO_EDIT
#include <editline/readline.h>
#endif

#include "cli/verbs/query/query_lines.h"
#include "query/query.h"

static struct query *running;		/* NULL: at the prompt */
static volatile sig_atomic_t interrupted;	/* at the prompt */
static sigset_t open_mask;		/* of the process, SIGINT not blocked */

static void block_interrupts(bool block)
{
	sigset_t mask = open_mask;

	if (block)
		sigaddset(&mask, SIGINT);
	sigprocmask(SIG_SETMASK, &mask, NULL);
}

static void on_interrupt(int signal)
{
	(void)signal;
	if (running)
		query_interrupt(running);
	else
		interrupted = 1;
}

/* ---- lines ---- */

#ifdef KYMO_EDIT
static void history_load(struct query_lines *lines)
{
	const char *state = getenv("XDG_STATE_HOME"), *home = getenv("HOME");
	char directory[CLI_PATH_MAX - 32];

	rl_catch_signals = 0;		/* it would allocate in its handlers */
	using_history();
	if (state && *state)
		snprintf(directory, sizeof(directory), "%s", state);
	else if (home && *home)
		snprintf(directory, sizeof(directory), "%s/.local/state", home);
	else
		return;
	if (snprintf(lines->history, sizeof(lines->history), "%s/kymo/query_history", directory) >=
	    (int)sizeof(lines->history))
		lines->history[0] = 0;
	read_history(lines->history);
}

static void history_save(struct query_lines *lines)
{
	if (!*lines->history)
		return;
	for (char *slash = lines->history + 1; *slash; slash++) {
		if (*slash != '/')
			continue;
		*slash = 0;
		/* write_history() reports nothing if it fails */
		(void)mkdir(lines->history, 0700);
		*slash = '/';
	}
	stifle_history(1000);
	write_history(lines->history);
}

void query_lines_keep(const char *line)
{
	add_history(line);
}

static char *entered;
static bool is_entered;

static void on_line(char *line)
{
	entered = line;
	is_entered = true;
}

/* NULL: the end of the input, or interrupted. */
static char *next_line(const char *prompt)
{
	struct pollfd input = { .fd = STDIN_FILENO, .events = POLLIN };

	entered = NULL;
	is_entered = false;
	rl_callback_handler_install(prompt, on_line);
	while (!is_entered && !interrupted) {
		(void)ppoll(&input, 1, NULL, &open_mask);
		if (!interrupted)
			rl_callback_read_char();
	}
	rl_callback_handler_remove();
	return entered;
}
#else
static void history_load(struct query_lines *lines)
{
	(void)lines;
}

static void history_save(struct query_lines *lines)
{
	(void)lines;
}

void query_lines_keep(const char *line)
{
	(void)line;
}

static char *next_line(const char *prompt)
{
	char *line = NULL;
	size_t size = 0;
	ssize_t length;

	fputs(prompt, stdout);
	fflush(stdout);
	block_interrupts(false);
	length = getline(&line, &size, stdin);
	block_interrupts(true);
	if (length < 0) {
		clearerr(stdin);
		free(line);
		return NULL;
	}
	if (length && line[length - 1] == '\n')
		line[length - 1] = 0;
	return line;
}
#endif

char *query_lines_next(const char *prompt, bool *was_interrupted)
{
	char *line;

	interrupted = 0;
	line = next_line(prompt);
	*was_interrupted = interrupted;
	return line;
}

void query_lines_run(struct query *query)
{
	if (query) {
		running = query;
		block_interrupts(false);
	} else {
		block_interrupts(true);
		running = NULL;
	}
}

void query_lines_open(struct query_lines *lines)
{
	struct sigaction action = { .sa_handler = on_interrupt };

	history_load(lines);
	sigaction(SIGINT, &action, &lines->before);
	sigprocmask(SIG_BLOCK, NULL, &open_mask);
	sigdelset(&open_mask, SIGINT);
	block_interrupts(true);
}

void query_lines_close(struct query_lines *lines)
{
	sigprocmask(SIG_SETMASK, &open_mask, NULL);
	sigaction(SIGINT, &lines->before, NULL);
	history_save(lines);
}
