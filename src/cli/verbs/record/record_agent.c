/* SPDX-License-Identifier: Apache-2.0 */
/* The agent of a recording is a child of the recorder. See record_agent.h. */
#include "cli/verbs/record/record_agent.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli/common/common.h"
#include "recorder/runtime/agent_lock.h"
#include "recorder/runtime/rundir.h"

#define READY_MS 20000 /* from the start of an agent until it can be reached */
#define END_MS 5000    /* from SIGINT until it is killed */
#define LOOK_MS 10

static bool runs(int *pid)
{
	char dir[512];
	struct kymo_err err;

	return rundir_path(dir, sizeof dir, &err) == 0 && agent_lock_read(dir, pid, NULL);
}

/* ---- --agent ---- */

/* A group of its own: Ctrl-C ends the recording, and the recording then ends its agent. */
static void become_agent(int output, pid_t parent)
{
	char self[] = "/proc/self/exe", name[] = "kymo", verb[] = "agent";
	char *vector[] = { name, verb, NULL };

	(void)prctl(PR_SET_PDEATHSIG, SIGINT);
	if (getppid() != parent)
		_exit(KYMO_EXIT_FAILED);
	(void)setpgid(0, 0);
	(void)dup2(output, STDOUT_FILENO);
	(void)execv(self, vector);
	_exit(KYMO_EXIT_FAILED);
}

/* Its first line says that it can be reached; what follows is not read, and nobody's business. */
static bool await_ready(int input)
{
	struct pollfd in = { .fd = input, .events = POLLIN };
	char text[64];
	int rc;

	do
		rc = poll(&in, 1, READY_MS);
	while (rc < 0 && errno == EINTR);
	return rc > 0 && read(input, text, sizeof text) > 0;
}

int record_agent_begin(struct record_agent *agent, const char *verb, struct kymo_err *err)
{
	const pid_t parent = getpid();
	char text[128];
	int pipes[2], pid;
	bool ready;

	if (runs(&pid)) {
		(void)snprintf(text, sizeof text,
			       "process %d is an agent already; no other is started", pid);
		cli_say((char *)verb, text);
		return 0;
	}
	if (pipe2(pipes, O_CLOEXEC) < 0)
		return err_set(err, KYMO_EXIT_FAILED, "cannot start an agent: %s", strerror(errno));
	(void)fflush(NULL);
	agent->pid = fork();
	if (agent->pid == 0)
		become_agent(pipes[1], parent);
	(void)close(pipes[1]);
	ready = agent->pid > 0 && await_ready(pipes[0]);
	(void)close(pipes[0]);
	if (ready)
		return 0;
	record_agent_end(agent);
	return err_set(err, KYMO_EXIT_FAILED,
		       "the agent of --agent did not start, as said above; leave out --agent to "
		       "record without it");
}

void record_agent_end(struct record_agent *agent)
{
	int left = END_MS / LOOK_MS;

	if (agent->pid <= 0)
		return;
	(void)kill(agent->pid, SIGINT);
	while (waitpid(agent->pid, NULL, WNOHANG) == 0) {
		if (left-- == 0)
			(void)kill(agent->pid, SIGKILL);
		(void)usleep(LOOK_MS * 1000);
	}
	agent->pid = 0;
}

/* ---- hints ---- */

/* A package of a ROS 2 workspace is a file in the index of its prefix. */
static bool has_caret(void)
{
	const char *at = getenv("AMENT_PREFIX_PATH");
	char path[4096];

	while (at && *at) {
		const size_t length = strcspn(at, ":");

		if ((size_t)snprintf(path, sizeof path,
				     "%.*s/share/ament_index/resource_index/packages/ros2caret",
				     (int)length, at) < sizeof path &&
		    access(path, F_OK) == 0)
			return true;
		at += length;
		at += strspn(at, ":");
	}
	return false;
}

void record_agent_hint(const char *verb, const char *what, const char *remedy)
{
	char text[256];

	if (!has_caret() || runs(NULL))
		return;
	(void)snprintf(text, sizeof text,
		       "\"ros2 caret record\" will not find %s, because no agent runs; %s", what,
		       remedy);
	cli_say((char *)verb, text);
}

void record_agent_hint_waits(const char *verb)
{
	char text[] = "it waits for a Start, but no agent runs that could receive one; start "
		      "\"kymo agent\", add --agent, or begin with \"kymo resume\"";

	if (!runs(NULL))
		cli_say((char *)verb, text);
}
