/* SPDX-License-Identifier: Apache-2.0 */
/* The function that a hook of ours hides. */
#ifndef KYMO_HOOKS_BELOW_H
#define KYMO_HOOKS_BELOW_H

/**
 * kymo_below() - the function @name that @caller would have called without us
 * @known: where it is kept, NULL at first
 * @caller: an address in the code that called the hook
 * @self: the hook, which is never the answer
 *
 * It comes after us in the global scope; or @caller's library brought it, loaded into a scope of its own,
 * as Python and plugin loaders do, where RTLD_NEXT does not look.
 *
 * Return: NULL: nowhere.
 * Context: any thread; takes the loader's locks the first time, one load afterwards.
 */
void *kymo_below(void **known, const char *name, const void *caller, const void *self);

#endif
