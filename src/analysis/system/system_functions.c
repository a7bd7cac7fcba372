/* SPDX-License-Identifier: Apache-2.0 */
/* Functions of a profile without their callers; see system_functions.h. */
#include "analysis/system/system_functions.h"

#include <stdlib.h>

#include "base/array.h"

/* Walks the calls of a thread. */
struct functions_walk {
	struct functions *functions;
	const struct profile *profile;
	const struct profile_thread *thread;
	struct functions_group
		*group; /* NULL: outside of callbacks, whose functions are asked for */
	bool by_callback;
};

static struct functions_group *group_of(struct functions_walk *walk,
					const struct profile_call *callback)
{
	struct functions *functions = walk->functions;
	const uint64_t process =
		(uint64_t)walk->thread->os.host << 32 | (uint32_t)walk->thread->os.pid;
	const uint64_t key = callback ? callback->address : 0;
	struct functions_group *group = map_get(&functions->groups, key, process);

	if (!group) {
		group = pool_new(&functions->pool, sizeof(*group));
		if (!group || map_put(&functions->groups, key, process, group)) {
			functions->failed = true;
			return NULL;
		}
		*group = (struct functions_group){ .thread = walk->thread, .callback = callback };
	}
	return group;
}

static struct functions_row *row_of(struct functions_walk *walk, const struct profile_call *call)
{
	struct functions *functions = walk->functions;
	const uint64_t group = (uintptr_t)walk->group;
	struct functions_row *row = map_get(&functions->map, call->address, group);

	if (row)
		return row;
	row = pool_new(&functions->pool, sizeof(*row));
	if (!row || !ARRAY_ROOM(functions->row, functions->count, functions->room) ||
	    map_put(&functions->map, call->address, group, row)) {
		functions->failed = true;
		return NULL;
	}
	*row = (struct functions_row){ .group = walk->group, .thread = walk->thread, .call = call };
	functions->row[functions->count++] = row;
	return row;
}

static int64_t off_of(const struct profile *profile, const struct profile_call *call)
{
	if (profile->sampled)
		return call->off_ns;
	return profile->switches ? call->total_ns - call->cpu_ns : 0;
}

static void add(struct functions_walk *walk, struct functions_row *row,
		const struct profile_call *call)
{
	row->own_ns += call->own_ns;
	walk->group->own_ns += call->own_ns;
	if (row->open)
		return;
	row->calls += call->calls;
	row->samples += call->samples;
	row->total_ns += call->total_ns;
	row->cpu_ns += call->cpu_ns;
	row->off_ns += off_of(walk->profile, call);
}

static void walk_calls(struct functions_walk *walk, const struct profile_call *parent);

static void walk_callback(struct functions_walk *walk, const struct profile_call *callback)
{
	struct functions_group *before = walk->group;

	if (walk->by_callback) {
		walk->group = group_of(walk, callback);
		if (!walk->group)
			return;
		walk->group->runs += callback->calls;
		walk->group->runs_ns +=
			walk->profile->sampled ? callback->runs_ns : callback->total_ns;
	}
	walk_calls(walk, callback);
	walk->group = before;
}

/* PROFILE_DEPTH_MAX bounds the recursion. */
static void walk_calls(struct functions_walk *walk, const struct profile_call *parent)
{
	struct functions_row *row;

	for (const struct profile_call *call = parent->child; call; call = call->sibling) {
		if (call->is_callback) {
			walk_callback(walk, call);
			continue;
		}
		row = walk->group && !(walk->by_callback && call->is_around) ? row_of(walk, call)
									     : NULL;
		if (row) {
			add(walk, row, call);
			row->open++;
		}
		walk_calls(walk, call);
		if (row)
			row->open--;
	}
}

void functions_collect(struct functions *functions, const struct profile *profile, bool by_callback)
{
	struct functions_walk walk = { functions, profile, NULL, NULL, by_callback };

	*functions = (struct functions){ 0 };
	for (unsigned i = 0; (walk.thread = profile_thread(profile, i)); i++) {
		if (!walk.thread->has_functions || !walk.thread->root)
			continue;
		walk.group = by_callback ? NULL : group_of(&walk, NULL);
		walk_calls(&walk, walk.thread->root);
	}
}

void functions_free(struct functions *functions)
{
	map_free(&functions->groups);
	map_free(&functions->map);
	free(functions->row);
	pool_free(&functions->pool);
	*functions = (struct functions){ 0 };
}
