/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Compiles the scopes of an event class into a plan, see plan.h; plan_run.c runs it.
 *
 * add() goes through the fields in their order. A field of fixed size makes the present run longer,
 * and gets a load if its value is needed. A field without a fixed size ends the run, and a new step
 * begins behind it. There only the alignment to a byte is known; begins() ends a run early when a
 * field needs a stricter alignment than is known.
 */
#include "ctf/read/plan.h"

#include <errno.h>
#include <stdlib.h>

#include "base/array.h"
#include "ctf/format/bits.h"

/* A run longer than this is left to walk(). */
#define RUN_MAX (1u << 24)

struct builder {
	struct plan *plan;
	struct plan_step step;		/* the one under construction */
	uint64_t bit;			/* in it */
	uint32_t known;			/* bits: the run begins at a multiple of this */
	uint32_t step_capacity, load_capacity;	/* of the plan's arrays */
	bool failed, no_memory;
};

int plan_role(const struct ctf_node *node)
{
	static const struct { const char *name; int8_t target; } roles[] = {
		{ "vpid", TARGET_VPID }, { "vtid", TARGET_VTID }, { "procname", TARGET_PROCNAME },
		{ "cpu_id", TARGET_CPU }, { "init_timestamp", TARGET_INIT },
		{ "pid", TARGET_VPID }, { "tid", TARGET_VTID },
	};
	bool text = node->is_text || node->type->kind == CTF_KIND_STRING;
	bool number = node->type->kind == CTF_KIND_INTEGER;

	for (unsigned i = 0; i < COUNT_OF(roles); i++)
		if (!strcmp(node->name, roles[i].name) &&
		    (roles[i].target == TARGET_PROCNAME ? text : number))
			return roles[i].target;
	return -1;
}

int plan_target(const struct ctf_node *node)
{
	if (node->bound != NODE_NONE)
		return node->bound;
	return node->scope == SCOPE_FIELDS ? -1 : plan_role(node);
}

static void add_load(struct builder *b, const struct ctf_node *node, int target)
{
	struct plan *plan = b->plan;
	uint32_t size = node->type->size;

	if (!ARRAY_ROOM(plan->load, plan->load_count, b->load_capacity)) {
		b->no_memory = true;
		return;
	}
	if (plan->load_count == UINT16_MAX) {
		b->failed = true;
		return;
	}
	plan->load[plan->load_count++] = (struct plan_load){
		.node = node,
		.bit = (uint32_t)b->bit,
		.target = (int8_t)target,
		.simple = node->type->kind <= CTF_KIND_FLOAT && !node->big_endian &&
			  !(b->bit & 7) && !node->type->is_reversed && !node->type->is_bool &&
			  (size == 8 || size == 16 || size == 32 || size == 64),
	};
	b->step.load_count++;
}

static void close_step(struct builder *b, uint32_t next_align)
{
	struct plan *plan = b->plan;

	if (b->bit & 7)
		b->bit = bits_align(b->bit, 8);	/* what follows begins on a byte, see begins() */
	b->step.size = (uint32_t)(b->bit / 8);
	if (b->bit > RUN_MAX)
		b->failed = true;
	if (!ARRAY_ADD(plan->step, plan->step_count, b->step_capacity, b->step)) {
		b->no_memory = true;
		return;
	}
	b->step = (struct plan_step) { .align = next_align / 8, .load = (uint16_t)plan->load_count,
		.end = PLAN_END, .target = -1 };
	b->bit = 0;
	b->known = next_align;
}

/* Align the end of the run for a field with @align bits of alignment. */
static void begins(struct builder *b, uint32_t align)
{
	if (align <= b->known) {
		b->bit = bits_align(b->bit, align);
	} else if (!b->bit && !b->step.load_count) {
		b->known = align;
		b->step.align = align / 8;
	} else {
		b->step.end = PLAN_END;
		close_step(b, align);
	}
}

static void add_dynamic(struct builder *b, const struct ctf_node *node, enum plan_end end)
{
	b->step.end = (uint8_t)end;
	b->step.node = node;
	b->step.target = (int8_t)plan_target(node);
	close_step(b, 8);
}

static bool byte_elements(const struct ctf_node *node)
{
	const struct ctf_node *element = &node->child[0];

	return element->plain && element->type->align % 8 == 0 && element->fixed % 8 == 0 &&
	       element->fixed > 0 && element->fixed < RUN_MAX && element->type->align < RUN_MAX;
}

