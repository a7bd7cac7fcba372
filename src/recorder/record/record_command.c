/* SPDX-License-Identifier: Apache-2.0 */
#include "recorder/record/record_command.h"

#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "recorder/drain/drained_process.h"
#include "recorder/record/record_requests.h"
#include "recorder/runtime/alive.h"
#include "recorder/runtime/say.h"

#define PASS_ON_MS \
	2000 /* from a signal to kymo until it is passed on to whoever may have it already */
#define GRACE_MS 5000  /* from the first signal to SIGTERM */
#define INSIST_MS 2000 /* from SIGTERM to the end of the recording */
#define LOOK_MS 50
#define AFTER_COMMAND_MS 20 /* for processes that it just left behind */
#define GENERATIONS_MAX 64
#define REPORTED_MAX 8

/* ---- start ---- */

rlim_t command_limit_files(rlim_t soft)
{
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return soft;
	before = limit.rlim_cur;
	limit.rlim_cur = soft < limit.rlim_max ? soft : limit.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &limit); /* otherwise it stays as it is */
	return before;
}

static void on_end(uv_timer_t *timer)
{
	record_finish(timer->data);
}

static void on_exit_of_command(uv_process_t *process, int64_t status, int term_signal)
{
	struct recorder *recorder = process->data;

	recorder->command.runs = false;
	recorder->result->command_ended = true;
	recorder->result->command_status = term_signal ? 128 + term_signal : (int)status;
	if (!recorder->command.ending)
		(void)uv_timer_start(&recorder->command.timer, on_end, AFTER_COMMAND_MS, 0);
}

int command_start(struct recorder *recorder)
{
	uv_stdio_container_t stdio[3];
	uv_process_options_t how = {
		.exit_cb = on_exit_of_command,
		.file = recorder->options->command[0],
		.args = recorder->options->command,
		.env = recorder->options->environment,
		.stdio_count = 3,
		.stdio = stdio,
	};
	int rc;

	for (int i = 0; i < 3; i++)
		stdio[i] = (uv_stdio_container_t){ .flags = UV_INHERIT_FD, .data.fd = i };
	recorder->command.process.data = recorder;
	/* A program may rely on small descriptors: it gets the original limit. */
	(void)command_limit_files(recorder->soft_files);
	record_kernel_starts(&recorder->kernel);
	rc = uv_spawn(&recorder->loop, &recorder->command.process, &how);
	(void)command_limit_files(RLIM_INFINITY);
	recorder->command.runs = rc == 0;
	if (rc == 0) {
		record_kernel_command(&recorder->kernel, recorder->command.process.pid);
		record_stacks_command(&recorder->stacks, recorder->command.process.pid);
	}
	return rc;
}

/* ---- who sent a signal ---- */

static void (*loop_handler)(int number);
static volatile sig_atomic_t from_terminal;

static void on_raw_signal(int number, siginfo_t *info, void *context)
{
	(void)context;
	from_terminal = info->si_code == SI_KERNEL;
	loop_handler(number);
}

void command_watch_signal(int number)
{
	struct sigaction action;

	if (sigaction(number, NULL, &action) < 0 || action.sa_flags & SA_SIGINFO)
		return;
	loop_handler = action.sa_handler; /* the same one for all signals of the loop */
	action.sa_sigaction = on_raw_signal;
	action.sa_flags |= SA_SIGINFO;
	(void)sigaction(number, &action, NULL);
}

/* ---- the processes ---- */

static void enter(struct record_command *command, int pid, uint64_t start_time)
{
	if (pid <= 1 || pid == getpid() || !start_time ||
	    command->left_count == COMMAND_PROCESSES_MAX)
		return;
	for (unsigned i = 0; i < command->left_count; i++)
		if (command->left[i].pid == pid)
			return;
	command->left[command->left_count++] = (struct command_process){ pid, start_time };
}

static int parent_of(int pid)
{
	char text[1024];
	const char *at;
	int parent;

	(void)alive_read_file(pid, "stat", text, sizeof text);
	at = strrchr(text, ')'); /* behind the name, which may contain anything */
	return at && sscanf(at, ") %*c %d", &parent) == 1 ? parent : 0;
}

static bool comes_from(int pid, int ancestor)
{
	for (int i = 0; i < GENERATIONS_MAX && pid > 1; i++, pid = parent_of(pid))
		if (pid == ancestor)
			return true;
	return false;
}

static void enter_children(struct record_command *command)
{
	DIR *proc = opendir("/proc");
	struct dirent *entry;

	while (proc && (entry = readdir(proc))) {
		const int pid = atoi(entry->d_name);

		if (pid > 1 && comes_from(pid, command->process.pid))
			enter(command, pid, alive_start_time(pid));
	}
	if (proc)
		(void)closedir(proc);
}

