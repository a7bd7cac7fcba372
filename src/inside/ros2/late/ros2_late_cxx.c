/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A class says its name: the word before its table of virtual functions is the address of its
 * std::type_info, whose second word is the name.
 *
 *     object ──▶ │ table of virtual functions      type_info: │ table │ name ──▶ "N6rclcpp9Wall..."
 *                └ the word before ──────────────▶
 *
 * rclcpp::WallTimer<F> has the type of the timer's function in its name. A std::function is two
 * words for the function object, a manager, and the function to call; the manager answers with the
 * type_info of the function object if it is asked for it, and only reads.
 */
#include "inside/ros2/late/ros2_late_cxx.h"

#include <link.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "inside/ros2/late/ros2_late_ask.h"
#include "inside/ros2/ros2_symbols.h"

#define CALLBACK_WORDS 16u /* in which a callback has its std::function */
#define OBJECT_WORDS 60u   /* in which an object has its callback */

static bool read_bytes(const void *from, void *to, size_t size)
{
	const struct iovec here = { to, size }, there = { (void *)(uintptr_t)from, size };

	return process_vm_readv(getpid(), &here, 1, &there, 1, 0) == (ssize_t)size;
}

bool kymo_cxx_read(const void *from, uintptr_t *words, unsigned count)
{
	return read_bytes(from, words, count * sizeof *words);
}

unsigned kymo_cxx_read_some(const void *from, uintptr_t *words, unsigned count)
{
	while (count && !kymo_cxx_read(from, words, count))
		count /= 2;
	return count;
}

/* ---- smart pointers: a control block is a table, the users, and the weak users ---- */

static int *users(const struct kymo_pointer *pointer)
{
	return (int *)(pointer->control + sizeof(void *));
}

static void leave(int *count)
{
	int now = __atomic_load_n(count, __ATOMIC_RELAXED);

	while (now > 1 && !__atomic_compare_exchange_n(count, &now, now - 1, true, __ATOMIC_ACQ_REL,
						       __ATOMIC_RELAXED))
		;
}

bool kymo_cxx_lock(const struct kymo_pointer *weak)
{
	int now;

	if (!weak->object || !weak->control)
		return false;
	now = __atomic_load_n(users(weak), __ATOMIC_RELAXED);
	while (now > 0)
		if (__atomic_compare_exchange_n(users(weak), &now, now + 1, true, __ATOMIC_ACQ_REL,
						__ATOMIC_RELAXED))
			return true;
	return false;
}

void kymo_cxx_unlock(const struct kymo_pointer *weak)
{
	leave(users(weak));
}

void kymo_cxx_drop(const struct kymo_pointer *weak)
{
	if (weak->control)
		leave(users(weak) + 1);
}

/* ---- types ---- */

struct type_info {
	const void *table;
	const char *name;
};

static const char *name_of(const struct type_info *type)
{
	if (!type || !type->name)
		return "";
	return type->name + (*type->name == '*'); /* a type of one file only */
}

const char *kymo_cxx_class(const void *object)
{
	const struct type_info *const *table = *(const struct type_info *const *const *)object;

	return table ? name_of(table[-1]) : "";
}

bool kymo_cxx_read_class(const void *maybe, char *name, size_t size)
{
	uintptr_t table, type, text;

	return kymo_cxx_read(maybe, &table, 1) && kymo_cxx_may_point(table) &&
	       kymo_cxx_read((const uintptr_t *)table - 1, &type, 1) && kymo_cxx_may_point(type) &&
	       kymo_cxx_read((const uintptr_t *)type + 1, &text, 1) &&
	       read_bytes((const void *)text, name, size);
}

/* Memory from malloc(); NULL: no C++ runtime, or not a name. */
static char *demangle(const char *mangled, const void *caller)
{
	static struct kymo_late_symbol symbol = { "__cxa_demangle", NULL, false };
	char *(*readable)(const char *, char *, size_t *, int *) =
		(char *(*)(const char *, char *, size_t *, int *))kymo_late_symbol(&symbol, caller);
	int status = -1;

	return readable && *mangled ? readable(mangled, NULL, NULL, &status) : NULL;
}

/* ---- std::function ---- */

struct function {
	uintptr_t object[2];
	bool (*manager)(const struct type_info **answer, const struct function *its, int question);
	uintptr_t call;
};
#define TYPE_INFO 0 /* of std::_Manager_operation */

static int find_code(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	for (unsigned i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_LOAD && info->dlpi_phdr[i].p_flags & PF_X &&
		    *(const uintptr_t *)address - (info->dlpi_addr + info->dlpi_phdr[i].p_vaddr) <
			    info->dlpi_phdr[i].p_memsz)
			return 1;
	return 0;
}

static bool is_code(uintptr_t address)
{
	return address && dl_iterate_phdr(find_code, &address);
}

