/* SPDX-License-Identifier: Apache-2.0 */
/* What concerns every traced program on this machine. See doctor.h. */
#include "recorder/doctor/doctor_internal.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <stdarg.h>
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
#include "kernel/kernel.h"
#include "recorder/launch/enable.h"
#include "recorder/launch/preload.h"
#include "recorder/runtime/region_view.h"
#include "recorder/runtime/status.h"

#define SPACE_WANTED (64ull << 20)	/* a robot of 50 processes idles below 1 MiB each */
#define SPACE_NEEDED (4ull << 20)
#define OPEN_FILES_WANTED 256
#define CLOCK_CALLS 1000
/* a vDSO clock takes 20 to 70; a system call takes more than this */
#define CLOCK_SLOW_NS 150

static const char *const check_names[] = {
#define CHECK(check, name) name,
#include "recorder/doctor/findings.def"
};

static const struct {
	enum doctor_check check;
	enum doctor_result result;
	const char *remedy;
} findings[] = {
#define FINDING(check, finding, result, remedy, text) \
	{ DOCTOR_CHECK_##check, DOCTOR_##result, remedy },
#include "recorder/doctor/findings.def"
};

bool doctor_report(struct doctor *doctor, enum doctor_finding finding, const char *name,
		   const char *remedy, const char *format, ...)
{
	char text[1024];
	va_list args;

	va_start(args, format);
	(void)vsnprintf(text, sizeof text, format, args);	/* a cut text is still a text */
	va_end(args);
	doctor->problems += findings[finding].result == DOCTOR_PROBLEM;
	doctor->found(doctor->context,
		      &(struct doctor_found){
			      .check = findings[finding].check,
			      .result = findings[finding].result,
			      .text = text,
			      .name = name ? name : check_names[findings[finding].check],
			      .remedy = remedy ? remedy : findings[finding].remedy,
		      });
	return true;
}

/*
 * Lets the dynamic loader try @library on /bin/true, only to list: LD_TRACE_LOADED_OBJECTS ends
 * the program before it begins. @said: the output of the loader. @path: an LD_LIBRARY_PATH.
 */
static bool loader_takes(const char *library, const char *path, char *said, size_t size)
{
	int ends[2], status = -1;
	size_t used = 0;
	ssize_t got;
	pid_t child;

	if (pipe2(ends, O_CLOEXEC))
		return true;	/* unknown */
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

/* The libkymo that the preload library would load, from the output of the loader; "" without. */
static const char *libkymo_of(char *said)
{
	char *at = strstr(said, "libkymo.so.0 => ");

	if (!at)
		return "";
	at += strlen("libkymo.so.0 => ");
	at[strcspn(at, " \n")] = 0;
	return at;
}

/* LD_LIBRARY_PATH comes before the path in the preload library itself: it may lead to a libkymo of
 * another version. */
static void libkymo(struct doctor *doctor, const char *library, char *said)
{
	const char *path = getenv("LD_LIBRARY_PATH"), *own = libkymo_of(said), *chosen;
	char again[4096];

	if (!path || !*path || !loader_takes(library, path, again, sizeof again))
		return;
	chosen = libkymo_of(again);
	if (*own && *chosen && strcmp(own, chosen) != 0)
		doctor_say(doctor, LIBRARY_MIXED, chosen, own);
}

void doctor_preload(struct doctor *doctor)
{
	char path[4096], said[4096], *remedy;
	struct kymo_err err;

	if (preload_find(path, sizeof path, doctor->libdir, &err)) {
		remedy = strstr(err.text, "; install kymo"); /* the finding has one, too */
		if (remedy)
			*remedy = 0;
		doctor_say(doctor, LIBRARY_NOT_FOUND, err.text);
	} else if (strpbrk(path, ": \t\n")) {
		doctor_say(doctor, LIBRARY_UNNAMEABLE, path);
	} else if (!loader_takes(path, "", said, sizeof said)) {
		doctor_say(doctor, LIBRARY_REJECTED, path, (int)strcspn(said, "\n"), said);
	} else {
		doctor_say(doctor, LIBRARY_FOUND, path);
		libkymo(doctor, path, said);
	}
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
		doctor_say(doctor, MEMORY_DISK, path);
	else if (bytes < SPACE_NEEDED)
		doctor_say(doctor, MEMORY_FULL, text, path);
	else if (bytes < SPACE_WANTED)
		doctor_say(doctor, MEMORY_LOW, text, path);
	else
		doctor_say(doctor, MEMORY_ENOUGH, text, path);
}

/* The first traced process or recorder creates the directory; until then its parent counts. */
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
		doctor_say(doctor, DIRECTORY_NOT_CREATED, path, parent, strerror(errno));
	else
		doctor_say(doctor, DIRECTORY_LATER, path);
	directory_space(doctor, parent);
}

void doctor_directory(struct doctor *doctor, const char *path, unsigned uid)
{
	struct stat status;

	if (lstat(path, &status)) {
		if (errno == ENOENT)
			parent_directory(doctor, path);
		else
			doctor_say(doctor, DIRECTORY_FAILS, path, strerror(errno));
		return;
	}
	if (!S_ISDIR(status.st_mode))
		doctor_say(doctor, DIRECTORY_IS_NONE, path);
	else if (status.st_uid != uid)
		doctor_say(doctor, DIRECTORY_OWNER, path, (unsigned)status.st_uid, uid);
	else if (status.st_mode & 077)
		doctor_say(doctor, DIRECTORY_MODE, path, (unsigned)status.st_mode & 07777);
	else if (access(path, W_OK | X_OK) && errno == EROFS)
		doctor_say(doctor, DIRECTORY_READ_ONLY, path, strerror(errno));
	else
		doctor_say(doctor, DIRECTORY_FOUND, path);
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

/* Is the word in the line "flags" of /proc/cpuinfo? */
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
		doctor_say(doctor, CLOCK_TSC, invariant ? ", invariant" : "");
	else if (invariant)
		doctor_say(doctor, CLOCK_COULD_BE_TSC, source);
	else
		doctor_say(doctor, CLOCK_SLOW, source);
#else
	(void)cpu_has;
	doctor_say(doctor, CLOCK_OTHER, source);
#endif
}

static void clock_call(struct doctor *doctor)
{
	int64_t best = INT64_MAX;

	/* The fastest of some rounds: other programs run on this machine, too. */
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
		doctor_say(doctor, VDSO_FAST, (int)best);
	else
		doctor_say(doctor, VDSO_SLOW, (int)best);
}

static void limits(struct doctor *doctor)
{
	struct rlimit limit = { RLIM_INFINITY, RLIM_INFINITY };
	char text[TEXT_QUANTITY_MAX];

	if (!getrlimit(RLIMIT_FSIZE, &limit) && limit.rlim_cur < SPACE_NEEDED)
		doctor_say(doctor, FILE_SIZE_TINY, text_bytes(text, limit.rlim_cur));
	else if (limit.rlim_cur != RLIM_INFINITY)
		doctor_say(doctor, FILE_SIZE_LIMITED, text_bytes(text, limit.rlim_cur));
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < OPEN_FILES_WANTED)
		doctor_say(doctor, OPEN_FILES_FEW, (unsigned long long)limit.rlim_cur);
	else
		doctor_say(doctor, OPEN_FILES_ENOUGH, (unsigned long long)limit.rlim_cur);
}

