/* SPDX-License-Identifier: Apache-2.0 */
/* Quantities, nearest words and safe printing. See text.h. */
#include "base/array.h"
#include "base/text.h"

#include <ctype.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct unit {
	double size;
	const char *name;
};

static const struct unit time_units[] = {
	{ 1, "ns" }, { 1e3, "us" }, { 1e6, "ms" }, { 1e9, "s" }, { 60e9, "min" }, { 3600e9, "h" },
};

static const struct unit byte_units[] = {
	{ 1, "B" }, { 0x1p10, "KiB" }, { 0x1p20, "MiB" }, { 0x1p30, "GiB" }, { 0x1p40, "TiB" },
	{ 0x1p50, "PiB" }, { 0x1p60, "EiB" },
};

static char *scaled(char *out, bool negative, double value, const struct unit *units,
		    unsigned count)
{
	unsigned i = 0;
	double shown;
	int decimals;

	/* 999.6 us must become 1.00 ms, not 1000 us. Minutes only from 600 s on. */
	while (i + 1 < count && value / units[i + 1].size >= 1 - 0.5e-3) {
		if (units[i].size == 1e9 && value < 600e9)
			break;
		i++;
	}
	shown = value / units[i].size;
	decimals = i == 0 || shown >= 99.95 ? 0 : shown >= 9.995 ? 1 : 2;
	(void)snprintf(out, TEXT_QUANTITY_MAX, "%s%.*f %s", negative ? "-" : "", decimals, shown,
		       units[i].name);
	return out;
}

char *text_ns(char out[TEXT_QUANTITY_MAX], int64_t ns)
{
	double magnitude = ns < 0 ? -(double)ns : (double)ns;

	return scaled(out, ns < 0, magnitude, time_units, COUNT_OF(time_units));
}

char *text_bytes(char out[TEXT_QUANTITY_MAX], uint64_t bytes)
{
	return scaled(out, false, (double)bytes, byte_units,
		      COUNT_OF(byte_units));
}

char *text_period(char out[TEXT_QUANTITY_MAX], int64_t ns)
{
	const double value = (double)ns;

	if (ns >= 1000000000)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.6g s", value / 1e9);
	else if (ns >= 1000000)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.6g ms", value / 1e6);
	else
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.6g us", value / 1e3);
	return out;
}

char *text_f64(char out[TEXT_QUANTITY_MAX], double value)
{
	double size = fabs(value);
	int decimals = size >= 999.95 ? 0 : size >= 99.995 ? 1 : size >= 9.9995 ? 2 : 3;

	if (!isfinite(value))
		(void)snprintf(out, TEXT_QUANTITY_MAX, "-");
	else if (size == 0)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "0");
	else if (size >= 1e15 || size < 1)
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.4g", value);
	else
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.*f", decimals, value);
	return out;
}

char *text_f64_exact(char out[TEXT_QUANTITY_MAX], double value)
{
	for (int digits = 15; digits <= 17; digits++) {
		(void)snprintf(out, TEXT_QUANTITY_MAX, "%.*g", digits, value);
		if (strtod(out, NULL) == value)
			break;
	}
	return out;
}

/* Leading decimal digits of *text into *out; moves *text behind them. */
static bool read_digits(const char **text, uint64_t *out)
{
	uint64_t value = 0;

	if (!isdigit((unsigned char)**text))
		return false;
	for (; isdigit((unsigned char)**text); ++*text) {
		if (__builtin_mul_overflow(value, 10u, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(**text - '0'), &value))
			return false;
	}
	*out = value;
	return true;
}

bool text_read_u64(const char *text, uint64_t *out)
{
	uint64_t value;

	if (text[0] == '0' && (text[1] == 'x' || text[1] == 'X')) {
		size_t length = strlen(text + 2);

		if (!length || length > 16 ||
		    strspn(text + 2, "0123456789abcdefABCDEF") != length)
			return false;
		*out = strtoull(text + 2, NULL, 16);
		return true;
	}
	if (!read_digits(&text, &value) || *text)
		return false;
	*out = value;
	return true;
}

bool text_read_size(const char *text, uint64_t *out_bytes)
{
	static const char letters[] = "KMGTPE";
	const char *letter;
	uint64_t value;
	unsigned shift = 0;

	if (!read_digits(&text, &value))
		return false;
	letter = *text ? strchr(letters, toupper((unsigned char)*text)) : NULL;
	if (letter) {
		shift = 10 * (unsigned)(letter - letters + 1);
		text++;
		if (*text == 'i')
			text++;
	}
	if (*text == 'B')
		text++;
	if (*text || value > UINT64_MAX >> shift)
		return false;
	*out_bytes = value << shift;
	return true;
}

