/* SPDX-License-Identifier: Apache-2.0 */
/* Runs a plan, see plan.h, over one event: skips it, and stores its values. */
#include "ctf/read/plan.h"

#include <stdlib.h>

#include "ctf/format/bits.h"

void plan_number(struct plan_out *out, int target, const struct ctf_node *node, uint64_t value)
{
	struct kymo_ctf_event *event = out->event;

	if (!event)
		return;
	switch (target) {
	case TARGET_VPID:
		event->vpid = (int32_t)value;
		break;
	case TARGET_VTID:
		event->vtid = (int32_t)value;
		break;
	case TARGET_CPU:
		event->cpu = (int32_t)value;
		break;
	case TARGET_INIT:
		event->init_ns = value;
		break;
	default:
		if (target < 0 || target >= KYMO_CTF_BIND_FIELDS)
			break;
		event->value[target].present = 1;
		event->value[target].size = node->type->size;
		if (node->type->kind == CTF_KIND_FLOAT)
			event->value[target].f = walk_double(node, value);
		else
			event->value[target].u = value;
	}
}

static void put_bytes(struct plan_out *out, int target, const char *bytes, uint64_t size)
{
	struct kymo_ctf_value *value;

	if (!out->event)
		return;
	if (target == TARGET_PROCNAME) {
		out->event->procname = bytes;
	} else if (target >= 0 && target < KYMO_CTF_BIND_FIELDS) {
		value = &out->event->value[target];
		value->bytes = bytes;
		value->size = size > UINT32_MAX ? UINT32_MAX : (uint32_t)size;
		value->present = 1;
	}
}

void plan_text(struct plan_out *out, int target, const char *bytes, uint64_t size, bool terminated)
{
	char *copy;

	if (target < 0 || !out->event)
		return;
	if (!terminated) {
		copy = realloc(out->text[target], size + 1);
		if (!copy)
			return;
		memcpy(copy, bytes, size);
		copy[size] = 0;
		out->text[target] = copy;
		bytes = copy;
	}
	put_bytes(out, target, bytes, size);
}

void plan_out_free(struct plan_out *out)
{
	for (unsigned i = 0; i < TARGET_COUNT; i++)
		free(out->text[i]);
}

/* @count elements at @at, by the rules of struct kymo_ctf_value. */
static void put_elements(struct plan_out *out, int target, const struct ctf_node *node,
			 const char *at, uint64_t count)
{
	const char *nul;

	if (!node->is_text) {
		put_bytes(out, target, at, count);
		return;
	}
	nul = count ? memchr(at, 0, count) : NULL;
	plan_text(out, target, at, nul ? (uint64_t)(nul - at) : count, nul != NULL);
}

/* ---- any layout: a visitor that stores what is bound ---- */

static void pick_open(void *arg, const struct ctf_node *node, uint64_t count, const uint8_t *at)
{
	if (at && (node->bound != NODE_NONE))
		put_elements(arg, node->bound, node, (const char *)at, count);
}

static void pick_number(void *arg, const struct ctf_node *node, uint64_t value)
{
	int target = plan_target(node);

	if (target >= 0)
		plan_number(arg, target, node, value);
}

static void pick_text(void *arg, const struct ctf_node *node, const char *bytes, uint64_t size)
{
	bool terminated = node->type->unit <= 1 &&
			  (!node->is_text ||
			   (node->type->kind == CTF_KIND_ARRAY && size < node->type->length));

	plan_text(arg, plan_target(node), bytes, size, terminated);
}

static const struct visitor pick = {
	.open = pick_open, .number = pick_number, .text = pick_text, .picks = true
};

static enum walk_result walk_all(struct ctf_node *const scope[3], struct cursor *c,
				 struct plan_out *out)
{
	enum walk_result result = WALK_OK;

	c->budget = WALK_BUDGET;
	for (unsigned i = 0; i < 3 && !result; i++)
		if (scope[i])
			result = walk(c, scope[i], out->event ? &pick : NULL, out);
	return result;
}

/* ---- by steps ---- */

static void load_one(const struct plan_load *load, const uint8_t *run, struct cursor *c,
		     struct plan_out *out)
{
	const struct ctf_node *node = load->node;
	const struct ctf_type *type = node->type;
	const uint8_t *at = run + load->bit / 8;
	uint64_t value;

	if (type->kind == CTF_KIND_ARRAY) {
		put_elements(out, load->target, node, (const char *)at, type->length);
		return;
	}
	if (!load->simple)
		value = walk_bits(node, bits_load(run, load->bit, type->size, node->big_endian));
	else if (type->size == 64)
		value = bits_le64(at);
	else if (type->size == 32)
		value = bits_le32(at);
	else
		value = type->size == 16 ? bits_le16(at) : *at;
	value = bits_extend(value, type->size, type->is_signed);
	if (node->slot != NODE_NONE)
		c->slot[node->slot] = value;
	if (load->target >= 0)
		plan_number(out, load->target, node, value);
}

