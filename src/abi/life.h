/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Decides which facts of an init log still hold. The process uses this rule to forget the other
 * facts; a recorder that starts late uses the same rule to read only the facts that hold now.
 *
 * Example: the fact "publisher 0x12 publishes /scan" holds until publisher 0x12 is destroyed, until
 * its node is destroyed, or until a later fact gives publisher 0x12 another topic. The LIFE rows of
 * tracepoints.def name the key and the objects of each fact.
 *
 *   struct kymo_lives lives;
 *   kymo_lives_begin(&lives, memory, count, gone);    memory: kymo_lives_bytes(count, gone), zeroed
 *   kymo_lives_add(&lives, ...);                      for each record, in any order
 *   kymo_lives_decide(&lives);
 *   kymo_lives_holds(&lives, &lives.fact[i])
 *
 * A fact ceases to hold if
 *
 *   - a later fact has the same key, or
 *   - a later record KYMO_LOG_GONE names the object of the fact, or an object that contains that
 *     object.
 *
 * "Later" compares origins. The algorithm has two steps. Each key and each object gets a slot in a
 * hash table, with the origin of the newest fact about it and of the newest KYMO_LOG_GONE. Then, in
 * a few rounds, each fact that ends also ends the objects that it created, until nothing changes.
 *
 * A new object at an old address replaces only the facts that are reported again: rcl reports a
 * node's own publisher before it reports the node, so the other facts cannot be attributed to the
 * old object. Objects that a replaced fact created end with that fact only in a log that has
 * KYMO_LOG_GONE records; other logs are decided by keys alone.
 *
 * In doubt a fact holds: one name too many does less harm than a missing name.
 *
 * Context: wait-free, in time proportional to its length; no allocation. Nothing from the traced
 * process is trusted.
 */
#ifndef KYMO_ABI_LIFE_H
#define KYMO_ABI_LIFE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "abi/points.h"
#include "abi/region.h"

/*
 * Kinds of objects that can be destroyed. RECEIVER: rclcpp's object of a subscription. RMW: an
 * object of the middleware. COLLECTOR: the object that holds the callback groups of an executor.
 * IPB: an intra-process buffer. BUFFER: the ring buffer inside an IPB.
 */
enum kymo_entity {
	KYMO_ENTITY_NONE,
	KYMO_ENTITY_CONTEXT,
	KYMO_ENTITY_NODE,
	KYMO_ENTITY_PUBLISHER,
	KYMO_ENTITY_SUBSCRIPTION,
	KYMO_ENTITY_SERVICE,
	KYMO_ENTITY_CLIENT,
	KYMO_ENTITY_TIMER,
	KYMO_ENTITY_RMW,
	KYMO_ENTITY_RECEIVER,
	KYMO_ENTITY_CALLBACK,
	KYMO_ENTITY_IPB,
	KYMO_ENTITY_BUFFER,
	KYMO_ENTITY_THREAD,
	KYMO_ENTITY_EXECUTOR,
	KYMO_ENTITY_COLLECTOR,
	KYMO_ENTITY_GROUP,
	KYMO_ENTITIES
};
/* longest chain of owners: node, subscription, receiver, ipb, buffer, and some spare */
#define KYMO_LIFE_DEPTH	8

/* A LIFE row of tracepoints.def. */
struct kymo_life {
	bool known;		/* the event has a row; otherwise the key is the whole payload */
	uint8_t key;
	struct {
		uint8_t entity, field;
	} makes, of, takes;
};

#define KYMO_LIFE_PART(entity, field) { KYMO_ENTITY_##entity, field }
static const struct kymo_life kymo_life[KYMO_POINTS_TABLE] = {
#define LIFE(id, key, makes, of, takes)                                           \
	[KYMO_POINT_##id] = { true, key, KYMO_LIFE_PART makes, KYMO_LIFE_PART of, \
			      KYMO_LIFE_PART takes },
#include "abi/tracepoints.def"
};

