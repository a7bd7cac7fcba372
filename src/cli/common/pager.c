/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The pager. What is printed waits in memory until it is longer than the screen; only then the
 * pager is started and gets all of it. So a short answer stays on the terminal as it is, progress
 * can be shown while a long one is computed, and Ctrl-C before the first screenful ends the command
 * without a trace of the pager.
 *
 * While the pager runs it owns the terminal: standard error goes through it, too, and the command
 * waits for its end, also when Ctrl-C ends the command. The pager ends if the command is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/array.h"
#include "base/err.h"
#include "base/opt.h"
#include "cli/common/screen.h"

#define ROWS_USUAL 24
#define COLUMNS_USUAL 80

static struct {
	bool on;
	bool chop;
	FILE *plain; /* standard output without this */
	char *held;
	size_t size, room;
	unsigned rows, columns; /* of the screen */
	unsigned lines, column; /* where the cursor would be */
	pid_t pid;              /* 0: it does not run */
	int fd, old_error;
} pager;

bool screen_pages(void)
{
	return pager.pid > 0;
}

/* ---- the process ---- */

static const char *command(void)
{
	static const char *const variables[] = { "KYMO_PAGER", "PAGER" };

	for (unsigned i = 0; i < 2; i++) {
		const char *value = getenv(variables[i]);

		if (value)
			return value;
	}
	return "less";
}

/* Without a pager the text goes to the terminal. */
static void copy_all(void)
{
	char data[4096];
	ssize_t length;

	while ((length = read(STDIN_FILENO, data, sizeof data)) > 0)
		if (write(STDOUT_FILENO, data, (size_t)length) != length)
			break;
	_exit(0);
}

static void become_pager(int from)
{
	const char *name = command();

	(void)prctl(PR_SET_PDEATHSIG, SIGTERM);
	(void)dup2(from, STDIN_FILENO);
	if (!strcmp(name, "less")) {
		(void)execlp("less", "less", "-FRX", (char *)NULL);
	} else {
		(void)setenv("LESS", "FRX", 0);
		(void)execl("/bin/sh", "sh", "-c", name, (char *)NULL);
	}
	copy_all();
}

static void wait_for_pager(void)
{
	while (waitpid(pager.pid, NULL, 0) < 0 && errno == EINTR)
		;
}

/* Ctrl-C while the command still works: the terminal is the pager's until the user leaves it. */
static void on_interrupt(int number)
{
	(void)close(pager.fd);
	(void)close(STDOUT_FILENO);
	(void)close(STDERR_FILENO);
	wait_for_pager();
	(void)signal(number, SIG_DFL);
	(void)raise(number);
}

static void on_pipe(int number)
{
	(void)number;
}

static int start(void)
{
	const struct sigaction interrupt = { .sa_handler = on_interrupt };
	const struct sigaction broken = { .sa_handler = on_pipe };
	int ends[2];

	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	pager.pid = fork();
	if (!pager.pid)
		become_pager(ends[0]);
	(void)close(ends[0]);
	if (pager.pid < 0) {
		(void)close(ends[1]);
		pager.pid = 0;
		return -errno;
	}
	pager.fd = ends[1];
	(void)sigaction(SIGINT, &interrupt, NULL);
	(void)sigaction(SIGPIPE, &broken, NULL);
	(void)dup2(pager.fd, STDOUT_FILENO);
	if (isatty(STDERR_FILENO)) {
		pager.old_error = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
		(void)dup2(pager.fd, STDERR_FILENO);
	}
	return 0;
}

/* ---- the text ---- */

static int put(const char *data, size_t size)
{
	while (size) {
		ssize_t length = write(STDOUT_FILENO, data, size);

		if (length < 0 && errno == EINTR)
			continue;
		if (length < 0 && errno == EPIPE && pager.pid > 0) {
			/* The user has read enough. */
			wait_for_pager();
			_exit(KYMO_EXIT_OK);
		}
		if (length < 0)
			return errno;
		data += length;
		size -= (size_t)length;
	}
	return 0;
}