bool text_read_time(const char *text, int64_t *out_ns)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{ "ns", 1 }, { "us", 1000 }, { "µs", 1000 }, { "ms", 1000000 },
		{ "s", 1000000000 }, { "", 1000000000 }, { "min", 60000000000 },
		{ "h", 3600000000000 }, { "d", 86400000000000 },
	};
	uint64_t whole, fraction = 0;
	int64_t denominator = 1;
	__int128 ns;

	if (!read_digits(&text, &whole))
		return false;
	if (*text == '.') {
		if (!isdigit((unsigned char)*++text))
			return false;
		for (; isdigit((unsigned char)*text); text++) {
			if (denominator >= 1000000000000)
				continue;	/* finer than any unit can show */
			fraction = fraction * 10 + (uint64_t)(*text - '0');
			denominator *= 10;
		}
	}
	for (unsigned i = 0; i < COUNT_OF(units); i++) {
		if (strcmp(text, units[i].name))
			continue;
		ns = (__int128)whole * units[i].ns + (__int128)fraction * units[i].ns / denominator;
		if (ns > INT64_MAX)
			return false;
		*out_ns = (int64_t)ns;
		return true;
	}
	return false;
}

#define WORD_MAX 32

unsigned text_distance(const char *a, const char *b)
{
	unsigned row[3][WORD_MAX + 1];	/* the row before the last, the last, the present one */
	size_t a_length = strlen(a), b_length = strlen(b);

	if (a_length > WORD_MAX || b_length > WORD_MAX)
		return UINT_MAX;
	for (size_t j = 0; j <= b_length; j++)
		row[1][j] = (unsigned)j;
	for (size_t i = 1; i <= a_length; i++) {
		row[2][0] = (unsigned)i;
		for (size_t j = 1; j <= b_length; j++) {
			unsigned best = row[1][j - 1] + (a[i - 1] != b[j - 1]);

			if (row[1][j] + 1 < best)
				best = row[1][j] + 1;
			if (row[2][j - 1] + 1 < best)
				best = row[2][j - 1] + 1;
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] &&
			    row[0][j - 2] + 1 < best)
				best = row[0][j - 2] + 1;
			row[2][j] = best;
		}
		memcpy(row[0], row[1], sizeof row[0]);
		memcpy(row[1], row[2], sizeof row[1]);
	}
	return row[1][b_length];
}

bool text_is_near(const char *typed, const char *candidate, unsigned distance)
{
	size_t length = strlen(typed);

	/* The beginning of a word is near to it however much is missing. */
	if (length >= 2 && !strncmp(typed, candidate, length))
		return true;
	return distance <= (length <= 3 ? 1 : length <= 6 ? 2 : 3);
}

void text_nearest_try(struct text_nearest *nearest, const char *typed, const char *candidate)
{
	unsigned distance = text_distance(typed, candidate);

	if (distance < (nearest->name ? nearest->distance : UINT_MAX) &&
	    text_is_near(typed, candidate, distance))
		*nearest = (struct text_nearest){candidate, distance};
}

bool text_ros_glob(const char *glob, const char *name)
{
	return !glob || fnmatch(glob, name, 0) == 0 ||
	       (*name == '/' && *glob != '/' && fnmatch(glob, name + 1, 0) == 0);
}

bool text_ends_with(const char *text, const char *end)
{
	const size_t length = strlen(text), tail = strlen(end);

	return length > tail && strcmp(text + length - tail, end) == 0;
}

const char *text_base_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash ? slash + 1 : path;
}

size_t text_width(const char *text)
{
	size_t width = 0;

	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

char *text_shell(char *out, size_t size, const char *text)
{
	static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_./:=@%+,-";
	size_t used = 0;

	if (*text && !text[strspn(text, plain)]) {
		(void)snprintf(out, size, "%s", text);
		return out;
	}
	used += (size_t)snprintf(out, size, "'");
	for (; *text && used + 6 < size; text++)
		used += (size_t)snprintf(out + used, size - used, *text == '\'' ? "'\\''" : "%c", *text);
	if (used < size)
		(void)snprintf(out + used, size - used, "'");
	return out;
}

void text_path_word(char *out, size_t size, const char *text)
{
	static const char kept[] =
		"abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-";
	size_t used = 0;

	for (; *text && used + 1 < size; text++)
		out[used++] = strchr(kept, *text) ? *text : '_';
	out[used] = 0;
	if (!used || !strcmp(out, ".") || !strcmp(out, ".."))
		snprintf(out, size, "unknown");
}
