/* SPDX-License-Identifier: Apache-2.0 */
/* Each single event in the life of a message, for listeners that need it. */
#include "analysis/model/model_internal.h"

void model_publish_step(struct model *model, const struct now *now,
			const struct model_publish_step *step)
{
	struct model_publish_step whole = *step;

	whole.thread = &now->thread->pub;
	whole.ns = now->ns;
	EMIT(model, publish_step, &whole);
}

void model_take_step(struct model *model, const struct now *now, const struct model_take_step *step)
{
	struct model_take_step whole = *step;

	whole.thread = &now->thread->pub;
	whole.ns = now->ns;
	EMIT(model, take_step, &whole);
}

static void on_rcl_take(struct model *model, const struct now *now)
{
	ARGS(rcl_take, now->event);

	model_take_step(model, now, &(struct model_take_step){
		.layer = MODEL_LAYER_RCL, .address = args->message.u, .taken = true });
}

static void on_rclcpp_take(struct model *model, const struct now *now)
{
	ARGS(rclcpp_take, now->event);

	model_take_step(model, now, &(struct model_take_step){
		.layer = MODEL_LAYER_RCLCPP, .address = args->message.u, .taken = true });
}

#define ON(id) [KYMO_POINT_##id] = on_##id
static const handler handlers[KYMO_POINTS_TABLE] = {
	ON(rcl_take),
	ON(rclcpp_take),
};

const struct model_part model_steps = { .handlers = handlers };
