/* SPDX-License-Identifier: Apache-2.0 */
/* Shared by flame.c and flame_svg.c. */
#ifndef KYMO_EXPORT_FLAME_INTERNAL_H
#define KYMO_EXPORT_FLAME_INTERNAL_H

#include "analysis/spans/spans_tree.h"
#include "export/flame/flame.h"

void flame_svg(FILE *out, const struct spans_frame *root, const char *title);

#endif
