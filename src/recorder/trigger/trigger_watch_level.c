/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Rates, silences and busy times. A rate and a busy time are judged in windows: a second, or ten
 * messages of a slow topic. A window in which events were lost does not count. What is beyond its
 * limit is reported when that begins; as a part of "and" or of "for N times", once in each window.
 */

#include "base/array.h"
#include "recorder/trigger/trigger_watch.h"

static uint64_t window_ns(const struct trigger *condition)
{
	const double ten = 10 / condition->limit;

	return condition->kind == TRIGGER_RATE && ten > 1 && ten < 3600 ? (uint64_t)(ten * 1e9)
									: WATCH_SECOND;
}

void watch_levels_of(struct trigger_watch *watch, struct watch_levels *levels, const char *name,
		     uint32_t mask)
{
	for (unsigned i = 0; i < watch->triggers->count; i++) {
		if (!(mask & 1u << i) || watch->levels == WATCH_LEVELS_MAX ||
		    !ARRAY_ROOM(watch->level, watch->levels, watch->levels_room) ||
		    !ARRAY_ROOM(levels->at, levels->count, levels->room))
			continue;
		watch->level[watch->levels] = (struct watch_level){ .condition = i, .name = name };
		levels->at[levels->count++] = (uint16_t)watch->levels++;
	}
}

/* A window ends. */
static void judge_window(struct trigger_watch *watch, struct watch_level *level, uint64_t end_ns)
{
	const struct trigger *condition = &watch->triggers->item[level->condition];
	const double seconds = (double)(end_ns - level->begin_ns) / 1e9;
	const double value =
		(double)level->sum / (condition->kind == TRIGGER_RATE ? seconds : seconds * 1e9);
	const bool bad = condition->below ? value < condition->limit : value > condition->limit;
	const bool was = level->bad;

	level->bad = bad;
	level->sum = 0;
	level->begin_ns = end_ns;
	if (bad && (!was || trigger_repeats(condition)))
		watch_hit(watch, 1u << level->condition, end_ns, (uint64_t)(value * 1000),
			  level->name, level->owner, NULL);
}

static void close_windows(struct trigger_watch *watch, struct watch_level *level, uint64_t ns)
{
	const uint64_t window = window_ns(&watch->triggers->item[level->condition]);

	while (level->begin_ns && ns >= level->begin_ns + window)
		judge_window(watch, level, level->begin_ns + window);
}

static void judge_silence(struct trigger_watch *watch, struct watch_level *level, uint64_t ns)
{
	const struct trigger *condition = &watch->triggers->item[level->condition];

	if (!level->last_ns || ns < level->last_ns || ns - level->last_ns <= condition->over_ns)
		return;
	if (level->bad && !(condition->parts > 1 && ns - level->told_ns >= WATCH_SECOND))
		return;
	level->told_ns = level->bad ? ns : level->last_ns + condition->over_ns;
	level->bad = true;
	watch_hit(watch, 1u << level->condition, level->told_ns, ns - level->last_ns, level->name,
		  level->owner, NULL);
}

void watch_published(struct trigger_watch *watch, struct watch_topic *topic, uint64_t ns,
		     const void *owner)
{
	for (unsigned i = 0; i < topic->levels.count; i++) {
		struct watch_level *level = &watch->level[topic->levels.at[i]];

		level->owner = owner;
		level->off = false;
		if (watch->triggers->item[level->condition].kind == TRIGGER_SILENT) {
			judge_silence(watch, level, ns);
			level->bad = false;
			level->last_ns = ns;
			continue;
		}
		close_windows(watch, level, ns);
		if (!level->begin_ns)
			level->begin_ns = ns;
		level->sum++;
	}
}

/* A run counts in each window for the part in it. A window that ends at @end_ns stays open: other
 * threads have parts, too. */
void watch_ran(struct trigger_watch *watch, int entity, uint64_t begin_ns, uint64_t end_ns,
	       const void *owner)
{
	const struct watch_levels *levels;

	if (entity < 0)
		return;
	levels = &watch->entity[entity].levels;
	for (unsigned i = 0; i < levels->count; i++) {
		struct watch_level *level = &watch->level[levels->at[i]];
		uint64_t from = begin_ns;

		level->owner = owner;
		if (!level->begin_ns)
			level->begin_ns = (begin_ns / WATCH_SECOND + 1) * WATCH_SECOND;
		for (uint64_t next = level->begin_ns + WATCH_SECOND; end_ns > next;
		     next += WATCH_SECOND) {
			from = from > level->begin_ns ? from : level->begin_ns;
			level->sum += next > from ? next - from : 0;
			judge_window(watch, level, next);
		}
		from = from > level->begin_ns ? from : level->begin_ns;
		level->sum += end_ns > from ? end_ns - from : 0;
	}
}

void watch_count_open(struct trigger_watch *watch, uint64_t ns)
{
	for (struct watch_thread *thread = watch->threads; thread; thread = thread->next) {
		struct watch_run *run = &thread->run[0];

		if (!thread->depth || run->counted_ns >= ns)
			continue;
		watch_ran(watch, thread->process->entity, run->counted_ns, ns,
			  thread->process->owner);
		watch_ran(watch, run->callback->node, run->counted_ns, ns, thread->process->owner);
		run->counted_ns = ns;
	}
}

void watch_levels_until(struct trigger_watch *watch, uint64_t ns)
{
	if (watch->on_busy)
		watch_count_open(watch, ns / WATCH_SECOND * WATCH_SECOND);
	for (unsigned i = 0; i < watch->levels; i++) {
		struct watch_level *level = &watch->level[i];

		if (level->off) {
			level->begin_ns = level->last_ns = level->sum = 0;
			continue;
		}
		if (watch->triggers->item[level->condition].kind == TRIGGER_SILENT)
			judge_silence(watch, level, ns);
		else
			close_windows(watch, level, ns);
	}
}

void watch_levels_restart(struct trigger_watch *watch, uint64_t ns)
{
	for (unsigned i = 0; i < watch->levels; i++) {
		struct watch_level *level = &watch->level[i];

		level->sum = 0;
		if (level->begin_ns && level->begin_ns < ns)
			level->begin_ns = ns;
		if (level->last_ns && level->last_ns < ns)
			level->last_ns = ns;
	}
}
