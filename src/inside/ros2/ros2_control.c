/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The update loop of ros2_control, which has no tracepoints: read(), update()
 * and write() of the controller manager, and within them read() and write() of
 * each hardware component, and update() of each controller. Each is recorded as
 * a callback that runs on the loop's thread, so what a controller publishes in
 * update() belongs to that run.
 *
 * The callback's address in the trace is that of the object plus a small
 * number, where no object can be. Its name is told once, and again if another
 * component has come to lie there.
 */
#include <stdio.h>
#include <string.h>

#include "inside/ros2/ros2_attach.h"
#include "inside/ros2/ros2_emit.h"
#include "inside/ros2/ros2_late.h"
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

/* ---- controllers ---- */

/* The words of an object begin with the address of the functions of its class,
 * two words into the class's table. */
static bool is_of_class(uintptr_t object, uintptr_t table)
{
	return *(const uintptr_t *)object == table + 2 * sizeof(uintptr_t);
}

/*
 * ControllerInterfaceBase::trigger_update(time, period) has one mangled name and two types of
 * results: a pair in a register up to 4.20, a structure in memory from 4.21 on, whose address is an
 * argument before `this` on x86-64. The time tells which: it is the argument after `this`. All the
 * words that are looked at are references to objects with virtual functions, in both versions.
 */
static uintptr_t controller_of(const struct kymo_call *call)
{
	static void *known;
	const uintptr_t table =
		(uintptr_t)kymo_below(&known, "_ZTVN6rclcpp4TimeE", call->caller, NULL);

	if (!table)
		return 0;
	if (is_of_class(call->second, table))
		return call->first;
	return is_of_class(call->first, table) ? call->self : 0;
}

/* An asynchronous controller runs update() on a thread of its own; the loop only wakes that. */
static bool is_async(uintptr_t controller, const void *caller)
{
	static void *known;
	bool (*ask)(uintptr_t) = (bool (*)(uintptr_t))kymo_below(
		&known, "_ZNK20controller_interface23ControllerInterfaceBase8is_asyncEv", caller,
		NULL);

	return ask && ask(controller);
}

/* Its rclcpp_lifecycle::LifecycleNode. */
static const void *node_of(uintptr_t controller, const void *caller)
{
	static void *known;

	return kymo_handle_of(&known,
			      "_ZN20controller_interface23ControllerInterfaceBase8get_nodeEv",
			      (uintptr_t)&controller, caller);
}

static const char *name_of(const void *node, const void *caller)
{
	static void *known;
	const char *(*get)(const void *) = (const char *(*)(const void *))kymo_below(
		&known, "_ZNK16rclcpp_lifecycle13LifecycleNode8get_nameEv", caller, NULL);
	const char *name = node && get ? get(node) : NULL;

	return name ? name : "controller";
}

/* After an attach, publishers are known by the node that uses them. */
static void tell_node(const void *node, const void *caller)
{
	static void *base_known, *known;
	const void *base = kymo_handle_of(
		&base_known, "_ZN16rclcpp_lifecycle13LifecycleNode23get_node_base_interfaceEv",
		(uintptr_t)&node, caller);
	const void *(*get)(const void *) = (const void *(*)(const void *))kymo_below(
		&known, "_ZN6rclcpp15node_interfaces8NodeBase19get_rcl_node_handleEv", caller,
		NULL);

	kymo_late_uses(base && get ? get(base) : NULL);
}

void kymo_controller_updates(struct kymo_call *call)
{
	const void *node;
	const char *name;

	call->kept[0] = 0;
	if (!kymo_enable_byte(KYMO_POINT_callback_start))
		return;
	call->kept[0] = controller_of(call);
	if (!call->kept[0] || is_async(call->kept[0], call->caller)) {
		call->kept[0] = 0;
		return;
	}
	node = node_of(call->kept[0], call->caller);
	name = name_of(node, call->caller);
	begins(call->kept[0], UPDATE, name, strlen(name));
	if (node && kymo_came_late())
		tell_node(node, call->caller);
}

void kymo_controller_update_ends(struct kymo_call *call)
{
	if (!call->kept[0])
		return;
	if (kymo_came_late())
		kymo_late_uses(NULL);
	ends(call->kept[0], UPDATE);
}
