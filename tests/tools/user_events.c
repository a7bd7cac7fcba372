/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Everything include/kymo/kymo.h offers, once each, for tests/system/program/user.sh:
 *
 *     user_events [LIBRARY]      LIBRARY: a shared library with sites of its own, loaded and unloaded
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <kymo/kymo.h>

/* Before main(), perhaps before our own sites are registered. */
__attribute__((constructor(101))) static void early(void)
{
	KYMO_INSTANT("test", "early");
}

static void types(void)
{
	const char text[] = "an array";

	KYMO_TRACEPOINT("test", "types", ("u8", (uint8_t)200), ("i16", (short)-3), ("u32", 4000000000u),
			("i64", -5ll), ("ok", (bool)true), ("f", 0.25f), ("p", (void *)0x1234), ("s", text));
	KYMO_INSTANT("test", "nothing", ("s", (const char *)NULL));
	KYMO_COUNTER("test", "depth", 7);
	KYMO_COUNTER("test", "load", 0.5);
}

static void spans(void)
{
	KYMO_SPAN("test", "outer", ("n", 1));
	for (int i = 0; i < 2; i++) {
		KYMO_SPAN("test", "inner", ("i", i));
		KYMO_INSTANT("test", "step", ("flow", (uint64_t)42));
	}
	KYMO_BEGIN("test", "by hand");
	KYMO_END("test", "by hand");
	kymo_begin_named("test", "dynamic");
	kymo_end_named();
	kymo_instant_named("test", "a name made at run time");
	kymo_counter_named("test", "a counter made at run time", 2.5);
}

/* Off: nothing begins; a span that is open still ends. */
static void categories(void)
{
	KYMO_SPAN("test", "across the switch");
	kymo_set_category("test", false);
	KYMO_INSTANT("test", "must not be there");
	KYMO_SPAN("test", "must not be there either");
	KYMO_INSTANT("other", "category stays on");
	kymo_set_category("test", true);
}

static void *thread_main(void *argument)
{
	(void)argument;
	kymo_thread_name("worker");
	(void)kymo_thread_ready();
	KYMO_INSTANT("test", "from a thread");
	return NULL;
}

int main(int argc, char **argv)
{
	uint64_t track = kymo_track("my track", 0);
	pthread_t thread;
	pid_t child;

	types();
	spans();
	categories();
	KYMO_INSTANT("test", "on a track", ("track", track), ("at_ns", kymo_now()));
	if (pthread_create(&thread, NULL, thread_main, NULL) == 0)
		(void)pthread_join(thread, NULL);
	child = fork();
	if (child == 0) {
		KYMO_INSTANT("test", "from a child");
		_exit(0);
	}
	(void)waitpid(child, NULL, 0);
	for (int i = 0; argc > 1 && i < 3; i++) {
		void *library = dlopen(argv[1], RTLD_NOW);
		void (*say)(void) = library ? (void (*)(void))dlsym(library, "say") : NULL;

		if (!say) {
			(void)fprintf(stderr, "%s\n", dlerror());
			return 1;
		}
		say();
		(void)dlclose(library);
	}
	return 0;
}
