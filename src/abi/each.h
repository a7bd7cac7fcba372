/* SPDX-License-Identifier: Apache-2.0 */
/*
 * EACH(f, (a, b), (c, d)) expands to f(a, b) f(c, d): the macro f is applied to each field tuple of
 * a tracepoints.def row. EACH() accepts up to eight tuples: the widest row has eight.
 */
#ifndef KYMO_ABI_EACH_H
#define KYMO_ABI_EACH_H

#define KYMO_CAT_(a, b) a##b
#define KYMO_CAT(a, b) KYMO_CAT_(a, b)
#define KYMO_COUNT_(a, b, c, d, e, f, g, h, n, ...) n
#define KYMO_COUNT(...) KYMO_COUNT_(__VA_ARGS__ __VA_OPT__(,) 8, 7, 6, 5, 4, 3, 2, 1, 0)
#define KYMO_EACH_0(f)
#define KYMO_EACH_1(f, t) f t
#define KYMO_EACH_2(f, t, ...) f t KYMO_EACH_1(f, __VA_ARGS__)
#define KYMO_EACH_3(f, t, ...) f t KYMO_EACH_2(f, __VA_ARGS__)
#define KYMO_EACH_4(f, t, ...) f t KYMO_EACH_3(f, __VA_ARGS__)
#define KYMO_EACH_5(f, t, ...) f t KYMO_EACH_4(f, __VA_ARGS__)
#define KYMO_EACH_6(f, t, ...) f t KYMO_EACH_5(f, __VA_ARGS__)
#define KYMO_EACH_7(f, t, ...) f t KYMO_EACH_6(f, __VA_ARGS__)
#define KYMO_EACH_8(f, t, ...) f t KYMO_EACH_7(f, __VA_ARGS__)
#define EACH(f, ...) KYMO_CAT(KYMO_EACH_, KYMO_COUNT(__VA_ARGS__))(f __VA_OPT__(,) __VA_ARGS__)

#endif
