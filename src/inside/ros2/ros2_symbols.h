/* SPDX-License-Identifier: Apache-2.0 */
/* Names of functions of the traced process. */
#ifndef KYMO_HOOKS_SYMBOLS_H
#define KYMO_HOOKS_SYMBOLS_H

/** kymo_function_name() - the demangled name of @function, or "library+0xoffset". Return: memory
 * from malloc(); NULL: not in a loaded object. Context: as malloc(); reads the object's file if the
 * function is not exported. */
char *kymo_function_name(const void *function);

#endif
