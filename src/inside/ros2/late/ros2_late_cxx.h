/* SPDX-License-Identifier: Apache-2.0 */
/* Objects of C++ in a process to which kymo was attached: smart pointers, classes, and the names of
 * function objects; for libstdc++ and the Itanium C++ ABI. */
#ifndef KYMO_HOOKS_LATE_CXX_H
#define KYMO_HOOKS_LATE_CXX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* std::shared_ptr and std::weak_ptr. */
struct kymo_pointer {
	const void *object;
	uint8_t *control;
};

/** kymo_cxx_read() - read @count words through the kernel, so that an address that is none does no
 * harm. Context: one system call. */
bool kymo_cxx_read(const void *from, uintptr_t *words, unsigned count);

/** kymo_cxx_read_some() - the same, or fewer words: an object may end with its page. Return: how
 * many. Context: a few system calls. */
unsigned kymo_cxx_read_some(const void *from, uintptr_t *words, unsigned count);

/** kymo_cxx_may_point() - may @word be the address of an object? Leaves out most words without
 * asking the kernel. Context: wait-free. */
static inline bool kymo_cxx_may_point(uintptr_t word)
{
	return word >= 4096 && word < 1ull << 48 && word % sizeof(void *) == 0;
}

/** kymo_cxx_lock() - become a user of the object of a std::weak_ptr. Return: false: the object
 * ended. Context: lock-free. */
bool kymo_cxx_lock(const struct kymo_pointer *weak);

/** kymo_cxx_unlock() - be a user no more. Whoever is the last user destroys the object, which is
 * not kymo's to do: then the object stays for good. Context: lock-free. */
void kymo_cxx_unlock(const struct kymo_pointer *weak);

/** kymo_cxx_drop() - forget a std::weak_ptr. Context: lock-free. */
void kymo_cxx_drop(const struct kymo_pointer *weak);

/** kymo_cxx_class() - the mangled name of the class of @object, which has virtual functions and
 * exists; "": compiled without names of types. Context: wait-free. */
const char *kymo_cxx_class(const void *object);

/** kymo_cxx_read_class() - the first @size bytes of the same, of what may be an object or not; all
 * is read through the kernel. Return: false: it is none. Context: a few system calls. */
bool kymo_cxx_read_class(const void *maybe, char *name, size_t size);

/**
 * kymo_cxx_timer_symbol() - the name of a timer's callback, as tracetools writes it
 * @timer: the object, which exists
 * @callback: its function object
 *
 * Return: memory from malloc(); NULL: not known. Context: as malloc() and the dynamic linker's
 * locks.
 */
char *kymo_cxx_timer_symbol(const void *timer, const void *callback, const void *caller);

/** kymo_cxx_symbol() - the same for AnySubscriptionCallback and AnyServiceCallback, which contain a
 * std::function. Context: as above. */
char *kymo_cxx_symbol(const void *callback, const void *caller);

/** kymo_cxx_first_function() - where @object, which exists, has its first std::function that is
 * set, in bytes; 0: nowhere in its first words. Context: the dynamic linker's locks. */
size_t kymo_cxx_first_function(const void *object);

#endif
