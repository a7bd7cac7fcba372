/* SPDX-License-Identifier: Apache-2.0 */
/* The words of a comparison, for all its formats. Private to src/compare. Context of all functions:
 * they do not allocate or block. */
#ifndef KYMO_COMPARE_COMPARE_WORDS_H
#define KYMO_COMPARE_COMPARE_WORDS_H

#include "base/text.h"
#include "compare/compare.h"

#define COMPARE_CHANGE_MAX 120u
#define COMPARE_WIDTH 80u /* of a terminal */

/** compare_value() - "12.4 ms", "40.0 Hz", "1.20 %". Return: @out. */
char *compare_value(char out[TEXT_QUANTITY_MAX], enum compare_unit unit, double value);

/** compare_change() - "+22 % (+15 to +28 %)", with the direction of the value itself. Return: @out.
 */
char *compare_change(char out[COMPARE_CHANGE_MAX], const struct compare_row *row);

/** compare_from_to() - "12.4 -> 15.1 ms", "985 us -> 1.21 ms". Return: @out. */
char *compare_from_to(char out[COMPARE_CHANGE_MAX], enum compare_unit unit, double from, double to);

/** compare_size() - the change without its interval: "+22 %", "+1.00". Return: @out. */
char *compare_size(char out[COMPARE_CHANGE_MAX], const struct compare_row *row);

#define COMPARE_PART_MAX 600u
/** compare_part() - "all of it in: /planner /scan runs (+2.6 ms)", of a row with a part. Return:
 * @out. */
char *compare_part(char out[COMPARE_PART_MAX], const struct compare_row *row);

/** compare_more() - "about 9 pairs would show it". Return: @out. */
char *compare_more(char out[COMPARE_CHANGE_MAX], const struct compare_row *row,
		   const struct change_design *design);

#endif
