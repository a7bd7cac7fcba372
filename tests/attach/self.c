// SPDX-License-Identifier: Apache-2.0
/*
 * A program that attaches kymo's library to itself, as the thread does that `kymo attach` starts:
 * for machines whose emulator has no ptrace. Its calls go to kymo while it is attached, and to
 * tracetools before and after; three times. Usage: self LIBRARY ROUNDS
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "abi/attach.h"
#include "tracetools/tracetools.h"

typedef void attach_function(struct kymo_attach_block *block);

static struct kymo_attach_block block;

static void order(attach_function *attach, enum kymo_attach_order what)
{
	block.version = KYMO_ATTACH_VERSION;
	block.order = what;
	attach(&block);
	if (block.result != KYMO_ATTACH_OK || !block.entries) {
		fprintf(stderr, "self: order %d: result %u, %u entries\n", what, block.result,
			block.entries);
		exit(1);
	}
}

/* One function is called, and the address of another one taken: two kinds of entries. */
static void calls(unsigned rounds, const char *expected)
{
	void (*volatile its)(const void *) = ros_trace_callback_end;
	Dl_info info;

	for (uintptr_t i = 1; i <= rounds; i++) {
		ros_trace_callback_start((void *)i, false);
		its((void *)i);
	}
	if (!dladdr((void *)(uintptr_t)its, &info) || !strstr(info.dli_fname, expected)) {
		fprintf(stderr, "self: calls lead to %s, not to %s\n", info.dli_fname, expected);
		exit(1);
	}
}

int main(int argc, char **argv)
{
	void *library = argc == 3 ? dlopen(argv[1], RTLD_NOW) : NULL;
	attach_function *attach =
		library ? (attach_function *)dlsym(library, KYMO_ATTACH_ENTRY) : NULL;
	const unsigned rounds = argc == 3 ? (unsigned)atoi(argv[2]) : 0;

	if (!attach) {
		fprintf(stderr, "self: %s\n", dlerror());
		return 2;
	}
	for (int i = 0; i < 3; i++) {
		order(attach, KYMO_ATTACH_ON);
		calls(rounds, "libkymo-ros2");
		order(attach, KYMO_ATTACH_OFF);
		calls(rounds, "libtracetools");
	}
	return 0;
}
