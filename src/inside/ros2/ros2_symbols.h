/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of the traced process. */
#ifndef KYMO_HOOKS_SYMBOLS_H
#define KYMO_HOOKS_SYMBOLS_H

#include <stdbool.h>

/** kymo_function_name() - the demangled name of @function, or "library+0xoffset". Return: memory
 * from malloc(); NULL: not in a loaded object. Context: as malloc(); reads the object's file if the
 * function is not exported. */
char *kymo_function_name(const void *function);

/** kymo_tell_code() - record where the code of the callbacks with this symbol is
 * @code: the function; if it is not @is_function, anything in the file that has the function
 *
 * Context: blocks (dynamic loader), and as kymo__log_reserve(). */
void kymo_tell_code(const char *symbol, const void *code, bool is_function);

/** kymo_bound_symbol() - the function that a callback of std::bind calls
 * @callback: what is registered: the object of std::bind, or one that contains a std::function
 * @symbol: as tracetools writes it: the type of the object
 *
 * Implemented in late/ros2_late_cxx.c. Records where the function is, too.
 *
 * Return: memory from malloc(); NULL: it is no std::bind of a member, or of a virtual one.
 * Context: as kymo_function_name() and kymo_tell_code(). */
char *kymo_bound_symbol(const void *callback, const char *symbol, const void *caller);

/** kymo_is_generic() - is this rclcpp::SubscriptionBase, which exists, a GenericSubscription?
 * Implemented in late/ros2_late_cxx.c. Context: wait-free. */
bool kymo_is_generic(const void *subscription);
/** kymo_may_be_generic() - the same of what may be an object or not. Context: a few system
 * calls. */
bool kymo_may_be_generic(const void *maybe);

/** kymo_generic_symbol() - the name of the callback of a GenericSubscription, as tracetools writes
 * it. Implemented in late/ros2_late_cxx.c. Return: memory from malloc(); NULL: not known. Context:
 * as kymo_bound_symbol(). */
char *kymo_generic_symbol(const void *subscription, const void *caller);

#endif
