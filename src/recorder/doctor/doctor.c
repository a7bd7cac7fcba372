/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns every traced program on this machine. See doctor.h. */
#include "kernel/kernel.h"
#include "recorder/doctor/doctor.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/text.h"
#include "base/elf.h"
#include "recorder/launch/preload.h"

#define SPACE_WANTED (64ull << 20)	/* a robot of 50 processes idles below 1 MiB each */
#define SPACE_NEEDED (4ull << 20)
#define CLOCK_CALLS 1000
#define CLOCK_SLOW_NS 150	/* a vDSO clock takes 20 to 70; a system call takes more than this */

void doctor_say(struct doctor *doctor, const char *check, enum doctor_result result,
		const char *remedy, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);	/* a cut text is still a text */
	va_end(args);
	doctor->problems += result == DOCTOR_PROBLEM;
	doctor->found(doctor->context, check, result, text, remedy);
}

/*
 * Lets the dynamic loader try @library on /bin/true, only to list: LD_TRACE_LOADED_OBJECTS ends
 * the program before it begins. What the loader says goes into @said. @path: an LD_LIBRARY_PATH.
 */
static bool loader_takes(const char *library, const char *path, char *said, size_t size)
{
	int ends[2], status = -1;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return true;	/* cannot be told */
	child = fork();
	if (!child) {
		char *arguments[] = { "/bin/true", NULL };
		char preload[4200], paths[32768];
		char *environment[] = { preload, "LD_TRACE_LOADED_OBJECTS=1", paths, NULL };

		(void)snprintf(paths, sizeof paths, "LD_LIBRARY_PATH=%s", path);
		(void)snprintf(preload, sizeof preload, "LD_PRELOAD=%s", library);
		(void)dup2(ends[1], STDOUT_FILENO);
		(void)dup2(ends[1], STDERR_FILENO);
		execve(arguments[0], arguments, environment);
		_exit(127);
	}
	(void)close(ends[1]);
	while (used + 1 < size && (got = read(ends[0], said + used, size - 1 - used)) > 0)
		used += (size_t)got;
	said[used] = 0;
	(void)close(ends[0]);
	if (child > 0)
		(void)waitpid(child, &status, 0);
	return child < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 127) ||
	       (!strstr(said, "cannot be preloaded") && !strstr(said, "not found"));
}

/* The libkymo that goes with the preload library, of what the loader said; "" without. */
static const char *libkymo_of(char *said)
{
	char *at = strstr(said, "libkymo.so.0 => ");

	if (!at)
		return "";
	at += strlen("libkymo.so.0 => ");
	at[strcspn(at, " \n")] = 0;
	return at;
}

/* LD_LIBRARY_PATH comes before what the preload library says itself: that may be a libkymo of another version. */
static void libkymo(struct doctor *doctor, const char *library, char *said)
{
	const char *path = getenv("LD_LIBRARY_PATH"), *own = libkymo_of(said), *chosen;
	char again[4096];

	if (!path || !*path || !loader_takes(library, path, again, sizeof again))
		return;
	chosen = libkymo_of(again);
	if (*own && *chosen && strcmp(own, chosen) != 0)
		doctor_say(doctor, "preload library", DOCTOR_WARNING,
			   "take the directory of that libkymo.so.0 out of LD_LIBRARY_PATH, unless both are of one version",
			   "by LD_LIBRARY_PATH it uses %s instead of %s", chosen, own);
}

void doctor_preload(struct doctor *doctor)
{
	char path[4096], said[4096];
	struct kymo_err err;

	if (preload_find(path, sizeof path, doctor->libdir, &err))
		doctor_say(doctor, "preload library", DOCTOR_PROBLEM,
			   "install kymo, or set KYMO_PRELOAD to the path of " PRELOAD_LIBRARY, "%s",
			   err.text);
	else if (strpbrk(path, ": \t\n"))
		doctor_say(doctor, "preload library", DOCTOR_PROBLEM,
			   "install kymo in a path without colons and blanks",
			   "LD_PRELOAD cannot name %s", path);
	else if (!loader_takes(path, "", said, sizeof said))
		doctor_say(doctor, "preload library", DOCTOR_PROBLEM,
			   "install kymo for this machine; libkymo.so.0 must lie beside it",
			   "the loader does not take %s: %.*s", path, (int)strcspn(said, "\n"), said);
	else {
		doctor_say(doctor, "preload library", DOCTOR_OK, NULL, "%s", path);
		libkymo(doctor, path, said);
	}
}

