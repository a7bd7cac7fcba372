/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of scalar types: "{ size = 32; align = 8; base = hex; }". */
#include "base/array.h"
#include "ctf/tsdl/tsdl.h"

#include <string.h>

static int attribute_bool(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	if (v->kind == TSDL_INTEGER)
		*out = v->number != 0;
	else if (v->text && (!strcasecmp(v->text, "true") || !strcasecmp(v->text, "false")))
		*out = !strcasecmp(v->text, "true");
	else
		return tsdl_error(p, &v->token, "expected true or false");
	return 0;
}

/* A word that stands for a number. */
struct word {
	const char *name;
	uint8_t value;
};

static int attribute_word(struct tsdl *p, const struct tsdl_value *v, const struct word *words,
			  size_t count, const char *what, uint8_t *out)
{
	for (size_t i = 0; v->text && i < count; i++) {
		if (!strcmp(v->text, words[i].name)) {
			*out = words[i].value;
			return 0;
		}
	}
	return tsdl_error(p, &v->token, "expected %s", what);
}

static int attribute_order(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	static const struct word orders[] = {
		{ "le", CTF_ORDER_LE }, { "be", CTF_ORDER_BE }, { "network", CTF_ORDER_BE },
		{ "native", CTF_ORDER_NATIVE },
	};

	return attribute_word(p, v, orders, COUNT_OF(orders), "le, be, network or native as byte order", out);
}

static int attribute_base(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	static const struct word bases[] = {
		{ "decimal", 10 }, { "dec", 10 }, { "d", 10 }, { "i", 10 }, { "u", 10 },
		{ "hexadecimal", 16 }, { "hex", 16 }, { "x", 16 }, { "X", 16 }, { "p", 16 },
		{ "octal", 8 }, { "oct", 8 }, { "o", 8 }, { "binary", 2 }, { "b", 2 },
	};

	if (v->kind == TSDL_INTEGER &&
	    (v->number == 2 || v->number == 8 || v->number == 10 || v->number == 16)) {
		*out = (uint8_t)v->number;
		return 0;
	}
	return attribute_word(p, v, bases, COUNT_OF(bases), "2, 8, 10 or 16 as base", out);
}

static int attribute_encoding(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	const char *text = v->text ? v->text : "";

	*out = !strcasecmp(text, "utf8") || !strcasecmp(text, "utf-8") || !strcasecmp(text, "ascii");
	if (!*out && strcasecmp(text, "none"))
		return tsdl_error(p, &v->token, "expected none, UTF8 or ASCII as encoding");
	return 0;
}

int tsdl_align(struct tsdl *p, const struct tsdl_value *v, uint32_t *out)
{
	if (v->kind != TSDL_INTEGER || v->negative || !v->number || v->number > 1u << 20 ||
	    (v->number & (v->number - 1)))
		return tsdl_error(p, &v->token, "expected a power of two as alignment in bits");
	*out = (uint32_t)v->number;
	return 0;
}

static int attribute_size(struct tsdl *p, const struct tsdl_value *v, uint32_t max, uint32_t *out)
{
	if (v->kind != TSDL_INTEGER || v->negative || !v->number || v->number > max)
		return tsdl_error(p, &v->token, "expected a size of 1 to %u bits", max);
	*out = (uint32_t)v->number;
	return 0;
}

/* "clock.NAME.value" */
static int attribute_map(struct tsdl *p, const struct tsdl_value *v, const char **out)
{
	size_t size = v->kind == TSDL_NAME ? strlen(v->text) : 0;

	if (size < sizeof "clock..value" || strncmp(v->text, "clock.", 6) ||
	    strcmp(v->text + size - 6, ".value"))
		return tsdl_error(p, &v->token, "expected clock.NAME.value");
	*out = arena_text(&p->metadata->arena, v->text + 6, size - 12);
	return *out ? 0 : tsdl_no_memory(p);
}

static int attribute(struct tsdl *p, const char *key, const struct tsdl_value *v,
		     struct tsdl_attributes *a)
{
	if (!strcmp(key, "size"))
		return attribute_size(p, v, 64, &a->size);
	if (!strcmp(key, "align"))
		return tsdl_align(p, v, &a->align);
	if (!strcmp(key, "signed"))
		return attribute_bool(p, v, &a->is_signed);
	if (!strcmp(key, "byte_order"))
		return attribute_order(p, v, &a->order);
	if (!strcmp(key, "base"))
		return attribute_base(p, v, &a->base);
	if (!strcmp(key, "encoding"))
		return attribute_encoding(p, v, &a->text);
	if (!strcmp(key, "map"))
		return attribute_map(p, v, &a->clock);
	if (!strcmp(key, "exp_dig"))
		return attribute_size(p, v, 128, &a->exponent);
	if (!strcmp(key, "mant_dig"))
		return attribute_size(p, v, 128, &a->mantissa);
	return 0;	/* other tracers have attributes of their own */
}

int tsdl_attributes(struct tsdl *p, struct tsdl_attributes *a)
{
	if (tsdl_next(p))
		return -1;
	while (!tsdl_is_mark(p, '}')) {
		struct tsdl_value key, value;

		if (p->token.kind != TSDL_NAME)
			return tsdl_expected(p, "an attribute or }");
		if (tsdl_value(p, &key) || tsdl_expect(p, '=', "=") || tsdl_value(p, &value))
			return -1;
		if (attribute(p, key.text, &value, a) || tsdl_expect(p, ';', ";"))
			return -1;
	}
	return tsdl_next(p);
}
