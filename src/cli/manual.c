/* SPDX-License-Identifier: Apache-2.0 */
/* kymo(1) and kymo(7). Their exit statuses, environment and files come from conventions.def. */
#include "cli/verb_table.h"

#include <string.h>

#include "base/array.h"

struct entry {
	const char *name, *meaning;
};

static const struct {
	int status;
	const char *meaning;
} statuses[] = {
#define STATUS(status, meaning) { status, meaning },
#define VARIABLE(name, reader, meaning)
#define PLACE(path, meaning)
#include "cli/conventions.def"
#undef STATUS
#undef VARIABLE
#undef PLACE
};

static const struct entry variables[] = {
#define STATUS(status, meaning)
#define VARIABLE(name, reader, meaning) { name, meaning ". Read by " reader "." },
#define PLACE(path, meaning)
#include "cli/conventions.def"
#undef STATUS
#undef VARIABLE
#undef PLACE
};

static const struct entry places[] = {
#define STATUS(status, meaning)
#define VARIABLE(name, reader, meaning)
#define PLACE(path, meaning) { path, meaning },
#include "cli/conventions.def"
#undef STATUS
#undef VARIABLE
#undef PLACE
};

/* What the overview explains, in the order in which users meet it. */
static const struct entry terms[] = {
	{ "traced program", "A program that was started with the preload library libkymo-ros2.so (by kymo run, kymo record --, the launch action, or "
	  "LD_PRELOAD), or that uses libkymo itself; see kymo(3). It is not rebuilt. No thread of kymo runs in it, it opens "
	  "no socket, and it never waits for a recorder." },
	{ "runtime directory", "The directory where traced programs write: each has one file of shared memory, its region. Recorder and programs "
	  "find each other there, so both must have the same directory (KYMO_DIR) and belong to the same user. As root, record "
	  "--user records other users' programs, too." },
	{ "facts", "What happens once: nodes, topics, callbacks, declarations. A program always writes them, also while no recorder is running, so a "
	  "recorder that starts hours later still knows every name. In the trace they are init events." },
	{ "events", "What happens all the time: callbacks, messages, spans. Each thread writes them into a ring of shared memory, but only "
	  "while a recorder is running, or with run --flight. If the ring is full, events are dropped and counted." },
	{ "recorder", "kymo record or kymo start: a program that reads the rings from outside and writes a trace. A runtime directory has one "
	  "recorder at a time. If the recorder is killed, the next one continues with what the rings hold." },
	{ "trace", "A directory in the Common Trace Format 1.8 with the names of LTTng, which babeltrace2 and Trace Compass read. Verbs "
	  "that read a trace take the newest unless you name another. They also read traces of LTTng, ros2_tracing and CARET. See "
	  "kymo-trace(5)." },
	{ "loss", "Dropped events are counted exactly, for each thread, and every verb that reads a trace reports them. With --strict a loss changes the exit status." },
	{ "rules", "They choose what is recorded: by node, topic, process, event or category. You can change them while the recorder runs (kymo filter)." },
	{ "flight recorder", "A recorder that keeps only the last seconds, in memory, and writes them when a trigger fires or you ask for "
	  "them (record --flight, kymo snapshot)." },
	{ "relay", "kymo relay receives recordings over the network and shows them while they grow (kymo live). It uses LTTng's protocols." },
	{ "agent", "kymo agent acts for the traced programs of a host in the ROS graph; CARET's command line controls it." },
};

static const char first_steps[] =
	"kymo record -- ros2 launch my_robot robot.launch.py\n"
	"kymo report\n"
	"kymo why '/scan -> /cmd_vel'\n";

static const char later_steps[] =
	"kymo run -- ros2 launch my_robot robot.launch.py\n"
	"kymo record --duration 10s\n";

/* The verbs by purpose. The test of the manual pages checks that each is listed once. */
static const struct entry chapters[] = {
	{ "Start programs, record them",
	  "run attach detach enable disable record start pause resume filter stop status snapshot sink recover ls rm incidents" },
	{ "Watch what happens now", "top serve config" },
	{ "Read the answers",
	  "info events dump report flow why diff bench check store query export open" },
	{ "Watch from elsewhere, several hosts", "relay live agent" },
	{ "When nothing is recorded", "doctor" },
};

static void heading(const char *name, const char *section, const char *version, FILE *out)
{
	fprintf(out, ".TH KYMO %s \"\" \"kymo %s\" \"kymo manual\"\n.nh\n.ad l\n.SH NAME\nkymo \\- %s\n", section, version, name);
}

