/* SPDX-License-Identifier: Apache-2.0 */
/* A library that is loaded late and calls tracetools. */
#include "tracetools/tracetools.h"

int answer(int x);
int answer(int x)
{
	ros_trace_callback_start(&x, false);
	ros_trace_callback_end(&x);
	return 2 * x + 1;
}
