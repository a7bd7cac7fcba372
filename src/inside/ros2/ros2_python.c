/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hook for rclpy (ros2/kymo_py/kymo/rclpy_hook.py) reports and no tracepoint does:
 * executors and callback groups of rclpy. The hook calls these functions through ctypes, with the
 * interpreter's lock.
 *
 * Kinds are characters: s subscription, t timer, v service, c client, e executor, g callback group.
 */
#include "inside/ros2/ros2_emit.h"

KYMO_EXPORT void kymo__python_executor(const void *executor, const char *type);
KYMO_EXPORT void kymo__python_group(const void *executor, const void *group, bool reentrant);
KYMO_EXPORT void kymo__python_member(char kind, const void *group, const void *handle);
KYMO_EXPORT void kymo__python_gone(char kind, const void *object);
KYMO_EXPORT void kymo__python_resume(const void *callback, uint64_t coroutine, uint64_t number);
KYMO_EXPORT void kymo__python_await(const void *callback, uint64_t coroutine, uint64_t number,
				    uint64_t awaited, const void *handle);

void kymo__python_executor(const void *executor, const char *type)
{
	kymo_emit_construct_executor(executor, type);
}

void kymo__python_group(const void *executor, const void *group, bool reentrant)
{
	kymo_emit_add_callback_group(executor, group,
				     reentrant ? "reentrant" : "mutually_exclusive");
}

void kymo__python_member(char kind, const void *group, const void *handle)
{
	if (kind == 't')
		kymo_emit_callback_group_add_timer(group, handle);
	else if (kind == 's')
		kymo_emit_callback_group_add_subscription(group, handle);
	else if (kind == 'v')
		kymo_emit_callback_group_add_service(group, handle);
	else if (kind == 'c')
		kymo_emit_callback_group_add_client(group, handle);
}

void kymo__python_gone(char kind, const void *object)
{
	kymo__log_gone(kind == 'e' ? KYMO_ENTITY_EXECUTOR : KYMO_ENTITY_GROUP,
		       (uint64_t)(uintptr_t)object);
}

/* The callback_start that follows is of a coroutine that had awaited something. */
void kymo__python_resume(const void *callback, uint64_t coroutine, uint64_t number)
{
	KYMO_RECORD(callback_resume, callback, coroutine, number);
}

/* The callback_end that follows is of a coroutine that awaits something. */
void kymo__python_await(const void *callback, uint64_t coroutine, uint64_t number, uint64_t awaited,
			const void *handle)
{
	KYMO_RECORD(callback_await, callback, coroutine, number, awaited, handle);
}
