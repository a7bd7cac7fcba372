/* SPDX-License-Identifier: Apache-2.0 */
/* DDS domains of this program, configured as ROS 2's variables say (discovery.h). Several
 * participants share a domain. */
#ifndef KYMO_CARET_DDS_BUS_DOMAIN_H
#define KYMO_CARET_DDS_BUS_DOMAIN_H

#include <stdint.h>

#include <dds/dds.h>

/**
 * bus_domain_open() - before a participant joins domain @number; close it once for each success
 * @say: called with what is invalid; may be NULL
 *
 * Return: 0; else DDS_RETCODE_... Context: allocates; any thread.
 */
dds_return_t bus_domain_open(uint32_t number, void (*say)(void *context, const char *text),
			     void *context);

/** bus_domain_close() - after the participant has left. Context: blocks; any thread. */
void bus_domain_close(uint32_t number);

#endif