static void entries(const char *title, const struct entry *entry, size_t count, FILE *out)
{
	fprintf(out, ".SH %s\n", title);
	for (size_t i = 0; i < count; i++) {
		fputs(".TP\n.B ", out);
		opt_roff(entry[i].name, out);
		opt_roff(entry[i].meaning, out);
	}
}

static void conventions(FILE *out)
{
	fputs(".SH EXIT STATUS\n", out);
	for (size_t i = 0; i < COUNT_OF(statuses); i++) {
		fprintf(out, ".TP\n.B %d\n", statuses[i].status);
		opt_roff(statuses[i].meaning, out);
	}
	fputs(".PP\n", out);
	opt_roff("kymo record -- CMD exits with the status of CMD if that is not 0 (128 plus the number of the signal, if a signal ended CMD). "
		 "kymo run -- CMD becomes CMD, so its status is that of CMD. Ctrl-C is how you end a recording, so it is not a failure. A verb "
		 "that reads a trace is ended by the signal of Ctrl-C, which a shell shows as 130.", out);
	entries("ENVIRONMENT", variables, COUNT_OF(variables), out);
	entries("FILES", places, COUNT_OF(places), out);
}

static void verb_line(const struct verb *verb, FILE *out)
{
	fprintf(out, ".TP\n.BR kymo\\-%s (1)\n", verb->name);
	opt_roff(verb->summary, out);
}

void manual_command(const struct verb *const *verbs, const char *version, FILE *out)
{
	heading("record what a robot did, and explain why it was late", "1", version, out);
	fputs(".SH SYNOPSIS\n.nf\nkymo VERB [OPTION...] [OPERAND...]\n.fi\n.SH VERBS\n", out);
	for (unsigned i = 0; verbs[i]; i++)
		verb_line(verbs[i], out);
	conventions(out);
	fputs(".SH SEE ALSO\n.BR kymo (7),\n.BR kymo (3),\n.BR kymo\\-session (3),\n.BR kymo\\-ctf (3),\n.BR kymo\\-trace (5)\n", out);
}

/* The verbs of the table that @names lists. */
static void chapter(const char *names, const struct verb *const *verbs, FILE *out)
{
	while (*names) {
		size_t length = strcspn(names, " ");

		for (unsigned i = 0; verbs[i]; i++)
			if (strlen(verbs[i]->name) == length &&
			    !strncmp(verbs[i]->name, names, length))
				verb_line(verbs[i], out);
		names += length + (names[length] == ' ');
	}
}

static void example(const char *lines, FILE *out)
{
	fputs(".PP\n.RS 4\n.nf\n", out);
	while (*lines) {
		char line[256];
		size_t length = strcspn(lines, "\n");

		(void)snprintf(line, sizeof line, "%.*s", (int)length, lines);
		opt_roff(line, out);
		lines += length + (lines[length] == '\n');
	}
	fputs(".fi\n.RE\n", out);
}

void manual_overview(const struct verb *const *verbs, const char *version, FILE *out)
{
	heading("tracing of ROS 2 and real\\-time programs: overview", "7", version, out);
	fputs(".SH DESCRIPTION\n", out);
	opt_roff("kymo records what a robot's programs did, from outside and without rebuilding them, and explains which callback made the robot late. It "
		 "traces ROS 2 programs by the tracepoints of ROS 2, and C and C++ programs by spans of their own.", out);
	fputs(".PP\n", out);
	opt_roff("Record a program, see what was slow, and why a message was late:", out);
	example(first_steps, out);
	fputs(".PP\n", out);
	opt_roff("Or start the program so that it can be recorded, and record it at any time later:", out);
	example(later_steps, out);
	entries("TERMS", terms, COUNT_OF(terms), out);
	fputs(".SH VERBS\n", out);
	for (size_t i = 0; i < COUNT_OF(chapters); i++) {
		fprintf(out, ".SS %s\n", chapters[i].name);
		chapter(chapters[i].meaning, verbs, out);
	}
	conventions(out);
	fputs(".SH SEE ALSO\n.BR kymo (1)\nfor the verbs,\n.BR kymo (3)\nfor spans in C,\n.BR kymo.hpp (3)\nin C++,\n.BR kymo\\-loop (3)\n"
	      "for loops,\n.BR kymo\\-session (3)\nfor a program that records itself,\n.BR kymo\\-ctf (3)\nto read traces from C,\n"
	      ".BR kymo\\-trace (5)\nfor the trace directory\n", out);
}