/* A slot of the hash table: a key of facts, or an object. */
struct kymo_life_slot {
	uint64_t name;   /* 0: free */
	uint64_t newest; /* 1 + origin of the latest fact that has this key, or creates this
			  * object */
	uint64_t gone;   /* 1 + origin of the latest record that ends this object; 0: none */
	uint64_t taker;  /* 1 + origin of the latest fact that attaches this object to another one
			    ("takes") */
};

struct kymo_life_fact {
	uint64_t origin, position;
	uint32_t key, makes, of, takes;	/* slots; 0: none */
	bool gone;
};

struct kymo_lives {
	struct kymo_life_fact *fact;
	struct kymo_life_slot *slot;
	size_t count, room;
	uint64_t mask;		/* slots - 1 */
	unsigned shift;
	bool gone;		/* the log has KYMO_LOG_GONE records: objects get slots, too */
};

/* Number of slots as a power of two. With objects, a fact has up to four names: its key and three
 * objects. */
static inline unsigned kymo_lives_bits(size_t count, bool gone)
{
	unsigned bits = 4;

	while (((size_t)1 << bits) / (gone ? 5 : 2) <= count)
		bits++;
	return bits;
}

/** kymo_lives_bytes() - memory for @count records; @gone: some of the records are KYMO_LOG_GONE. */
static inline size_t kymo_lives_bytes(size_t count, bool gone)
{
	return (sizeof(struct kymo_life_slot) << kymo_lives_bits(count, gone)) +
	       count * sizeof(struct kymo_life_fact);
}

static inline void kymo_lives_begin(struct kymo_lives *lives, void *memory, size_t count, bool gone)
{
	const unsigned bits = kymo_lives_bits(count, gone);

	*lives = (struct kymo_lives){
		.slot = (struct kymo_life_slot *)memory,
		.fact = (struct kymo_life_fact *)((uint8_t *)memory +
						  (sizeof(struct kymo_life_slot) << bits)),
		.room = count,
		.mask = ((uint64_t)1 << bits) - 1,
		.shift = 64 - bits,
		.gone = gone,
	};
}

/* The slot of @value among names of kind @kind: an entity, or 256 + the id of a fact. */
static inline uint32_t kymo_lives_slot(struct kymo_lives *lives, unsigned kind, uint64_t value)
{
	const uint64_t mixed = value ^ kind * 0x9e3779b97f4a7c15ull, name = mixed ? mixed : 1;
	uint64_t at = (name * 0xd6e8feb86659fd93ull) >> lives->shift;

	for (uint64_t i = 0; i < lives->mask; i++, at++) {
		at = at & lives->mask ? at & lives->mask : 1;
		if (lives->slot[at].name == name)
			return (uint32_t)at;
		if (!lives->slot[at].name) {
			lives->slot[at].name = name;
			return (uint32_t)at;
		}
	}
	return 0;			/* impossible: the table has more slots than names */
}

static inline void kymo_life_raise(uint64_t *word, uint64_t origin)
{
	if (*word <= origin)
		*word = origin + 1;
}

static inline uint64_t kymo_life_hash(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ull ^ size, word;

	for (; size >= 8; size -= 8, bytes += 8) {
		memcpy(&word, bytes, 8);
		hash = (hash ^ word) * 0x9e3779b97f4a7c15ull;
		hash ^= hash >> 29;
	}
	for (; size; size--)
		hash = (hash ^ *bytes++) * 0x100000001b3ull;
	return hash;
}

static inline uint64_t kymo_life_word(const uint8_t *payload, size_t size, unsigned field)
{
	uint64_t word = 0;

	if (size >= 8 * (field + 1))
		memcpy(&word, payload + 8 * field, 8);
	return word;
}

/** kymo_lives_add() - add a record (not padding); facts beyond the count of kymo_lives_begin() are
 * ignored. */
