/* SPDX-License-Identifier: Apache-2.0 */
/* The reader for other rooms: the functions of libkymo-ctf, and errors. */
#ifndef KYMO_CTF_READER_H
#define KYMO_CTF_READER_H

#include "base/err.h"
#include "kymo/ctf.h"

#endif
