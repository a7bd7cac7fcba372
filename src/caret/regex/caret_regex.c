/* SPDX-License-Identifier: Apache-2.0 */
/* ECMAScript's regular expressions by PCRE2: of bytes, without locale, and lines have no
 * meaning. */
#include <stdlib.h>

#define PCRE2_CODE_UNIT_WIDTH 8
#include <pcre2.h>

#include "caret/filter/caret_filter.h"

#define STEPS_MAX 1000000	/* of one search; a pattern that needs more counts as not found */

struct compiled {
	pcre2_code *code;
	pcre2_match_data *data;
	pcre2_match_context *context;
};

static void regex_free(void *pointer)
{
	struct compiled *compiled = pointer;

	if (!compiled)
		return;
	pcre2_match_context_free(compiled->context);
	pcre2_match_data_free(compiled->data);
	pcre2_code_free(compiled->code);
	free(compiled);
}

/* As in ECMAScript: "$" is the end of the text, "[]" matches nothing, a group that took no part is
 * "". */
static void *regex_compile(const char *pattern, char error[128])
{
	const uint32_t options = PCRE2_DOLLAR_ENDONLY | PCRE2_ALLOW_EMPTY_CLASS | PCRE2_ALT_BSUX |
				 PCRE2_MATCH_UNSET_BACKREF | PCRE2_NEVER_UTF;
	struct compiled *compiled = calloc(1, sizeof *compiled);
	PCRE2_SIZE where;
	int number = PCRE2_ERROR_NOMEMORY;

	if (compiled)
		compiled->code = pcre2_compile((PCRE2_SPTR)pattern, PCRE2_ZERO_TERMINATED, options,
					       &number, &where, NULL);
	if (compiled && compiled->code) {
		compiled->data = pcre2_match_data_create_from_pattern(compiled->code, NULL);
		compiled->context = pcre2_match_context_create(NULL);
		number = PCRE2_ERROR_NOMEMORY;
	}
	if (!compiled || !compiled->data || !compiled->context) {
		(void)pcre2_get_error_message(number, (PCRE2_UCHAR *)error, 128);
		regex_free(compiled);
		return NULL;
	}
	(void)pcre2_set_match_limit(compiled->context, STEPS_MAX);
	return compiled;
}

static bool regex_found(void *pointer, const char *text)
{
	struct compiled *compiled = pointer;

	return pcre2_match(compiled->code, (PCRE2_SPTR)text, PCRE2_ZERO_TERMINATED, 0, 0,
			   compiled->data, compiled->context) >= 0;
}

const struct filter_regex filter_regex_pcre2 = { regex_compile, regex_found, regex_free };
