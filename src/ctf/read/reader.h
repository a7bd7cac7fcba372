/* SPDX-License-Identifier: Apache-2.0 */
/* The reader is a library of its own; what is in its header is all that the other rooms use. */
#ifndef KYMO_CTF_READER_H
#define KYMO_CTF_READER_H

#include "base/err.h"
#include "kymo/ctf.h"

#endif
