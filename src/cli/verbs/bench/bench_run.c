/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/verbs/bench/bench_run.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- what the CPUs did ---- */

/* Seconds of CPU time. */
struct cpu {
	double all, busy, stolen; /* of all CPUs, since the boot */
	double ours;              /* of processes that this one started and that have ended */
};

static double seconds(const struct timeval *time)
{
	return (double)time->tv_sec + (double)time->tv_usec / 1e6;
}

/* The first line of /proc/stat, in ticks: user nice system idle iowait irq softirq steal. */
static struct cpu read_cpu(void)
{
	unsigned long long tick[8] = { 0 };
	FILE *file = fopen("/proc/stat", "re");
	const double hz = (double)sysconf(_SC_CLK_TCK);
	struct cpu cpu = { 0 };
	struct rusage usage;

	if (file) {
		if (fscanf(file, "cpu %llu %llu %llu %llu %llu %llu %llu %llu", &tick[0], &tick[1],
			   &tick[2], &tick[3], &tick[4], &tick[5], &tick[6], &tick[7]) == 8) {
			for (unsigned i = 0; i < 8; i++)
				cpu.all += (double)tick[i] / hz;
			cpu.stolen = (double)tick[7] / hz;
			cpu.busy = cpu.all - (double)(tick[3] + tick[4]) / hz - cpu.stolen;
		}
		(void)fclose(file);
	}
	if (getrusage(RUSAGE_CHILDREN, &usage) == 0)
		cpu.ours = seconds(&usage.ru_utime) + seconds(&usage.ru_stime);
	return cpu;
}

static struct bench_load load_between(const struct cpu *from, const struct cpu *to)
{
	const double all = to->all - from->all;
	const double others = to->busy - from->busy - (to->ours - from->ours);

	if (all <= 0)
		return (struct bench_load){ 0 };
	return (struct bench_load){ others > 0 ? others / all : 0,
				    (to->stolen - from->stolen) / all };
}

/* ---- the run ---- */

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

int bench_run(const struct bench_run *run, struct bench_load *load, struct kymo_err *err)
{
	const struct cpu before = read_cpu();
	struct cpu after;
	int status;
	pid_t pid;

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
	after = read_cpu();
	*load = load_between(&before, &after);
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	if (WIFEXITED(status) && WEXITSTATUS(status) == KYMO_EXIT_EMPTY)
		return err_set(
			err, KYMO_EXIT_EMPTY,
			"'%s' recorded nothing: no traced program wrote an event; %s says more",
			run->command, run->log);
	return err_set(err, KYMO_EXIT_FAILED, "'%s' failed with status %d; %s has what it printed",
		       run->command,
		       WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status), run->log);
}
