/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The update loop of ros2_control, which has no tracepoints: read(), update()
 * and write() of the controller manager, and within them read() and write() of
 * each hardware component. Each is recorded as a callback that runs on the
 * loop's thread, so what a controller publishes in update() belongs to that
 * run.
 *
 * The callback's address in the trace is that of the object plus a small
 * number, where no object can be. Its name is told once, and again if another
 * component has come to lie there.
 */
#include <stdio.h>
#include <string.h>

#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_libraries.h"

#define NAME_MAX_HERE 128u
#define TOLD_MAX 256u /* calls that have names, in all objects */

enum { READ = 1, UPDATE, WRITE };

static const char *const verbs[] = { [READ] = "read", [UPDATE] = "update", [WRITE] = "write" };

/* By address, with open addressing; a slot is never given to another address.
 */
static struct {
	uintptr_t address; /* 0: free */
	uint64_t name;     /* a hash */
} told[TOLD_MAX];

static uint64_t hash_of(const char *text, size_t length)
{
	uint64_t hash = 0xcbf29ce484222325u;

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)text[i]) * 0x100000001b3u;
	return hash;
}

/* Is this a new name for @address? Many threads may ask; then more than one
 * tells it. */
static bool is_new(uintptr_t address, uint64_t name)
{
	for (unsigned i = 0; i < TOLD_MAX; i++) {
		const unsigned at = (unsigned)(address / 16 + address % 16 + i) % TOLD_MAX;
		uintptr_t has = __atomic_load_n(&told[at].address, __ATOMIC_RELAXED);

		if (!has && __atomic_compare_exchange_n(&told[at].address, &has, address, false,
							__ATOMIC_RELAXED, __ATOMIC_RELAXED))
			has = address;
		if (has == address)
			return __atomic_exchange_n(&told[at].name, name, __ATOMIC_RELAXED) != name;
	}
	return false;
}

static void begins(uintptr_t object, unsigned verb, const char *name, size_t length)
{
	const uintptr_t address = object + verb;
	char symbol[NAME_MAX_HERE + 16];

	if (!kymo_enable_byte(KYMO_POINT_callback_start))
		return;
	if (length > NAME_MAX_HERE)
		length = NAME_MAX_HERE;
	if (is_new(address, hash_of(name, length))) {
		(void)snprintf(symbol, sizeof(symbol), "%.*s::%s", (int)length, name, verbs[verb]);
		kymo_emit_rclcpp_callback_register((const void *)address, symbol);
	}
	KYMO_RECORD(callback_start, (const void *)address, false);
}

static void ends(uintptr_t object, unsigned verb)
{
	KYMO_RECORD(callback_end, (const void *)(object + verb));
}

/* ---- the controller manager ---- */

static const char manager[] = "ControllerManager";

#define MANAGER(what, verb)                                             \
	void kymo_manager_##what##s(struct kymo_call *call)             \
	{                                                               \
		begins(call->self, verb, manager, sizeof(manager) - 1); \
	}                                                               \
	void kymo_manager_##what##_ends(struct kymo_call *call)         \
	{                                                               \
		ends(call->self, verb);                                 \
	}
MANAGER(read, READ)
MANAGER(update, UPDATE)
MANAGER(write, WRITE)

/* ---- hardware components ---- */

/* A std::string of libstdc++ begins with the address of its text and its
 * length. */
struct string {
	const char *text;
	size_t length;
};

/* @getter returns a reference. */
static void component_begins(struct kymo_call *call, unsigned verb, void **known,
			     const char *getter)
{
	const struct string *(*get)(uintptr_t) =
		(const struct string *(*)(uintptr_t))kymo_below(known, getter, call->caller, NULL);
	const struct string *name = get ? get(call->self) : NULL;

	if (name)
		begins(call->self, verb, name->text, name->length);
	else
		begins(call->self, verb, "component", sizeof("component") - 1);
}

#define COMPONENT(what, verb)                                                                      \
	void kymo_component_##what##s(struct kymo_call *call)                                      \
	{                                                                                          \
		static void *known;                                                                \
                                                                                                   \
		component_begins(call, verb, &known,                                               \
				 "_ZNK18hardware_interface17HardwareComponent8get_nameB5cxx11Ev"); \
	}                                                                                          \
	void kymo_component_##what##_ends(struct kymo_call *call)                                  \
	{                                                                                          \
		ends(call->self, verb);                                                            \
	}
COMPONENT(read, READ)
COMPONENT(write, WRITE)
