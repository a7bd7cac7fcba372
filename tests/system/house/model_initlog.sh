#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: plain, long
# The init log while it is written, cleaned and read, in every interleaving; and that the model can fail.
# KYMO_TEST_ROUNDS=1: all of it, with a crash anywhere, and everything that can be taken out.
. "$KYMO_SOURCE/tests/system/lib/lib_model.sh"
[ -n "${KYMO_TEST_ROUNDS:-}" ] || optimize=-O0	# to compile it takes longer than to check the short form

holds initlog -DSHORT
holds initlog -DSHORT -DSLOW
notices initlog -DSHORT -DSLOW -DNO_WAIT
notices initlog -DSHORT -DHEAD_FIRST
notices initlog -DSHORT -DNO_ACQUIRE_FENCE
notices initlog -DSHORT -DNO_FENCE -DPENDING=5
[ -n "${KYMO_TEST_ROUNDS:-}" ] || exit 0
holds initlog
for broken in NO_RELEASE NO_CLAIM CLAIM_LATE NO_SECOND_LOOK_AT_STAMP FREE_FIRST NO_LOOK_AT_HEAD NO_ORIGIN; do
	notices initlog -DSHORT -D$broken
done