/* Nothing is wrong without them. */
static void kernel_events(struct doctor *doctor)
{
	struct kymo_err err;
	const char *source = kernel_probe(NULL, &err);

	if (source)
		doctor_say(doctor, KERNEL_EVENTS, source);
	else
		doctor_say(doctor, KERNEL_NO_EVENTS, err.text);
}

/* ---- what is in the runtime directory and cannot be recorded ---- */

static void on_region(void *context, const struct process_status *status)
{
	(void)context;
	(void)status;
}

/* The sentence ends with its remedy, after the last semicolon: findings.def has another one. */
static void on_refused(void *context, const char *name, const char *text)
{
	const char *remedy = strrchr(text, ';');
	const int length = (int)(remedy ? remedy - text : (long)strlen(text));
	int pid;

	if (region_owner(name, &pid) == ALIVE_DEAD)
		doctor_say(context, REGION_LEFT, length, text);
	else if (strstr(text, "version"))
		doctor_say(context, REGION_VERSION, length, text);
	else
		doctor_say(context, REGION_REFUSED, length, text);
}

static void refused_regions(struct doctor *doctor, const char *path)
{
	struct rundir dir;
	struct kymo_err err;

	if (rundir_open(&dir, path, false, &err) != 0)
		return;			/* doctor_directory() reported why */
	(void)status_read(&dir, on_region, on_refused, doctor, &err);
	rundir_close(&dir);
}

void doctor_library(struct doctor *doctor)
{
	doctor_preload(doctor);
}

/* Of this user: only then the machine is what was looked at. */
static void permanent_switch(struct doctor *doctor)
{
	struct enable_place place;
	char library[PATH_MAX];
	struct kymo_err err;

	if (enable_of_user(&place, &err) < 0)
		return;
	switch (enable_look(&place, library)) {
	case ENABLE_ON:
		doctor_say(doctor, ENABLED_ON, place.file, library);
		break;
	case ENABLE_GONE:
		doctor_say(doctor, ENABLED_GONE, place.file, library);
		break;
	default:
		break;
	}
}

void doctor_machine(struct doctor *doctor)
{
	char path[4096];

	doctor_preload(doctor);
	permanent_switch(doctor);
	(void)rundir_choose(path, sizeof path, getenv("KYMO_DIR"), geteuid());
	if (*path != '/')
		doctor_say(doctor, DIRECTORY_RELATIVE, path);
	else
		doctor_directory(doctor, path, geteuid());
	clock_source(doctor);
	clock_call(doctor);
	limits(doctor);
	refused_regions(doctor, path);
	doctor_agent(doctor, path);
	kernel_events(doctor);
}
