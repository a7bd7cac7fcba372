#!/bin/sh
# SPDX-License-Identifier: Apache-2.0
# needs: plain, long
# The publication protocol of the ring, those of overwriting and of spare blocks, and the horizon of a recorder
# that attaches, in every interleaving; and that the models can fail.
. "$KYMO_SOURCE/tests/system/lib/lib_model.sh"
optimize=-O0	# to compile these with -O1 takes longer than it saves

holds ring -DSHORT
holds overwrite -DSHORT
holds attach
holds spare
for broken in NO_NEST NO_LAST_LOOK NO_NSEQ NO_CATCH_UP TIME_BEFORE_WORD; do
	notices ring -DSHORT -D$broken
done
notices ring -DNO_LOOK_BEHIND_CLOCK
for broken in NO_FENCE SEQ_LAST NO_RELEASE NO_LIMIT NO_SECOND_LOOK NO_ACQUIRE_FENCE; do
	notices overwrite -DSHORT -D$broken
done
for broken in NO_USED REST_HIDES NEST_LAST OLD_RINGS WRAPS; do
	notices attach -D$broken
done
for broken in NO_EXCHANGE NO_LOOK; do
	notices spare -D$broken
done
