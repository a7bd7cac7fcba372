/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The places in a program that emit its own events.
 *
 * A site is a place in the code that emits an event, e.g. one KYMO_BEGIN(). Each site gets an event
 * id and is declared in the init log. Its events go to the thread's ring like all other events
 * (tracer_user.c).
 *
 * Sites with equal declarations share an id, e.g. the copies of a header's inline function in
 * several files. Two declarations are equal if their hashes are; so the comparison never reads
 * memory of a library that was unloaded.
 *
 * Ids and ranges of sites survive fork(): the child's region gets the same declarations with the
 * same ids.
 */
#include "abi/points.h"
#define KYMO_REGISTER_LATE
#include "kymo/kymo.h"
#include "inside/tracer/tracer_calm.h"
#include "inside/tracer/tracer_initlog.h"
#include "inside/tracer/tracer_process.h"

static_assert(KYMO__F64 == (int)KYMO_KIND_F64 && KYMO__TEXT == (int)KYMO_KIND_STR, "kinds as in the abi");
static_assert(KYMO__COUNTER == (int)KYMO_SHAPE_COUNTER, "shapes as in the abi");
static_assert(KYMO_SITE_NEW == KYMO_POINT_UNDECLARED, "ids as in the abi");

/* All sites of a C program or library are one range. In C++ each site is a range of its own. */
#define RANGES_MAX	(KYMO_POINTS_MAX + 1024)
#define DECLARATION_MAX	(sizeof(struct kymo_declaration) + 4 * KYMO_DECLARED_TEXT_MAX + \
			 KYMO_EVENT_FIELDS_MAX * (1 + KYMO_DECLARED_TEXT_MAX))

/* Changed under the lock kymo_process.declaring. */
static struct {
	unsigned ids;			/* number of ids in use, from KYMO_POINTS_TABLE on */
	unsigned ranges;
	uint64_t hash[KYMO_POINTS_MAX - KYMO_POINTS_TABLE];	/* hash of each id's declaration */
	struct {
		struct kymo_site *begin, *end;
	} range[RANGES_MAX];
} sites;

static __thread bool inside;		/* this thread holds the lock, or waits for it */

/* @calm: until unlock(). Return: false: in a signal handler that interrupted a change, or the
 * thread that changes is stopped. */
static bool lock(struct kymo_calm *calm)
{
	struct kymo_process *process = inside ? NULL : kymo_process_get();

	if (!process)
		return false;
	kymo_calm_begin(calm);
	inside = true;
	if (kymo_lock_take(&process->declaring, kymo_own_tid(), KYMO_LOCK_TRIES))
		return true;
	inside = false;
	kymo_calm_end(calm);
	return false;
}

static void unlock(const struct kymo_calm *calm)
{
	kymo_lock_release(&kymo_process->declaring);
	inside = false;
	kymo_calm_end(calm);
}

static __thread bool locked_to_fork;
static __thread struct kymo_calm calm_to_fork;

/* If another thread changed the list during fork(), the child would get half of the change. So
 * fork() holds the lock itself. */
void kymo_user_fork_begin(void)
{
	locked_to_fork = kymo_process && lock(&calm_to_fork);
}

void kymo_user_fork_end(void)
{
	if (locked_to_fork)
		unlock(&calm_to_fork);
	locked_to_fork = false;
}

/* The child has no private state yet, and so no lock. */
void kymo_user_forked(void)
{
	if (locked_to_fork)
		kymo_calm_end(&calm_to_fork);
	locked_to_fork = false;
	inside = false;
}

static char *put_text(char *at, const char *text)
{
	size_t length = text ? strnlen(text, KYMO_DECLARED_TEXT_MAX - 1) : 0;

	memcpy(at, text ? text : "", length);
	at[length] = 0;
	return at + length + 1;
}

/* Return: size of the declaration in @to. */
static size_t describe(const struct kymo_site *site, uint8_t to[DECLARATION_MAX])
{
	struct kymo_declaration head = {
		.id = site->own_id,
		.shape = site->shape,
		.field_count = site->field_count,
		.line = site->line,
	};
	char *at = (char *)to + sizeof head;

	if (head.field_count > KYMO_EVENT_FIELDS_MAX)
		head.field_count = KYMO_EVENT_FIELDS_MAX;
	memcpy(to, &head, sizeof head);
	at = put_text(at, site->category);
	at = put_text(at, site->name);
	at = put_text(at, site->file);
	at = put_text(at, site->function);
	for (unsigned i = 0; i < head.field_count; i++) {
		*at++ = (char)site->field[i].kind;
		at = put_text(at, site->field[i].name);
	}
	return (size_t)((uint8_t *)at - to);
}

static uint64_t hash_of(const uint8_t *bytes, size_t size)
{
	uint64_t hash = 0xcbf29ce484222325ull;

	/* The hash leaves out the id: the hash is used to find the id. */
	for (size_t i = offsetof(struct kymo_declaration, shape); i < size; i++)
		hash = (hash ^ bytes[i]) * 0x100000001b3ull;
	return hash;
}