/* The directory is made by the first traced process or recorder; until then its parent counts. */
static void parent_directory(struct doctor *doctor, const char *path)
{
	char parent[4096];
	char *slash;

	(void)snprintf(parent, sizeof parent, "%s", path);
	slash = strrchr(parent, '/');
	if (!slash)
		return;
	slash[slash == parent] = 0;
	if (access(parent, W_OK | X_OK))
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "set KYMO_DIR to a directory of your own on a tmpfs, for the traced programs too",
			   "%s cannot be made: %s: %s", path, parent, strerror(errno));
	else
		doctor_say(doctor, "runtime directory", DOCTOR_OK, NULL,
			   "%s, will be made when it is needed", path);
}

static void directory_space(struct doctor *doctor, const char *path)
{
	struct statfs fs;
	uint64_t bytes;
	char text[TEXT_QUANTITY_MAX];

	if (statfs(path, &fs))
		return;
	bytes = (uint64_t)fs.f_bavail * (uint64_t)fs.f_bsize;
	text_bytes(text, bytes);
	if (fs.f_type != TMPFS_MAGIC && fs.f_type != RAMFS_MAGIC)
		doctor_say(doctor, "shared memory", DOCTOR_WARNING,
			   "set KYMO_DIR to a directory on a tmpfs, such as below /dev/shm",
			   "%s is on a disk: its writeback can delay traced programs", path);
	else if (bytes < SPACE_WANTED)
		doctor_say(doctor, "shared memory",
			   bytes < SPACE_NEEDED ? DOCTOR_PROBLEM : DOCTOR_WARNING,
			   "remove what fills it, mount it larger, or start the container with --shm-size",
			   "%s free in %s", text, path);
	else
		doctor_say(doctor, "shared memory", DOCTOR_OK, NULL, "%s free in %s", text, path);
}

void doctor_directory(struct doctor *doctor, const char *path, unsigned uid)
{
	char parent[4096];
	struct stat status;

	if (lstat(path, &status)) {
		if (errno == ENOENT) {
			parent_directory(doctor, path);
			(void)snprintf(parent, sizeof parent, "%.*s",
				       (int)(strrchr(path, '/') ? strrchr(path, '/') - path : 0), path);
			directory_space(doctor, *parent ? parent : "/");
			return;
		}
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "set KYMO_DIR to a directory of your own", "%s: %s", path, strerror(errno));
		return;
	}
	if (!S_ISDIR(status.st_mode))
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "remove it, or set KYMO_DIR to another place",
			   "%s is no directory (a symbolic link is none either)", path);
	else if (status.st_uid != uid)
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "set KYMO_DIR to a directory of the user who runs the program",
			   "%s belongs to user %u instead of %u", path, (unsigned)status.st_uid, uid);
	else if (status.st_mode & 077)
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "chmod 700 the directory: traces are nobody else's data",
			   "%s is open to other users (mode %04o)", path,
			   (unsigned)status.st_mode & 07777);
	else if (access(path, W_OK | X_OK) && errno == EROFS)
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "mount it writable, or set KYMO_DIR to a directory that is, for the traced programs too",
			   "%s cannot be written: %s", path, strerror(errno));
	else
		doctor_say(doctor, "runtime directory", DOCTOR_OK, NULL, "%s, mode 0700", path);
	directory_space(doctor, path);
}

static bool read_line(const char *path, char *line, size_t size)
{
	FILE *file = fopen(path, "re");
	bool got = file && fgets(line, (int)size, file);

	if (file)
		fclose(file);
	if (got)
		line[strcspn(line, "\n")] = 0;
	return got;
}

/* Whether the word stands in a line of /proc/cpuinfo that begins with "flags". */
static bool cpu_has(const char *word)
{
	FILE *file = fopen("/proc/cpuinfo", "re");
	size_t length = strlen(word);
	char line[8192];
	bool has = false;

	while (file && !has && fgets(line, sizeof line, file)) {
		if (strncmp(line, "flags", 5))
			continue;
		for (char *at = line; (at = strstr(at, word)) && !has; at += length)
			has = at[-1] == ' ' && (at[length] == ' ' || at[length] == '\n');
		break;
	}
	if (file)
		fclose(file);
	return has;
}

