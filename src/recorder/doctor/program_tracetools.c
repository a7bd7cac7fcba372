/* SPDX-License-Identifier: Apache-2.0 */
/* Asks the file of a libtracetools.so which version it is. abi/tracetools.h decides. */
#include "recorder/doctor/doctor_internal.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "abi/tracetools.h"

static const char *const evidences[] = {
	[KYMO_BY_SYMBOLS] = "by its symbols",
	[KYMO_BY_SIGNATURE] = "by its LTTng probes",
	[KYMO_BY_PACKAGE] = "by its package.xml and symbols",
	[KYMO_BY_DISTRIBUTION] = "by ROS_DISTRO",
	[KYMO_BY_GUESS] = "a guess: Iron and Jazzy look alike",
};

/* The argument names of LTTng's probe of rmw_publish. */
static const char *probe_signature(const struct elf *elf, char *signature, size_t size)
{
	const Elf64_Sym *point = elf_symbol(elf, KYMO_UST_POINT);

	if (!point)
		point = elf_symbol(elf, "__tracepoint_ros2___rmw_publish");
	return point && elf_pointed_text(
				elf, point->st_value + offsetof(struct kymo_ust_point, signature),
				signature, size)
		       ? signature
		       : NULL;
}

void program_tracetools(const struct elf *elf, const char *path, struct tracetools_facts *facts)
{
	struct kymo_tracetools_answer answer;
	struct kymo_tracetools_room room;
	unsigned family = 0;
	char signature[256];

	memset(facts, 0, sizeof *facts);
	facts->to = KYMO_V_LAST;
	facts->lttng = elf_uses(elf, "lttng_ust_") ||
		       elf_symbol(elf, "lttng_ust_tracepoint_ros2___rcl_init") ||
		       elf_symbol(elf, "__tracepoint_ros2___rcl_init");
	while (family <= KYMO_TRACETOOLS_HUMBLE &&
	       !elf_symbol(elf, kymo_tracetools_ranges[family].symbol))
		family++;
	if (family > KYMO_TRACETOOLS_HUMBLE) {
		(void)snprintf(facts->version, sizeof facts->version, "unknown");
		facts->evidence = "it exports no tracepoint";
		facts->guessed = true;
		return;
	}
	kymo_tracetools_decide(family, probe_signature(elf, signature, sizeof signature), path,
			       &answer, &room);
	(void)snprintf(facts->version, sizeof facts->version, "%s", answer.version ? answer.text : answer.range->range);
	facts->evidence = evidences[answer.evidence];
	facts->guessed = answer.evidence == KYMO_BY_GUESS;
	facts->from = answer.version ? answer.version : answer.range->from;
	facts->to = answer.version ? answer.version : answer.range->to;
}
