/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which tracetools is it?
 *
 * Exported symbols tell the families apart; Iron and Jazzy export the same ones but pass
 * different arguments to ros_trace_rmw_publish, so for those the LTTng probe's signature decides,
 * then the installed package.xml, then $ROS_DISTRO. package.xml also gives the exact version, as
 * long as it does not contradict the symbols.
 */
#include "inside/ros2/ros2_tracetools.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/points.h"
#include "inside/tracer/tracer_initlog.h"

struct kymo_tracetools kymo_tracetools;
bool kymo_forward;

static void *library;			/* handle of libtracetools, NULL: not a library of its own */
static char library_path[4096];

static int find_library(struct dl_phdr_info *info, size_t size, void *unused)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;

	(void)size;
	(void)unused;
	base = base ? base + 1 : info->dlpi_name;
	if (!base || strncmp(base, "libtracetools.so", strlen("libtracetools.so")))
		return 0;
	(void)snprintf(library_path, sizeof library_path, "%s", info->dlpi_name);
	return 1;
}

void *kymo_tracetools_symbol(const char *name)
{
	return dlsym(library ? library : RTLD_NEXT, name);
}

/* Families by exported symbols: the lowest and highest version it can be. */
struct family {
	const char *symbol;
	uint32_t from, to;
	const char *text;		/* of the lowest version */
};
static const struct family families[] = {	/* the first whose symbol is there */
	{ "ros_trace_message_link_partial_sync", KYMO_V(8, 10), KYMO_V_LAST, "8.10.0" },
	{ "ros_trace_runtime_status", KYMO_V(8, 9), KYMO_V(8, 9), "8.9.0" },
	{ "ros_trace_rmw_send_request", KYMO_V(8, 5), KYMO_V(8, 8), "8.5.0" },
	{ "ros_trace_enabled_rclcpp_intra_publish", KYMO_V(6, 1), KYMO_V(8, 4), NULL },
	{ "ros_trace_enabled_rcl_init", KYMO_V(5, 1), KYMO_V(6, 0), "5.1.0" },
};
static const struct family humble = { NULL, KYMO_V(1, 0), KYMO_V(5, 0), "4.1.1" };
static const struct family iron = { NULL, KYMO_V(6, 1), KYMO_V(7, 255), "6.3.2" };
static const struct family jazzy = { NULL, KYMO_V(8, 0), KYMO_V(8, 4), "8.2.2" };

/* LTTng-UST 2.13's struct lttng_ust_tracepoint up to the member we need. */
struct ust_tracepoint {
	uint32_t struct_size;
	const char *provider_name, *event_name;
	int state;
	void *probes;
	int *provider_ref;
	const char *signature;
};

static const struct family *by_signature(void)
{
	const struct ust_tracepoint *point =
		kymo_tracetools_symbol("lttng_ust_tracepoint_ros2___rmw_publish");

	if (!point || point->struct_size < sizeof *point || !point->signature)
		return NULL;
	return strstr(point->signature, "rmw_publisher_handle") ? &jazzy : &iron;
}

/* "8.2.2" from <prefix>/share/tracetools/package.xml beside <prefix>/lib/libtracetools.so. */
static bool package_version(char *text, size_t size)
{
	char path[sizeof library_path + 64], line[512], *slash, *at = NULL;
	FILE *file;

	if (!realpath(library_path, path))
		return false;
	for (int up = 0; up < 2; up++) {
		slash = strrchr(path, '/');
		if (!slash)
			return false;
		*slash = 0;
	}
	(void)strncat(path, "/share/tracetools/package.xml", sizeof path - strlen(path) - 1);
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!at && fgets(line, sizeof line, file))
		at = strstr(line, "<version>");
	(void)fclose(file);
	if (!at)
		return false;
	at += strlen("<version>");
	(void)snprintf(text, size, "%.*s", (int)strcspn(at, " <\r\n"), at);
	return *text >= '0' && *text <= '9';
}

static uint32_t parse_version(const char *text)
{
	unsigned major = 0, minor = 0;

	if (sscanf(text, "%u.%u", &major, &minor) < 1 || major > 254)
		return 0;
	return KYMO_V(major, minor > 255 ? 255 : minor);
}

static const struct family *by_symbols(void)
{
	for (unsigned i = 0; i < sizeof families / sizeof *families; i++)
		if (kymo_tracetools_symbol(families[i].symbol))
			return &families[i];
	return &humble;
}

static const struct family *by_distribution(void)
{
	const char *name = getenv("ROS_DISTRO");

	return name && !strcmp(name, "iron") ? &iron : &jazzy;
}

static void decide(void)
{
	const struct family *family = by_symbols(), *signature = NULL;
	char package[sizeof kymo_tracetools.text] = "";
	uint32_t version = package_version(package, sizeof package) ? parse_version(package) : 0;

	if (!family->text) {		/* Iron or Jazzy */
		signature = by_signature();
		if (signature)
			family = signature;
		else if (version < family->from || version > family->to)
			family = by_distribution();
	}
	if (version < family->from || version > family->to) {
		version = family->from;
		(void)snprintf(package, sizeof package, "%s", family->text ? family->text : "");
		if (family->text)
			version = parse_version(family->text);
	}
	memcpy(kymo_tracetools.text, package, sizeof package);
	kymo_tracetools.gid_bytes = version < KYMO_V(5, 1) ? 24 : 16;
	kymo_tracetools.publish_has_handle = version >= KYMO_V(8, 0);
	__atomic_store_n(&kymo_tracetools.version, version, __ATOMIC_RELEASE);
}

static void probe(void)
{
	bool (*compiled)(void);

	(void)dl_iterate_phdr(find_library, NULL);
	if (*library_path)
		library = dlopen(library_path, RTLD_LAZY | RTLD_NOLOAD);
	compiled = (bool (*)(void))kymo_tracetools_symbol("ros_trace_compile_status");
	kymo_tracetools.has_lttng = compiled && compiled();
	decide();
	kymo__set_tracetools(kymo_tracetools.version, kymo_tracetools.text);
}

void kymo_tracetools_probe(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread bool probing;

	if (probing)
		return;		/* a signal handler inside probe(): its event goes by what is known */
	probing = true;
	(void)pthread_once(&once, probe);
	probing = false;
}

__attribute__((constructor))
static void load(void)
{
	const char *forward = secure_getenv("KYMO_FORWARD");

	kymo_forward = forward && forward[0] == '1' && !forward[1];
}