/* Write a declaration to the init log. If the process is in state RECORD, switch the event on. */
static void declare(uint16_t id, uint8_t *description, size_t size)
{
	struct kymo_region *region;
	struct kymo_fact fact;

	memcpy(description, &id, sizeof id);
	if (!kymo__log_reserve(&fact, KYMO_LOG_DECLARE, size))
		return;			/* counted; the id stays switched off */
	memcpy(fact.payload, description, size);
	kymo__log_commit(&fact);
	region = kymo_process->region;
	if (__atomic_load_n(&region->state, __ATOMIC_ACQUIRE) == KYMO_STATE_RECORD)
		/*
		 * Release: a reader that finds a record with this id also finds the declaration in
		 * the log.
		 */
		__atomic_store_n((uint8_t *)region + KYMO_ENABLE_PAGE * KYMO_PAGE + id, 1,
				 __ATOMIC_RELEASE);
}

/* Under the lock: a small stack has no room for it. */
static uint8_t declaration[DECLARATION_MAX];

/* Set the id whose enable byte @site tests; lock held. */
static void choose_id(struct kymo_site *site)
{
	uint16_t id = site->own_id;

	if (kymo_category_off(site->category))
		id = site->shape == KYMO__END && id < KYMO_IDS_END ? KYMO_POINT_ENDS
								   : KYMO_POINT_MUTED;
	__atomic_store_n(&site->id, id, __ATOMIC_RELEASE);
}

/* Give @site its id; lock held. */
static void enter(struct kymo_site *site)
{
	const size_t size = describe(site, declaration);
	const uint64_t hash = hash_of(declaration, size);
	unsigned i = 0;
	uint16_t id;

	while (i < sites.ids && sites.hash[i] != hash)
		i++;
	id = (uint16_t)(KYMO_POINTS_TABLE + i);
	if (id >= KYMO_IDS_END) {
		/* all ids are used up: the events are counted, not recorded */
		id = KYMO_POINT_NO_ID;
	} else if (i == sites.ids) {
		sites.hash[sites.ids++] = hash;
		declare(id, declaration, size);
	}
	if (site->shape == KYMO__END && id < KYMO_IDS_END)
		kymo_switch_is_end(id);
	__atomic_store_n(&site->own_id, id, __ATOMIC_RELAXED);
	choose_id(site);
}

void kymo__register(struct kymo_site *begin, struct kymo_site *end)
{
	struct kymo_calm calm;
	bool known = false;

	if (kymo_settings.disabled || !kymo_thread_slot() || !lock(&calm))
		return;
	for (unsigned i = 0; i < sites.ranges; i++)
		known |= sites.range[i].begin == begin;
	if (!known && sites.ranges < RANGES_MAX) {
		sites.range[sites.ranges].begin = begin;
		sites.range[sites.ranges++].end = end;
	}
	for (struct kymo_site *site = begin; site < end; site++)
		if (site->own_id == KYMO_SITE_NEW)
			enter(site);
	unlock(&calm);
}

void kymo__unregister(struct kymo_site *begin)
{
	struct kymo_calm calm;

	if (!lock(&calm))
		return;
	for (unsigned i = 0; i < sites.ranges; i++)
		if (sites.range[i].begin == begin) {
			sites.range[i] = sites.range[--sites.ranges];
			break;
		}
	unlock(&calm);
}

/*
 * A forked child has a new region, but already has the ids of its parent: write their declarations
 * to the new region.
 */
void kymo_user_declare_again(void)
{
	static uint8_t told[KYMO_POINTS_MAX];
	struct kymo_calm calm;

	if (!sites.ranges || !lock(&calm))
		return;
	memset(told, 0, sizeof told);
	for (unsigned i = 0; i < sites.ranges; i++)
		for (struct kymo_site *site = sites.range[i].begin; site < sites.range[i].end;
		     site++) {
			const uint16_t id = site->own_id;

			if (id < KYMO_POINTS_TABLE || id >= KYMO_IDS_END || told[id])
				continue;
			told[id] = 1;
			declare(id, declaration, describe(site, declaration));
		}
	unlock(&calm);
}

void kymo_site_enter(struct kymo_site *site)
{
	struct kymo_calm calm;

	if (!lock(&calm))
		return;
	if (site->own_id == KYMO_SITE_NEW)
		enter(site);
	unlock(&calm);
}

bool kymo_set_category(const char *category, bool on)
{
	struct kymo_calm calm;
	bool remembered;

	if (!lock(&calm))
		return false;
	remembered = kymo_category_set(category, on);
	for (unsigned i = 0; remembered && i < sites.ranges; i++)
		for (struct kymo_site *site = sites.range[i].begin; site < sites.range[i].end;
		     site++)
			if (site->own_id != KYMO_SITE_NEW)
				choose_id(site);
	unlock(&calm);
	return remembered;
}