/* Whether anything below @node is bound. */
static bool wanted(const struct ctf_node *node)
{
	if (node->bound != NODE_NONE)
		return true;
	for (uint32_t i = 0; i < node->child_count; i++)
		if (wanted(&node->child[i]))
			return true;
	return false;
}

static void add_sequence(struct builder *b, const struct ctf_node *node)
{
	const struct ctf_node *element = &node->child[0];

	if (!byte_elements(node) || wanted(element) || node->type->unit > 1) {
		add_dynamic(b, node, PLAN_WALK);
		return;
	}
	b->step.ref = (uint16_t)node->ref;
	b->step.element_align = node->type->align / 8;
	b->step.stride = (uint32_t)bits_align(element->fixed, element->type->align) / 8;
	if (element->fixed / 8 != b->step.stride)
		add_dynamic(b, node, PLAN_WALK);
	else
		add_dynamic(b, node, PLAN_SEQUENCE);
}

static void add(struct builder *b, const struct ctf_node *node)
{
	int target = plan_target(node);

	switch (node->type->kind) {
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
	case CTF_KIND_FLOAT:
		if (node->type->is_leb128) {
			add_dynamic(b, node, PLAN_WALK);
			break;
		}
		begins(b, node->type->align);
		if (target >= 0 || node->slot != NODE_NONE)
			add_load(b, node, target);
		b->bit += node->fixed;
		break;
	case CTF_KIND_STRUCT:
		begins(b, node->type->align);
		for (uint32_t i = 0; i < node->child_count; i++)
			add(b, &node->child[i]);
		break;
	case CTF_KIND_ARRAY:
		begins(b, node->type->align);
		if (!node->plain || node->type->unit > 1 || node->fixed > RUN_MAX ||
		    b->bit + node->fixed > RUN_MAX || (target >= 0 && b->bit & 7) ||
		    wanted(&node->child[0])) {
			if (b->bit & 7)
				b->failed = true;
			add_dynamic(b, node, PLAN_WALK);
			break;
		}
		if (target >= 0)
			add_load(b, node, target);
		b->bit += node->fixed;
		break;
	case CTF_KIND_SEQUENCE:
		if (b->bit & 7 && node->type->align < 8)
			b->failed = true;
		add_sequence(b, node);
		break;
	case CTF_KIND_STRING:
		add_dynamic(b, node, node->type->unit > 1 ? PLAN_WALK : PLAN_STRING);
		break;
	case CTF_KIND_VARIANT:
		if (b->bit & 7)
			b->failed = true;	/* its options may go on inside the byte */
		add_dynamic(b, node, PLAN_WALK);
		break;
	}
}

/*
 * What walk() decodes may end inside a byte, and runs begin on bytes: a class with such a part has
 * no steps.
 */
bool plan_ends_on_byte(const struct ctf_node *node)
{
	switch (node->type->kind) {
	case CTF_KIND_STRING:
		return true;
	case CTF_KIND_INTEGER:
	case CTF_KIND_ENUM:
	case CTF_KIND_FLOAT:
		return node->type->size % 8 == 0 && node->type->align % 8 == 0;
	default:
		for (uint32_t i = 0; i < node->child_count; i++)
			if (!plan_ends_on_byte(&node->child[i]))
				return false;
		return true;
	}
}

static bool walks_end_on_bytes(const struct plan *plan)
{
	for (uint32_t i = 0; i < plan->step_count; i++)
		if (plan->step[i].end == PLAN_WALK && !plan_ends_on_byte(plan->step[i].node))
			return false;
	return true;
}

/*
 * Move the contexts that most LTTng traces have from the loads of the first step to vpid_at and so
 * on.
 */
static void lift_contexts(struct plan *plan)
{
	struct plan_step *step = &plan->step[0];
	uint16_t kept = 0;

	if (step->align > 1)
		return;
	for (uint16_t i = 0; i < step->load_count; i++) {
		struct plan_load *load = &plan->load[step->load + i];
		bool int32 = load->simple && load->node->type->size == 32 &&
			     load->node->slot == NODE_NONE;
		int32_t at = (int32_t)(load->bit / 8);

		if (load->target == TARGET_VPID && int32 && plan->vpid_at < 0) {
			plan->vpid_at = at;
		} else if (load->target == TARGET_VTID && int32 && plan->vtid_at < 0) {
			plan->vtid_at = at;
		} else if (load->target == TARGET_PROCNAME && load->node->is_text &&
			   load->node->fixed >= 8 && plan->procname_at < 0) {
			plan->procname_at = at;
			plan->procname_size = (uint32_t)load->node->fixed / 8;
		} else {
			plan->load[step->load + kept++] = *load;
		}
	}
	step->load_count = kept;
	plan->contexts = plan->vpid_at >= 0 || plan->vtid_at >= 0 || plan->procname_at >= 0;
}