static void contexts(const struct plan *plan, const uint8_t *run, struct plan_out *out)
{
	struct kymo_ctf_event *event = out->event;

	if (!event)
		return;
	if (plan->vpid_at >= 0)
		event->vpid = (int32_t)bits_le32(run + plan->vpid_at);
	if (plan->vtid_at >= 0)
		event->vtid = (int32_t)bits_le32(run + plan->vtid_at);
	if (plan->procname_at >= 0) {
		const char *name = (const char *)run + plan->procname_at;

		/* A NUL at its end makes it a string whatever stands before. */
		if (!name[plan->procname_size - 1])
			event->procname = name;
		else
			plan_text(out, TARGET_PROCNAME, name, strnlen(name, plan->procname_size),
				  false);
	}
}

/* What follows a run. @at: bytes from the beginning of the packet, moved behind it. */
static enum walk_result dynamic(const struct plan_step *step, struct cursor *c, uint64_t *at,
				struct plan_out *out)
{
	uint64_t left = (c->end >> 3) - *at, count, begin;
	const char *from = (const char *)c->base + *at, *nul;
	enum walk_result result;

	switch (step->end) {
	case PLAN_STRING:
		nul = memchr(from, 0, left);
		if (!nul)
			return WALK_SHORT;
		put_bytes(out, step->target, from, (uint64_t)(nul - from));
		*at += (uint64_t)(nul - from) + 1;
		return WALK_OK;
	case PLAN_SEQUENCE:
		count = c->slot[step->ref];
		begin = bits_align(*at, step->element_align);
		if (begin > c->end >> 3 || count > ((c->end >> 3) - begin) / step->stride)
			return WALK_SHORT;
		if (step->target >= 0)
			put_elements(out, step->target, step->node, (const char *)c->base + begin,
				     count);
		*at = begin + count * step->stride;
		return WALK_OK;
	case PLAN_WALK:
		c->pos = *at * 8;
		result = walk(c, step->node, out->event ? &pick : NULL, out);
		*at = (c->pos + 7) >> 3;
		return result;
	default:
		return WALK_OK;
	}
}

static enum walk_result run_steps(const struct plan *plan, struct cursor *c, struct plan_out *out)
{
	uint64_t at = c->pos >> 3, end = c->end >> 3;
	enum walk_result result;

	c->budget = WALK_BUDGET;
	for (uint32_t i = 0; i < plan->step_count; i++) {
		const struct plan_step *step = &plan->step[i];
		const uint8_t *run;

		if (step->align > 1)
			at = bits_align(at, step->align);
		if (at > end || end - at < step->size)
			return WALK_SHORT;
		run = c->base + at;
		if (!i && plan->contexts)
			contexts(plan, run, out);
		for (uint32_t k = 0; k < step->load_count; k++)
			load_one(&plan->load[step->load + k], run, c, out);
		at += step->size;
		result = dynamic(step, c, &at, out);
		if (result)
			return result;
	}
	c->pos = at * 8;
	return WALK_OK;
}

enum walk_result plan_run(const struct plan *plan, struct ctf_node *const scope[3],
			  struct cursor *c, struct plan_out *out)
{
	if (plan->fixed) {
		const uint8_t *run = c->base + (c->pos >> 3);

		if ((c->end - c->pos) >> 3 < plan->size)
			return WALK_SHORT;
		if (plan->contexts)
			contexts(plan, run, out);
		for (uint32_t k = 0; k < plan->step[0].load_count; k++)
			load_one(&plan->load[k], run, c, out);
		c->pos += (uint64_t)plan->size * 8;
		return WALK_OK;
	}
	if (plan->walked)
		return walk_all(scope, c, out);
	return run_steps(plan, c, out);
}

/* Kinds and targets that are rare; out of line, so that plan_fetch() need not save registers. */
static __attribute__((noinline))
void fetch_rare(const struct plan_fetch *fetch, const uint8_t *at, struct plan_out *out)
{
	struct kymo_ctf_value value = { .present = 1 };

	at += fetch->at;
	switch (fetch->kind) {
	case FETCH_U64:
		value.u = bits_le64(at);
		value.size = 64;
		break;
	case FETCH_U32:
		value.u = bits_le32(at);
		value.size = 32;
		break;
	case FETCH_I32:
		value.i = (int32_t)bits_le32(at);
		value.size = 32;
		break;
	case FETCH_U16:
		value.u = bits_le16(at);
		value.size = 16;
		break;
	case FETCH_I16:
		value.i = (int16_t)bits_le16(at);
		value.size = 16;
		break;
	case FETCH_U8:
		value.u = *at;
		value.size = 8;
		break;
	case FETCH_I8:
		value.i = (int8_t)*at;
		value.size = 8;
		break;
	case FETCH_F32:
		value.f = walk_double(fetch->node, bits_le32(at));
		value.size = 32;
		break;
	default:
		put_elements(out, fetch->target, fetch->node, (const char *)at,
			     fetch->node->type->length);
		return;
	}
	if (fetch->target < KYMO_CTF_BIND_FIELDS)
		out->event->value[fetch->target] = value;
	else
		plan_number(out, fetch->target, fetch->node, value.u);
}

static __attribute__((noinline))
void fetch_all(const struct plan *plan, const uint8_t *at, struct plan_out *out)
{
	if (plan->contexts)
		contexts(plan, at, out);
	for (uint32_t i = 0; i < plan->fetch_count; i++)
		fetch_rare(&plan->fetch[i], at, out);
}

void plan_fetch(const struct plan *plan, const uint8_t *at, struct plan_out *out)
{
	if (plan->simple)
		plan_fetch_simple(plan, at, out->event->value);
	else
		fetch_all(plan, at, out);
}
