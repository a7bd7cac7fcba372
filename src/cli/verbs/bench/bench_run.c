/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bench/bench_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "accounts/accounts.h"

static void become_recorder(const struct bench_run *run)
{
	char self[] = "/proc/self/exe", name[] = "kymo", verb[] = "record", quiet[] = "--quiet",
	     output[] = "--output";
	char duration[] = "--duration", kernel[] = "--kernel=if-possible", dashes[] = "--",
	     shell[] = "sh", option[] = "-c";
	char *vector[16] = { name, verb, quiet, output, (char *)run->path };
	const int log = open(run->log, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	char time[32];
	unsigned at = 5;

	if (run->duration_ns) {
		(void)snprintf(time, sizeof(time), "%" PRId64 "ns", run->duration_ns);
		vector[at++] = duration;
		vector[at++] = time;
	}
	if (run->kernel)
		vector[at++] = kernel;
	vector[at++] = dashes;
	vector[at++] = shell;
	vector[at++] = option;
	vector[at++] = (char *)run->command;
	if (log < 0 || dup2(log, STDOUT_FILENO) < 0 || dup2(log, STDERR_FILENO) < 0)
		_exit(KYMO_EXIT_FAILED);
	(void)execv(self, vector);
	_exit(KYMO_EXIT_FAILED);
}

/* By the recorder's own account; the reader finds the same in the trace. Lost events of the kernel
 * taint nothing but a few runs of callbacks, which then have no own time. */
static uint64_t lost_in(const char *path)
{
	struct accounts accounts;
	char problem[512];
	uint64_t lost;

	accounts_read(&accounts, path, problem);
	lost = accounts.totals.dropped + accounts.totals.init_dropped + accounts.totals.unwritten;
	accounts_free(&accounts);
	return lost;
}

bool bench_run_has_kernel(const char *path)
{
	struct accounts accounts;
	char problem[512];
	bool has_kernel;

	accounts_read(&accounts, path, problem);
	has_kernel = accounts.kernel.source && *accounts.kernel.source;
	accounts_free(&accounts);
	return has_kernel;
}

/* After --duration, the recorder ends the command with SIGINT, and SIGTERM if need be: a command or
 * its shell that ends with this signal has done what it should. */
static bool has_ended_well(const struct bench_run *run, int status)
{
	const int code = WIFEXITED(status) ? WEXITSTATUS(status) : -1;

	return code == 0 ||
	       (run->duration_ns && (code == 128 + SIGINT || code == 128 + SIGTERM));
}

/* A recorder that was ended before any program began leaves no trace. */
static bool has_recorded_nothing(const struct bench_run *run, int status)
{
	if (has_ended_well(run, status))
		return access(run->path, F_OK) != 0;
	return WIFEXITED(status) && WEXITSTATUS(status) == KYMO_EXIT_EMPTY;
}

int bench_run(const struct bench_run *run, struct meanwhile *meanwhile, uint64_t *lost,
	      struct kymo_err *err)
{
	struct machine before, after;
	int status;
	pid_t pid;

	machine_read(&before, "");
	pid = fork();
	if (pid == 0)
		become_recorder(run);
	if (pid < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot start a recorder: %s",
			       strerror(errno));
	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, KYMO_EXIT_FAILED, "cannot wait for the recorder: %s",
				       strerror(errno));
	machine_read(&after, "");
	machine_between(meanwhile, &before, &after);
	*lost = 0;
	if (has_recorded_nothing(run, status))
		return err_set(
			err, KYMO_EXIT_EMPTY,
			"'%s' recorded nothing: no traced program wrote an event%s; %s says more",
			run->command, run->duration_ns ? " within --duration" : "", run->log);
	if (has_ended_well(run, status)) {
		*lost = lost_in(run->path);
		return 0;
	}
	return err_set(err, KYMO_EXIT_FAILED, "'%s' failed with status %d; %s has what it printed",
		       run->command,
		       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), run->log);
}