static void clock_source(struct doctor *doctor)
{
	char source[64] = "unknown";

	(void)read_line("/sys/devices/system/clocksource/clocksource0/current_clocksource", source,
			sizeof source);
#if defined(__x86_64__)
	bool invariant = cpu_has("constant_tsc") && cpu_has("nonstop_tsc");

	if (!strcmp(source, "tsc"))
		doctor_say(doctor, "clock", DOCTOR_OK, NULL, "tsc%s: events read the CPU's counter",
			   invariant ? ", invariant" : "");
	else
		doctor_say(doctor, "clock", DOCTOR_WARNING,
			   invariant ? "boot with clocksource=tsc, if the machine's TSC can be trusted" :
				       NULL,
			   "the kernel uses %s, not tsc: each event calls clock_gettime", source);
#else
	(void)cpu_has;
	doctor_say(doctor, "clock", DOCTOR_OK, NULL, "%s", source);
#endif
}

static void clock_call(struct doctor *doctor)
{
	int64_t best = INT64_MAX;

	/* The quickest of some rounds: others run on this machine, too. */
	for (int round = 0; round < 5; round++) {
		struct timespec start, end;
		int64_t ns;

		(void)clock_gettime(CLOCK_MONOTONIC, &start);
		for (int i = 0; i < CLOCK_CALLS; i++)
			(void)clock_gettime(CLOCK_MONOTONIC, &end);
		ns = (end.tv_sec - start.tv_sec) * 1000000000 + end.tv_nsec - start.tv_nsec;
		if (ns < best)
			best = ns;
	}
	best /= CLOCK_CALLS;
	if (getauxval(AT_SYSINFO_EHDR) && best < CLOCK_SLOW_NS)
		doctor_say(doctor, "vDSO", DOCTOR_OK, NULL, "clock_gettime takes %d ns", (int)best);
	else
		doctor_say(doctor, "vDSO", DOCTOR_WARNING,
			   "use a clock source the vDSO can read, such as tsc",
			   "clock_gettime takes %d ns: it seems to be a system call", (int)best);
}

static void limits(struct doctor *doctor)
{
	struct rlimit limit;
	char text[TEXT_QUANTITY_MAX];

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur != RLIM_INFINITY)
		doctor_say(doctor, "file size limit",
			   limit.rlim_cur < SPACE_NEEDED ? DOCTOR_PROBLEM : DOCTOR_WARNING,
			   "ulimit -f unlimited", "files end at %s: rings and traces as well",
			   text_bytes(text, limit.rlim_cur));
	if (!getrlimit(RLIMIT_NOFILE, &limit))
		doctor_say(doctor, "open files", limit.rlim_cur < 256 ? DOCTOR_WARNING : DOCTOR_OK,
			   limit.rlim_cur < 256 ? "ulimit -n 1024" : NULL,
			   "%llu at most; traced programs need none, the recorder needs some",
			   (unsigned long long)limit.rlim_cur);
}

/* Nothing is wrong without them. */
static void kernel_events(struct doctor *doctor)
{
	struct kymo_err err;
	const char *source = kernel_probe(&err);

	if (source)
		doctor_say(doctor, "kernel events", DOCTOR_OK, NULL, "record --kernel has them through %s", source);
	else
		doctor_say(doctor, "kernel events", DOCTOR_OK, NULL, "without them, record --kernel records all else: %s", err.text);
}

void doctor_machine(struct doctor *doctor)
{
	const char *chosen = getenv("KYMO_DIR");
	char path[4096];

	doctor_preload(doctor);
	if (chosen && *chosen)
		(void)snprintf(path, sizeof path, "%s", chosen);
	else
		(void)snprintf(path, sizeof path, "/dev/shm/kymo-%u", (unsigned)geteuid());
	if (*path != '/')
		doctor_say(doctor, "runtime directory", DOCTOR_PROBLEM,
			   "set KYMO_DIR to an absolute path: traced programs change their directory",
			   "KYMO_DIR is %s", path);
	else
		doctor_directory(doctor, path, geteuid());
	clock_source(doctor);
	clock_call(doctor);
	limits(doctor);
	doctor_refused(doctor, path);
	doctor_agent(doctor, path);
	kernel_events(doctor);
}
