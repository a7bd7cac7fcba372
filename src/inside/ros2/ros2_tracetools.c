/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Determines the version of the libtracetools in this process. abi/tracetools.h has the decision;
 * this file collects the evidence.
 */
#include "inside/ros2/ros2_tracetools.h"
#include "inside/tracer/tracer_ring.h"

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/tracetools.h"
#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog.h"

struct kymo_tracetools kymo_tracetools;
bool kymo_forward;

/* handle of libtracetools; NULL: no such library is loaded, its functions are elsewhere */
static void *library;
static char library_path[4096];
static uint32_t decided; /* the version; 0: not decided yet */

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

void kymo_tracetools_late(void)
{
	if (!library)
		/* RTLD_NEXT begins behind this library, which came last */
		library = dlopen(NULL, RTLD_LAZY);
	if (kymo_tracetools.has_lttng)
		kymo_forward = true;
}

/*
 * The first family whose symbol the library exports; the oldest family if the library exports none
 * of the symbols.
 */
static enum kymo_tracetools_family by_symbols(void)
{
	for (unsigned i = 0; i < KYMO_TRACETOOLS_HUMBLE; i++)
		if (kymo_tracetools_symbol(kymo_tracetools_ranges[i].symbol))
			return i;
	return KYMO_TRACETOOLS_HUMBLE;
}

static const char *probe_signature(void)
{
	const struct kymo_ust_point *point = kymo_tracetools_symbol(KYMO_UST_POINT);

	return point && point->struct_size >= sizeof *point ? point->signature : NULL;
}

static void decide(void)
{
	static struct kymo_tracetools_room room;
	struct kymo_tracetools_answer answer;
	uint32_t version;

	kymo_tracetools_decide(by_symbols(), probe_signature(), library_path, &answer, &room);
	version = answer.version;
	if (!version) {
		version = kymo_tracetools_number(answer.range->recorded);
		(void)snprintf(answer.text, sizeof answer.text, "%s", answer.range->recorded);
	}
	memcpy(kymo_tracetools.text, answer.text, sizeof answer.text);
	kymo_tracetools.gid_bytes = version < KYMO_V(5, 1) ? 24 : 16;
	kymo_tracetools.publish_has_handle = version >= KYMO_V(8, 0);
	decided = version;
}

static void collect(void)
{
	bool (*compiled)(void);

	if (*library_path)
		library = dlopen(library_path, RTLD_LAZY | RTLD_NOLOAD);
	compiled = (bool (*)(void))kymo_tracetools_symbol("ros_trace_compile_status");
	kymo_tracetools.has_lttng = compiled && compiled();
	decide();
}

static void probe(void)
{
	struct kymo_calm calm;

	kymo_calm_begin(&calm);
	if (!decided) {
		(void)dl_iterate_phdr(find_library, NULL);
		collect();
	}
	__atomic_store_n(&kymo_tracetools.version, decided, __ATOMIC_RELEASE);
	kymo__set_tracetools(decided, kymo_tracetools.text);
	kymo_calm_end(&calm);
}

void kymo_tracetools_probe(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	static __thread bool probing;

	if (probing)
		/*
		 * in a signal handler that interrupted probe(): its event uses the values known so
		 * far
		 */
		return;
	probing = true;
	(void)pthread_once(&once, probe);
	probing = false;
}

KYMO_GUEST_CHECKS_LAYOUT()

__attribute__((constructor))
static void load(void)
{
	const char *forward = secure_getenv("KYMO_FORWARD");

	kymo_forward = forward && forward[0] == '1' && !forward[1];
	/* The usual case: before the first event, which may be in a signal handler. The loader's
	 * functions do not belong there. */
	if (dl_iterate_phdr(find_library, NULL))
		collect();
}
