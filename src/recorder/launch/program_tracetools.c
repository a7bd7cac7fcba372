/* SPDX-License-Identifier: Apache-2.0 */
/* The version of a libtracetools.so, from its file. See tracetools.h. */
#include "recorder/launch/program_tracetools.h"
#include "base/array.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Exported symbols tell the families apart; the first that is there decides. */
static const struct {
	const char *symbol, *versions;
	unsigned from, to;	/* 100 * major + minor */
} families[] = {
	{ "ros_trace_message_link_partial_sync", "8.10 or later", 810, TRACETOOLS_LAST },
	{ "ros_trace_runtime_status", "8.9", 809, 809 },
	{ "ros_trace_rmw_send_request", "8.5 to 8.8", 805, 808 },
	{ "ros_trace_enabled_rclcpp_intra_publish", "6.1 to 8.4", 601, 804 },
	{ "ros_trace_enabled_rcl_init", "5.1 to 6.0", 501, 600 },
	{ "ros_trace_rcl_init", "5.0 or older", 0, 500 },
};
#define FAMILY_IRON_OR_JAZZY 3

/* struct lttng_ust_tracepoint of LTTng-UST 2.13 on 64-bit machines: the member `signature`. */
#define UST_SIGNATURE_OFFSET 48

/* <prefix>/share/tracetools/package.xml beside <prefix>/lib/libtracetools.so. */
static bool package_version(const char *library, char *version, size_t size)
{
	char path[PATH_MAX], line[512], *at = NULL;
	FILE *file;

	if (!realpath(library, path))
		return false;
	for (int up = 0; up < 2; up++) {
		char *slash = strrchr(path, '/');

		if (!slash)
			return false;
		*slash = 0;
	}
	if (strlen(path) + 40 > sizeof path)
		return false;
	(void)snprintf(path + strlen(path), 40, "/share/tracetools/package.xml");
	file = fopen(path, "re");
	if (!file)
		return false;
	while (!at && fgets(line, sizeof line, file))
		at = strstr(line, "<version>");
	fclose(file);
	if (!at)
		return false;
	at += strlen("<version>");
	(void)snprintf(version, size, "%.*s", (int)strspn(at, "0123456789."), at);
	return *version;
}

static unsigned comparable(const char *version)
{
	unsigned major = 0, minor = 0;

	if (sscanf(version, "%3u.%3u", &major, &minor) < 1)
		return 0;
	return TRACETOOLS_NUMBER(major, minor);
}

/* What is known so far; each piece of evidence narrows it. */
struct range {
	const char *versions, *evidence;
	unsigned from, to;
};

static const struct range iron = { "6.1 to 7.x", NULL, 601, 799 };
static const struct range jazzy = { "8.0 to 8.4", NULL, 800, 804 };

static void narrow(struct range *range, const struct range *to, const char *evidence)
{
	*range = *to;
	range->evidence = evidence;
}

/* LTTng's probe of rmw_publish carries the types of its arguments as text. */
static const struct range *by_signature(const struct elf *elf)
{
	const Elf64_Sym *point = elf_symbol(elf, "lttng_ust_tracepoint_ros2___rmw_publish");
	char signature[256];

	if (!point)
		point = elf_symbol(elf, "__tracepoint_ros2___rmw_publish");
	if (!point || !elf_pointed_text(elf, point->st_value + UST_SIGNATURE_OFFSET, signature,
					sizeof signature))
		return NULL;
	return strstr(signature, "rmw_publisher_handle") ? &jazzy : &iron;
}

void tracetools_look(const struct elf *elf, const char *path, struct tracetools_facts *facts)
{
	const size_t count = COUNT_OF(families);
	const char *distribution = getenv("ROS_DISTRO");
	const struct range *signature;
	struct range range;
	char package[32];
	size_t family = 0;

	memset(facts, 0, sizeof *facts);
	facts->to = TRACETOOLS_LAST;
	facts->lttng = elf_uses(elf, "lttng_ust_") ||
		       elf_symbol(elf, "lttng_ust_tracepoint_ros2___rcl_init") ||
		       elf_symbol(elf, "__tracepoint_ros2___rcl_init");
	while (family < count && !elf_symbol(elf, families[family].symbol))
		family++;
	if (family == count) {
		(void)snprintf(facts->version, sizeof facts->version, "unknown");
		facts->evidence = "it exports no tracepoint";
		facts->guessed = true;
		return;
	}
	range = (struct range){ families[family].versions, "by its symbols", families[family].from,
				families[family].to };
	signature = family == FAMILY_IRON_OR_JAZZY ? by_signature(elf) : NULL;
	if (signature)
		narrow(&range, signature, "by its LTTng probes");
	if (package_version(path, package, sizeof package) && comparable(package) >= range.from &&
	    comparable(package) <= range.to) {
		range.versions = package;
		range.from = range.to = comparable(package);
		range.evidence = "by its package.xml and symbols";
	} else if (family == FAMILY_IRON_OR_JAZZY && !signature) {
		facts->guessed = !distribution;
		narrow(&range, distribution && !strcmp(distribution, "iron") ? &iron : &jazzy,
		       distribution ? "by ROS_DISTRO" : "a guess: Iron and Jazzy look alike");
	}
	(void)snprintf(facts->version, sizeof facts->version, "%s", range.versions);
	facts->evidence = range.evidence;
	facts->from = range.from;
	facts->to = range.to;
}