static inline void kymo_lives_add(struct kymo_lives *lives, const struct kymo_log_record *record,
				  const uint8_t *payload, size_t size, uint64_t position)
{
	const struct kymo_life *life =
		record->id < KYMO_POINTS_TABLE ? &kymo_life[record->id] : NULL;
	struct kymo_life_fact fact = { .origin = record->origin, .position = position };
	uint64_t value;

	if (record->id == KYMO_LOG_GONE) {
		const unsigned entity = (unsigned)kymo_life_word(payload, size, 1);
		uint32_t slot;

		if (!entity || entity >= KYMO_ENTITIES || !lives->gone)
			return;
		slot = kymo_lives_slot(lives, entity, kymo_life_word(payload, size, 0));
		kymo_life_raise(&lives->slot[slot].gone, record->origin);
		return;
	}
	if (lives->count == lives->room)
		return;
	if (record->key == KYMO_LOG_KEY_THREAD)
		value = record->tid;
	else if (life && life->known)
		value = kymo_life_word(payload, size, life->key);
	else
		value = kymo_life_hash(payload, size);
	fact.key = kymo_lives_slot(lives, 256u + record->id, value);
	kymo_life_raise(&lives->slot[fact.key].newest, fact.origin);
	if (lives->gone && record->key == KYMO_LOG_KEY_THREAD)
		fact.of = kymo_lives_slot(lives, KYMO_ENTITY_THREAD, record->tid);
	if (lives->gone && life && life->known) {
		if (life->makes.entity) {
			fact.makes =
				kymo_lives_slot(lives, life->makes.entity,
						kymo_life_word(payload, size, life->makes.field));
			kymo_life_raise(&lives->slot[fact.makes].newest, fact.origin);
		}
		if (life->of.entity)
			fact.of = kymo_lives_slot(lives, life->of.entity,
						  kymo_life_word(payload, size, life->of.field));
		if (life->takes.entity) {
			fact.takes =
				kymo_lives_slot(lives, life->takes.entity,
						kymo_life_word(payload, size, life->takes.field));
			kymo_life_raise(&lives->slot[fact.takes].taker, fact.origin);
		}
	}
	lives->fact[lives->count++] = fact;
}

static inline bool kymo_lives_holds(const struct kymo_lives *lives,
				    const struct kymo_life_fact *fact)
{
	return !fact->gone && lives->slot[fact->key].newest == fact->origin + 1;
}

/*
 * Ends a fact if its object is gone or a later fact replaced it. With the fact ends the object that
 * it created, unless a later fact created the object anew; and the object that it attached, unless
 * a later fact attached that object.
 * Return: an object ended.
 */
static inline bool kymo_lives_end(struct kymo_lives *lives, struct kymo_life_fact *fact)
{
	struct kymo_life_slot *makes = &lives->slot[fact->makes],
			      *takes = &lives->slot[fact->takes];
	const uint64_t of = lives->slot[fact->of].gone, self = fact->origin + 1;
	uint64_t at = lives->slot[fact->key].newest;
	bool changed = false;

	if (at < makes->gone)
		at = makes->gone;
	if (at < of)
		at = of;
	if (at <= self)
		return false;
	fact->gone = true;
	if (fact->makes && makes->newest == self && makes->gone < at) {
		makes->gone = at;
		changed = true;
	}
	if (fact->takes && takes->taker == self && takes->gone < self) {
		takes->gone = self;
		changed = true;
	}
	return changed;
}

/** kymo_lives_decide() - end objects until nothing changes. Call after the last
 * kymo_lives_add(). */
static inline void kymo_lives_decide(struct kymo_lives *lives)
{
	bool changed = lives->gone;

	for (unsigned round = 0; changed && round < KYMO_LIFE_DEPTH; round++) {
		changed = false;
		for (size_t i = 0; i < lives->count; i++)
			changed |= kymo_lives_end(lives, &lives->fact[i]);
	}
}

#endif