/* With the tag of the command: other processes are recorded beside it (--all), and are none of our
 * business. */
static void enter_recorded(struct recorder *recorder)
{
	const uint64_t tag = recorder->options->session.tag;
	const struct drained_process *process;

	for (unsigned i = 0; tag && (process = session_process(recorder->session, i)); i++)
		if (!process->finished && process->region.tag == tag && process->host_pid &&
		    alive_check(process->host_pid, process->region.start_time) != ALIVE_DEAD)
			enter(&recorder->command, process->host_pid, process->region.start_time);
}

static void forget_ended(struct record_command *command)
{
	unsigned kept = 0;

	for (unsigned i = 0; i < command->left_count; i++)
		if (alive_check(command->left[i].pid, command->left[i].start_time) != ALIVE_DEAD)
			command->left[kept++] = command->left[i];
	command->left_count = kept;
}

static void look(struct recorder *recorder)
{
	forget_ended(&recorder->command);
	if (recorder->command.runs)
		enter_children(&recorder->command);
	enter_recorded(recorder);
}

static void send_all(const struct record_command *command, int number)
{
	for (unsigned i = 0; i < command->left_count; i++)
		(void)kill(command->left[i].pid, number);
}

/* Whether the process has received the signal that kymo has, from kymo or from the terminal. */
static bool has_it(const struct record_command *command, int pid)
{
	return command->from_terminal ? getpgid(pid) == getpgrp()
				      : command->number != SIGINT && pid == command->process.pid;
}

static void pass_on(const struct record_command *command)
{
	for (unsigned i = 0; i < command->left_count; i++)
		if (!has_it(command, command->left[i].pid))
			(void)kill(command->left[i].pid, command->number);
}

/* ---- the end ---- */

enum { PASS_ON, INSIST, GIVE_UP };

static void step(struct recorder *recorder)
{
	struct record_command *command = &recorder->command;

	look(recorder);
	switch (command->step++) {
	case PASS_ON:
		pass_on(command);
		command->next_ms += GRACE_MS - PASS_ON_MS;
		break;
	case INSIST:
		send_all(command, SIGTERM);
		command->next_ms += INSIST_MS;
		break;
	default:
		record_finish(recorder);
	}
}

static void on_ending(uv_timer_t *timer)
{
	struct recorder *recorder = timer->data;
	struct record_command *command = &recorder->command;

	forget_ended(command);
	if (!command->runs && !command->left_count)
		look(recorder); /* also what it started at its very end */
	if (!command->runs && !command->left_count)
		(void)uv_timer_start(timer, on_end, AFTER_COMMAND_MS, 0);
	else if (uv_now(&recorder->loop) >= command->next_ms)
		step(recorder);
}

bool command_end(struct recorder *recorder, int number)
{
	struct record_command *command = &recorder->command;

	if (command->ending || !command->runs)
		return false;
	command->ending = true;
	command->number = number ? number : SIGINT;
	command->from_terminal = number && from_terminal;
	look(recorder);
	if (!number)
		send_all(command, SIGINT);
	else if (number != SIGINT)
		(void)uv_process_kill(&command->process, number);
	command->step = number ? PASS_ON : INSIST;
	command->next_ms = uv_now(&recorder->loop) + (number ? PASS_ON_MS : GRACE_MS);
	(void)uv_timer_start(&command->timer, on_ending, LOOK_MS, LOOK_MS);
	return true;
}

bool command_report(struct recorder *recorder)
{
	const struct session_options *options = &recorder->options->session;
	const struct sayer sayer = { options->say, options->context };
	struct record_command *command = &recorder->command;
	char names[384] = "", pids[128] = "", name[64];
	size_t used = 0, pids_used = 0;

	forget_ended(command);
	for (unsigned i = 0; i < command->left_count && i < REPORTED_MAX; i++) {
		alive_read_name(command->left[i].pid, name, sizeof name);
		used += (size_t)snprintf(names + used, sizeof names - used, "%s%d (%.20s)",
					 i ? ", " : "", command->left[i].pid, name);
		pids_used += (size_t)snprintf(pids + pids_used, sizeof pids - pids_used, " %d",
					      command->left[i].pid);
	}
	if (command->left_count)
		say_text(&sayer,
			 "%u process%s of the command did not end and still run%s: %s%s; end them "
			 "with \"kill -KILL%s\"",
			 command->left_count, command->left_count == 1 ? "" : "es",
			 command->left_count == 1 ? "s" : "", names,
			 command->left_count > REPORTED_MAX ? ", ..." : "", pids);
	return command->left_count;
}
