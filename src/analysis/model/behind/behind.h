/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A second thread for those that listen to a model: the model reads on while they work.
 *
 *   model_create(&model, err);		pass_add(&passes, &model_pass, model);
 *   stats_create(&stats, model, ...);	pass_add(&passes, &stats_pass, stats);
 *   behind_add(model, &passes, err);
 *   pass_run(&passes, reader, &options, err);
 *
 * Listeners are told the same in the same order, a little later. They must only read what a model
 * does not change between the events that make objects: that is, of objects, all but the first
 * times and the numbers of events. Everything has been heard before an object is made or changed,
 * before an analysis ends, and before the first event that another analysis than the model wants:
 * from then on, listeners are told at once.
 *
 * Context of all functions: not thread-safe. The functions of listeners are called on the second
 * thread or on the caller's, never on both at a time.
 */
#ifndef KYMO_ANALYSIS_BEHIND_H
#define KYMO_ANALYSIS_BEHIND_H

#include "analysis/model/model.h"

struct behind;

/**
 * behind_create(), behind_start(), behind_stop() - between start and stop, @model's listeners are
 * told on a second thread
 *
 * Without a thread, or memory for what it is to be told, they are told at once. When behind_stop()
 * returns, they have heard everything.
 * Return: 0, or -1 with @err. Context: allocates; create and stop before the listeners are
 * destroyed.
 */
int behind_create(struct behind **behind, struct model *model, struct kymo_err *err);
void behind_start(struct behind *behind);
void behind_stop(struct behind *behind);
void behind_destroy(struct behind *behind);

/**
 * behind_add() - the same for a pass: call it when @passes has all others, of which those that read
 * events must say which rows they want
 *
 * There is no second thread for a small trace, nor on a machine of one CPU.
 * Return: 0, or -1 with @err. Context: allocates.
 */
int behind_add(struct model *model, struct passes *passes, struct kymo_err *err);

#endif
