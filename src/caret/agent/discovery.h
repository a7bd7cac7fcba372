/* SPDX-License-Identifier: Apache-2.0 */
/*
 * How far a ROS 2 node looks for others: ROS_AUTOMATIC_DISCOVERY_RANGE, ROS_STATIC_PEERS and the
 * older ROS_LOCALHOST_ONLY, as settings of CycloneDDS. They are those of rmw_cyclonedds_cpp, so
 * that an agent finds and is found by the nodes of its shell.
 */
#ifndef KYMO_CARET_DISCOVERY_H
#define KYMO_CARET_DISCOVERY_H

enum discovery_range {
	DISCOVERY_SUBNET,    /* by multicast, on this host, and at static peers */
	DISCOVERY_LOCALHOST, /* on this host, and at static peers */
	DISCOVERY_LOOPBACK,  /* up to Humble: only the interface 127.0.0.1 */
	DISCOVERY_OFF,       /* nobody */
	DISCOVERY_DEFAULT,   /* as CycloneDDS is configured */
};

/**
 * discovery_read() - of the environment
 * @config: set to a configuration for dds_create_domain(), which ends with CYCLONEDDS_URI;
 * malloc'ed. NULL: out of memory
 * @say: called with each variable that is invalid or has no effect; may be NULL
 *
 * Return: the range. Context: allocates.
 */
enum discovery_range discovery_read(char **config, void (*say)(void *context, const char *text),
				    void *context);

#endif
