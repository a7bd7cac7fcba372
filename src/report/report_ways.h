/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The processes of a callback or a chain, if several processes of one name have callbacks of these
 * names: "driver 4711", of several hosts "driver 4711 @left".
 *
 * Context: not thread-safe, nothing allocates or blocks.
 */
#ifndef KYMO_REPORT_WAYS_H
#define KYMO_REPORT_WAYS_H

#include "analysis/chains/chains.h"
#include "analysis/model/model.h"

/**
 * report_ways_callback() - the process of @callback; "": there is one with a callback of this name
 * @typed: as `kymo why` takes it, "driver 4711"; else "driver (4711)"
 *
 * Return: @buffer.
 */
char *report_ways_callback(const struct model *model, const struct model_callback *callback,
			   bool typed, char *buffer, size_t size);

/** report_ways_chain() - those on the way of a chain, in its order: "driver 4711, filter 4712". As
 * above; not @typed: each once. */
char *report_ways_chain(const struct model *model, const struct chains_path *path, bool typed,
			char *buffer, size_t size);

#endif