static int fetch_kind(const struct plan_load *load)
{
	const struct ctf_type *type = load->node->type;

	if (type->kind == CTF_KIND_ARRAY)
		return load->bit & 7 ? -1 : FETCH_ARRAY;
	if (!load->simple)
		return -1;
	if (type->kind == CTF_KIND_FLOAT)
		return type->size == 32 ? FETCH_F32 : FETCH_U64;
	switch (type->size) {
	case 8:
		return type->is_signed ? FETCH_I8 : FETCH_U8;
	case 16:
		return type->is_signed ? FETCH_I16 : FETCH_U16;
	case 32:
		return type->is_signed ? FETCH_I32 : FETCH_U32;
	default:
		return FETCH_U64;
	}
}

/* If everything that is bound is in the first run: a fetch for each. Return: 0, or -ENOMEM. */
static int make_fetches(struct plan *plan)
{
	const struct plan_step *first = &plan->step[0];

	if (first->align > 1)
		return 0;
	for (uint32_t i = 0; i < plan->step_count; i++)
		if (plan->step[i].target >= 0 || plan->step[i].end == PLAN_WALK)
			return 0;
	for (uint32_t i = 1; i < plan->step_count; i++)
		for (uint32_t k = 0; k < plan->step[i].load_count; k++)
			if (plan->load[plan->step[i].load + k].target >= 0)
				return 0;
	plan->fetch = calloc(first->load_count + 1u, sizeof *plan->fetch);
	if (!plan->fetch)
		return -ENOMEM;
	for (uint32_t i = 0; i < first->load_count; i++) {
		const struct plan_load *load = &plan->load[i];
		int kind = fetch_kind(load);

		if (load->target < 0)
			continue;
		if (kind < 0)
			return 0;
		plan->fetch[plan->fetch_count++] = (struct plan_fetch) { .at = load->bit / 8,
			.kind = (uint8_t)kind, .target = load->target, .node = load->node };
	}
	plan->fetches = true;
	plan->wanted = plan->fetch_count || plan->contexts;
	plan->simple = !plan->contexts;
	for (uint32_t i = 0; i < plan->fetch_count; i++)
		plan->simple &= plan->fetch[i].kind <= FETCH_I32 &&
				plan->fetch[i].target < KYMO_CTF_BIND_FIELDS;
	return 0;
}

/* Plans are many, and most have a step or two: the rest of the arrays goes back. */
static void trim(struct plan *plan)
{
	struct plan_step *step = realloc(plan->step, plan->step_count * sizeof *step);
	struct plan_load *load =
		plan->load_count ? realloc(plan->load, plan->load_count * sizeof *load) : NULL;

	plan->step = step ? step : plan->step;
	plan->load = load ? load : plan->load;
}

int plan_make(struct plan *plan, struct ctf_node *const scope[3], bool on_byte)
{
	struct builder b = { .plan = plan, .known = 8, .step = { .align = 1, .target = -1 } };

	*plan = (struct plan) { .vpid_at = -1, .vtid_at = -1, .procname_at = -1 };
	plan->walked = !on_byte;
	for (unsigned i = 0; i < 3 && on_byte; i++)
		if (scope[i])
			add(&b, scope[i]);
	b.step.end = PLAN_END;
	close_step(&b, 8);
	if (b.no_memory)
		return -ENOMEM;
	trim(plan);
	if (!on_byte)
		return 0;
	if (b.failed || !walks_end_on_bytes(plan)) {
		plan->walked = true;
		return 0;
	}
	lift_contexts(plan);
	plan->fixed = plan->step_count == 1 && plan->step[0].align <= 1;
	plan->size = plan->step[0].size;
	return make_fetches(plan);
}

void plan_free(struct plan *plan)
{
	free(plan->step);
	free(plan->load);
	free(plan->fetch);
	*plan = (struct plan) { 0 };
}
