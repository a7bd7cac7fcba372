/* SPDX-License-Identifier: Apache-2.0 */
/* Attributes of scalar types: "{ size = 32; align = 8; base = hex; }". */
#include "ctf/tsdl/tsdl_type.h"

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

static int attribute_order(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	static const struct { const char *name; uint8_t order; } orders[] = {
		{ "le", CTF_ORDER_LE }, { "be", CTF_ORDER_BE }, { "network", CTF_ORDER_BE },
		{ "native", CTF_ORDER_NATIVE },
	};

	for (unsigned i = 0; v->text && i < sizeof orders / sizeof orders[0]; i++) {
		if (!strcmp(v->text, orders[i].name)) {
			*out = orders[i].order;
			return 0;
		}
	}
	return tsdl_error(p, &v->token, "expected le, be, network or native as byte order");
}

static int attribute_base(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	static const struct { const char *name; uint8_t base; } bases[] = {
		{ "decimal", 10 }, { "dec", 10 }, { "d", 10 }, { "i", 10 }, { "u", 10 },
		{ "hexadecimal", 16 }, { "hex", 16 }, { "x", 16 }, { "X", 16 }, { "p", 16 },
		{ "octal", 8 }, { "oct", 8 }, { "o", 8 }, { "binary", 2 }, { "b", 2 },
	};

	if (v->kind == TSDL_INTEGER &&
	    (v->number == 2 || v->number == 8 || v->number == 10 || v->number == 16)) {
		*out = (uint8_t)v->number;
		return 0;
	}
	for (unsigned i = 0; v->text && i < sizeof bases / sizeof bases[0]; i++) {
		if (!strcmp(v->text, bases[i].name)) {
			*out = bases[i].base;
			return 0;
		}
	}
	return tsdl_error(p, &v->token, "expected 2, 8, 10 or 16 as base");
}

static int attribute_encoding(struct tsdl *p, const struct tsdl_value *v, uint8_t *out)
{
	if (!v->text)
		return tsdl_error(p, &v->token, "expected none, UTF8 or ASCII as encoding");
	if (!strcasecmp(v->text, "none"))
		*out = 0;
	else if (!strcasecmp(v->text, "utf8") || !strcasecmp(v->text, "utf-8") ||
		 !strcasecmp(v->text, "ascii"))
		*out = 1;
	else
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
	return 0;	/* attributes of tracers that are not ours to know */
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
