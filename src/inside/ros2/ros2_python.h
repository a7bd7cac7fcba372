/* SPDX-License-Identifier: Apache-2.0 */
/* The hook for rclpy, in a Python program to which kymo was attached. */
#ifndef KYMO_HOOKS_PYTHON_H
#define KYMO_HOOKS_PYTHON_H

#include <stdbool.h>

#include "abi/attach.h"

/**
 * kymo_python_order() - load the hook for rclpy into the interpreter of this process, or take it
 * out of the way
 *
 * Context: on the thread that an order started; waits for the interpreter's lock; as malloc().
 */
enum kymo_python kymo_python_order(bool on);

#endif
