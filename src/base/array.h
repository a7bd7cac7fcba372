/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Arrays that grow. Three forms, and QUEUE_ROOM() for a list that is also taken from at its front:
 *
 *   struct array of elements that are created zeroed when they are first asked for, by index:
 *       struct thread *thread = array_at(&threads, index, sizeof(*thread));
 *
 *   a list of one's own with a count and a capacity, that is appended to:
 *       if (!ARRAY_ADD(list->item, list->count, list->capacity, item))
 *               return err_no_memory(err);
 *
 *   a buffer that must hold so many elements, for the caller to set:
 *       if (!ARRAY_FIT(text->bytes, text->size + more, text->room))
 *               return err_no_memory(err);
 *
 * Capacities double, so appending is amortised constant. Pointers to elements hold until the next
 * growth.
 *
 * Context: allocates; not thread-safe; not for the traced process.
 */
#ifndef KYMO_BASE_ARRAY_H
#define KYMO_BASE_ARRAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* Elements of an array whose size the compiler knows. */
#define COUNT_OF(array) (sizeof(array) / sizeof(*(array)))

struct array {
	void *item;
	uint32_t count;		/* elements that exist; those never asked for are zero */
};

/* For array_at(): the element at @index does not exist yet. */
void *array_extend(struct array *array, uint32_t index, size_t size);

/**
 * array_at() - the element at @index; it and those before it are created, zeroed, if they do not
 * exist
 * @size: of an element, in bytes; the same in each call
 * Return: the element; NULL when there is no memory, and the array is as it was.
 */
static inline void *array_at(struct array *array, uint32_t index, size_t size)
{
	if (__builtin_expect(index < array->count, 1))
		return (char *)array->item + index * size;
	return array_extend(array, index, size);
}

/**
 * ARRAY_AT() - array_at() of a list of one's own: @items, a pointer to elements, and @length, a
 * uint32_t variable
 * Return: the element at @index; NULL when there is no memory, and @items is as it was.
 */
#define ARRAY_AT(items, length, index) \
	__extension__({ \
		const uint32_t array_index_ = (index); \
		__typeof__(items) array_at_; \
		if (__builtin_expect(array_index_ < (length), 1)) { \
			array_at_ = &(items)[array_index_]; \
		} else { \
			struct array array_grown_ = { (items), (length) }; \
			array_at_ = array_extend(&array_grown_, array_index_, sizeof(*(items))); \
			(items) = array_grown_.item; \
			(length) = array_grown_.count; \
		} \
		array_at_; \
	})

/** ARRAY_GET() - the element of @type at @index of a struct array, const; a zeroed one if it does
 * not exist. */
#define ARRAY_GET(array, type, index)                                                      \
	__extension__({                                                                    \
		static const type array_none_;                                             \
		const uint32_t array_index_ = (index);                                     \
		array_index_ < (array).count ? &((const type *)(array).item)[array_index_] \
					     : &array_none_;                               \
	})

/** array_free() - free the elements; what they point to is the caller's. The array is empty
 * afterwards. */
void array_free(struct array *array);

/**
 * ARRAY_FIT() - make sure that @items, a pointer to elements, has room for @needed elements in all
 * @capacity: an integer variable: elements that fit; 0 at first, with @items NULL
 * Return: true; false when there is no memory or @capacity can't count so far, and the elements are
 * as they were.
 */
#define ARRAY_FIT(items, needed, capacity) \
	((needed) <= (capacity) || __extension__({ \
		size_t array_capacity_ = (capacity); \
		void *array_items_ = array_fit((items), (needed), &array_capacity_, sizeof(*(items))); \
		const bool array_fits_ = array_items_ && (__typeof__(capacity))array_capacity_ == array_capacity_; \
		if (array_items_) \
			(items) = array_items_; \
		if (array_fits_) \
			(capacity) = (__typeof__(capacity))array_capacity_; \
		array_fits_; \
	}))

/** ARRAY_ROOM() - ARRAY_FIT() for one element more than the @count that are in use. */
#define ARRAY_ROOM(items, count, capacity) ARRAY_FIT(items, (size_t)(count) + 1, capacity)

/**
 * ARRAY_ADD() - append the value in the last argument. Return: true; false: as ARRAY_FIT().
 */
#define ARRAY_ADD(items, count, capacity, ...) \
	(ARRAY_ROOM(items, count, capacity) && __extension__({ \
		 (items)[(count)++] = (__VA_ARGS__); \
		 true; \
	 }))

/**
 * QUEUE_ROOM() - the same for a queue, whose elements in use are @items[@first] to @items[@first +
 * @count - 1]
 *
 * Take the first one with @first++ and @count--; append at @items[@first + @count++]. The elements
 * move to the front of the array when at least as many have been taken, so appending is amortised
 * constant, too.
 */
#define QUEUE_ROOM(items, first, count, capacity) __extension__({ \
	if ((first) && (first) >= (count)) { \
		memmove((items), (items) + (first), (count) * sizeof(*(items))); \
		(first) = 0; \
	} \
	ARRAY_ROOM(items, (first) + (count), capacity); \
})

/**
 * array_fit() - for ARRAY_FIT(), and for elements whose @size only the caller knows: @items moved
 * to where @needed fit, twice as many as now, and at least 16
 * Return: the elements; NULL without memory.
 */
void *array_fit(void *items, size_t needed, size_t *capacity, size_t size);

#endif