static int put_held(void)
{
	int error = put(pager.held, pager.size);

	free(pager.held);
	pager.held = NULL;
	pager.size = pager.room = 0;
	return error;
}

/*
 * Moves the cursor over the next byte. Escape sequences and bytes within a character take no room.
 * Return: whether the byte is printed; it is not if it is behind the edge and lines are chopped.
 */
static bool move(unsigned char c)
{
	static bool escape;

	if (c == '\033')
		escape = true;
	else if (escape)
		escape = !(c >= 'a' && c <= 'z');
	else if (c == '\n')
		pager.lines++, pager.column = 0;
	else if ((c & 0xc0) == 0x80)
		return !pager.chop || pager.column <= pager.columns;
	else if (++pager.column > pager.columns && pager.chop)
		return false;
	else if (pager.column > pager.columns)
		pager.lines++, pager.column = 1;
	return true;
}

static int hold(const char *data, size_t size)
{
	if (!ARRAY_FIT(pager.held, pager.size + size, pager.room))
		return ENOMEM;
	memcpy(pager.held + pager.size, data, size);
	pager.size += size;
	return 0;
}

static int print(const char *data, size_t size)
{
	int error;

	if (!pager.on || pager.pid)
		return put(data, size);
	error = hold(data, size);
	if (!error && pager.lines >= pager.rows) {
		if (start())
			pager.on = false;
		error = put_held();
	}
	return error;
}

static ssize_t on_write(void *context, const char *data, size_t size)
{
	size_t begin = 0;
	int error = 0;

	(void)context;
	for (size_t i = 0; i < size && !error; i++) {
		if (move((unsigned char)data[i]))
			continue;
		error = i > begin ? print(data + begin, i - begin) : 0;
		begin = i + 1;
	}
	if (!error && size > begin)
		error = print(data + begin, size - begin);
	errno = error;
	return error ? 0 : (ssize_t)size;
}

static bool wants_pager(void)
{
	const char *name = command(), *term = getenv("TERM");

	return !opt_screen.no_pager && *name && strcmp(name, "cat") != 0 && term &&
	       strcmp(term, "dumb") != 0;
}

void screen_page(void)
{
	const cookie_io_functions_t functions = { .write = on_write };
	struct winsize size = { 0 };
	FILE *paged;

	if (pager.plain || !isatty(STDOUT_FILENO))
		return;
	(void)ioctl(STDOUT_FILENO, TIOCGWINSZ, &size);
	pager.rows = size.ws_row ? size.ws_row : ROWS_USUAL;
	paged = fopencookie(NULL, "w", functions);
	if (!paged)
		return;
	(void)fflush(stdout);
	pager.columns = screen_width(); /* while the terminal can be asked */
	pager.columns = pager.columns ? pager.columns : size.ws_col ? size.ws_col : COLUMNS_USUAL;
	pager.plain = stdout;
	pager.old_error = -1;
	pager.on = wants_pager();
	stdout = paged;
}

void screen_chop(void)
{
	pager.chop = screen_width() != 0;
}

int screen_end(void)
{
	int error;

	if (!pager.plain)
		return 0;
	errno = 0;
	error = fflush(stdout) || ferror(stdout) ? errno ? errno : EIO : 0;
	(void)fclose(stdout);
	stdout = pager.plain;
	pager.plain = NULL;
	pager.on = false;
	if (!pager.pid) {
		error = error ? error : put_held();
		return error;
	}
	(void)signal(SIGINT, SIG_IGN); /* it is the pager's now */
	if (pager.old_error >= 0)
		(void)dup2(pager.old_error, STDERR_FILENO);
	(void)close(pager.fd);
	(void)close(STDOUT_FILENO);
	wait_for_pager();
	return error;
}