static char *target_symbol(uintptr_t target)
{
	char *symbol = is_code(target) ? kymo_function_name((const void *)target) : NULL;

	kymo_tell_code(symbol, (const void *)target, true);
	return symbol;
}

/* std::bind of a member begins with the pointer to it, whose first word is the function's address;
 * of a virtual one it is a number. */
static char *bound_symbol(const void *bound)
{
	uintptr_t target;

	return kymo_cxx_read(bound, &target, 1) ? target_symbol(target) : NULL;
}

static char *function_symbol(const struct function *its, const void *caller)
{
	const struct type_info *type = NULL;
	const char *name;
	char *symbol;

	if (!is_code((uintptr_t)its->manager) || !is_code(its->call))
		return NULL;
	(void)its->manager(&type, its, TYPE_INFO);
	name = name_of(type);
	if (name[0] == 'P' && name[1] == 'F') /* a pointer to a function: of which? */
		return target_symbol(its->object[0]);
	if (!strncmp(name, "St5_BindIFM", strlen("St5_BindIFM"))) { /* too large to be in the object */
		symbol = bound_symbol((const void *)its->object[0]);
		if (symbol)
			return symbol;
	}
	symbol = demangle(name, caller);
	if (strstr(name, "Ul")) /* a lambda: what calls it is in its file */
		kymo_tell_code(symbol, (const void *)its->call, false);
	return symbol;
}

/* The index of the first std::function that is set, in @count words; @count: none. */
static unsigned find_function(const uintptr_t *word, unsigned count)
{
	unsigned at = 0;

	while (at + 3 < count && !(is_code(word[at + 2]) && is_code(word[at + 3])))
		at++;
	return at + 3 < count ? at : count;
}

size_t kymo_cxx_first_function(const void *object)
{
	uintptr_t word[OBJECT_WORDS];
	const unsigned count = kymo_cxx_read_some(object, word, OBJECT_WORDS);
	const unsigned at = find_function(word, count);

	return at < count ? at * sizeof *word : 0;
}

char *kymo_cxx_symbol(const void *callback, const void *caller)
{
	uintptr_t word[CALLBACK_WORDS];
	const unsigned count = kymo_cxx_read_some(callback, word, CALLBACK_WORDS);
	const unsigned at = find_function(word, count);

	return at < count ? function_symbol(
				    (const struct function *)((const uintptr_t *)callback + at),
				    caller)
			  : NULL;
}

char *kymo_bound_symbol(const void *callback, const char *symbol, const void *caller)
{
	char *name;

	if (!callback || !symbol || strncmp(symbol, "std::_Bind<", strlen("std::_Bind<")) != 0)
		return NULL;
	name = bound_symbol(callback);
	return name ? name : kymo_cxx_symbol(callback, caller);
}

/* ---- generic subscriptions ---- */

static const char generic[] = "N6rclcpp19GenericSubscriptionE";

bool kymo_is_generic(const void *subscription)
{
	return !strcmp(kymo_cxx_class(subscription), generic);
}

bool kymo_may_be_generic(const void *maybe)
{
	char name[sizeof generic];

	return kymo_cxx_may_point((uintptr_t)maybe) &&
	       kymo_cxx_read_class(maybe, name, sizeof name) && !memcmp(name, generic, sizeof name);
}

char *kymo_generic_symbol(const void *subscription, const void *caller)
{
	const size_t at = kymo_cxx_first_function(subscription);

	return at ? kymo_cxx_symbol((const uint8_t *)subscription + at, caller) : NULL;
}

/* ---- timers ---- */

/* The first argument of the template in "rclcpp::WallTimer<F, (void*)0>": as far as the first comma
 * or the end on its own level, without the space of "> >". Return: its length; 0: none. */
static size_t first_argument(const char *text)
{
	unsigned depth = 0;
	size_t at;

	for (at = 0; text[at]; at++) {
		if (strchr("<([{", text[at]))
			depth++;
		else if (!depth && (text[at] == ',' || text[at] == '>'))
			return at - (at && text[at - 1] == ' ');
		else if (strchr(">)]}", text[at]) && depth)
			depth--;
	}
	return 0;
}

char *kymo_cxx_timer_symbol(const void *timer, const void *callback, const void *caller)
{
	char *name = demangle(kymo_cxx_class(timer), caller);
	const char *begin = name ? strchr(name, '<') : NULL;
	const size_t length = begin ? first_argument(begin + 1) : 0;
	const bool is_function =
		length && !strncmp(begin + 1, "std::function<", strlen("std::function<"));
	char *symbol = NULL;

	if (is_function)
		symbol = function_symbol(callback, caller);
	else if (length && !strncmp(begin + 1, "std::_Bind<", strlen("std::_Bind<")))
		symbol = bound_symbol(callback);
	if (length && !is_function && !symbol) {
		symbol = strndup(begin + 1, length);
		kymo_tell_code(symbol, *(const void *const *)timer, false); /* its virtual table */
	}
	free(name);
	return symbol;
}
