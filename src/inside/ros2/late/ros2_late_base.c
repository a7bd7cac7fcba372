/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A subscription holds a pointer to rclcpp's NodeBase, at a place that differs between versions. A
 * word of the object is that pointer if it leads to an object with NodeBase's table of virtual
 * functions whose rcl_node_t the subscription holds, too. The words are read through the kernel, so
 * that a word that is no pointer does no harm.
 *
 * A NodeBase has a list of its groups: a std::vector of pairs of words, whose first is the address
 * of a group. Where the list is, groups show whose node is known otherwise: at the first place that
 * lists such a group. Behind its end, a NodeBase may be followed by another one, with a list of
 * other groups.
 */
#include "inside/ros2/late/ros2_late_base.h"

#include <stdbool.h>
#include <string.h>

#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/late/ros2_late_cxx.h"

#define WORDS 32u      /* of a subscription that are looked at */
#define BASE_WORDS 64u /* of a NodeBase */
#define BASES_MAX 256u

typedef const void *node_getter(const void *object);

static bool is_base(uintptr_t base, const void *caller)
{
	static struct kymo_late_symbol table = { "_ZTVN6rclcpp15node_interfaces8NodeBaseE", NULL,
						 false };
	const uintptr_t wanted = (uintptr_t)kymo_late_symbol(&table, caller);
	uintptr_t its;

	return wanted && kymo_cxx_may_point(base) && kymo_cxx_read((const void *)base, &its, 1) &&
	       its == wanted + 2 * sizeof(void *);
}

const void *kymo_base_node(uintptr_t base, const void *caller)
{
	static struct kymo_late_symbol handle = {
		"_ZN6rclcpp15node_interfaces8NodeBase19get_rcl_node_handleEv", NULL, false
	};
	node_getter *get = (node_getter *)kymo_late_symbol(&handle, caller);

	return get && is_base(base, caller) ? get((const void *)base) : NULL;
}

/* NodeBases that were seen, and their rcl_node_t. A NodeBase may have ended since. */
static struct {
	uintptr_t base;
	const void *node;
} known[BASES_MAX];
static unsigned bases;
static unsigned list_at; /* words from a NodeBase's begin to its list of groups; 0: not known */

void kymo_base_remember(uintptr_t base, const void *node)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	unsigned at;

	for (unsigned i = 0; i < count && i < BASES_MAX; i++)
		if (__atomic_load_n(&known[i].base, __ATOMIC_RELAXED) == base &&
		    __atomic_load_n(&known[i].node, __ATOMIC_RELAXED) == node)
			return;
	if (count >= BASES_MAX)
		return;
	at = __atomic_fetch_add(&bases, 1, __ATOMIC_ACQ_REL);
	if (at >= BASES_MAX)
		return;
	__atomic_store_n(&known[at].node, node, __ATOMIC_RELAXED);
	__atomic_store_n(&known[at].base, base, __ATOMIC_RELEASE);
}

unsigned kymo_base_count(void)
{
	return __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
}

void kymo_base_forget(void)
{
	memset(known, 0, sizeof known);
	bases = list_at = 0;
}

static bool vector_has(const uintptr_t *vector, const void *group)
{
	const uintptr_t begin = vector[0], end = vector[1], pair = 2 * sizeof(void *);
	uintptr_t first;

	if (!begin || begin >= end || end > vector[2] || (end - begin) % pair ||
	    end - begin > pair * 1024)
		return false;
	for (uintptr_t at = begin; at < end; at += pair)
		if (!kymo_cxx_read((const void *)at, &first, 1))
			return false;
		else if (first == (uintptr_t)group)
			return true;
	return false;
}

static bool has_word(const uintptr_t *word, unsigned count, const void *wanted)
{
	for (unsigned i = 0; i < count; i++)
		if (word[i] == (uintptr_t)wanted)
			return true;
	return false;
}

static const void *node_of_known(unsigned at, uintptr_t *base)
{
	*base = __atomic_load_n(&known[at].base, __ATOMIC_ACQUIRE);
	return __atomic_load_n(&known[at].node, __ATOMIC_RELAXED);
}

void kymo_base_learn_list(const void *group, const void *node)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	uintptr_t word[BASE_WORDS], base;

	if (__atomic_load_n(&list_at, __ATOMIC_RELAXED))
		return;
	for (unsigned i = 0; i < count && i < BASES_MAX; i++) {
		const unsigned words = node_of_known(i, &base) == node ?
					       kymo_cxx_read_some((const void *)base, word,
								  BASE_WORDS) :
					       0;

		for (unsigned k = 1; k + 2 < words; k++)
			if (vector_has(word + k, group)) {
				__atomic_store_n(&list_at, k, __ATOMIC_RELEASE);
				return;
			}
	}
}

/* Nothing is called here, because the NodeBase may end at any time. */
const void *kymo_base_node_of_group(const void *group, const void *caller)
{
	const unsigned count = __atomic_load_n(&bases, __ATOMIC_ACQUIRE);
	const unsigned list = __atomic_load_n(&list_at, __ATOMIC_ACQUIRE);
	uintptr_t word[BASE_WORDS], base;

	for (unsigned i = 0; list && i < count && i < BASES_MAX; i++) {
		const void *node = node_of_known(i, &base);
		const struct kymo_seen *seen = kymo_seen_find((uintptr_t)node);
		unsigned words;

		if (!seen || kymo_seen_kind(seen) != SEEN_NODE || !is_base(base, caller))
			continue;
		words = kymo_cxx_read_some((const void *)base, word, BASE_WORDS);
		if (list + 2 < words && has_word(word, words, node) &&
		    vector_has(word + list, group))
			return node;
	}
	return NULL;
}

const void *kymo_base_node_of_subscription(const void *subscription, const void *caller)
{
	uintptr_t word[WORDS];
	const unsigned count = kymo_cxx_read_some(subscription, word, WORDS);

	for (unsigned i = 0; i < count; i++) {
		const void *node = kymo_base_node(word[i], caller);

		if (node && has_word(word, count, node)) {
			kymo_base_remember(word[i], node);
			return node;
		}
	}
	return NULL;
}
