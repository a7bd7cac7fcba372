/* SPDX-License-Identifier: Apache-2.0 */
/* `messages_dds COUNT DOMAIN`: writes the scans of messages.cpp with the real CycloneDDS, and
 * prints the size of each. */
#include <dds/dds.h>
#include <dds/ddsi/ddsi_serdata.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "messages.h"

#define LENGTH_MAX 64u

static void write_scan(dds_entity_t writer, unsigned number)
{
	static char text[4][LENGTH_MAX], pose[8][LENGTH_MAX], *names[4];
	static float ranges[3 * LENGTH_MAX];
	static messages_Point points[5 * LENGTH_MAX];
	static messages_Pose poses[8];
	static bool flags[LENGTH_MAX];
	static uint32_t wide[4];
	messages_Scan scan;

	memset(&scan, 0, sizeof scan);
	memset(text, 0, sizeof text);
	memset(text[0], 'f', number);
	scan.header.frame_id = text[0];
	for (unsigned i = 0; i < number % 4; i++) {
		memset(text[1 + i % 3], 'n', number);
		names[i] = text[1 + i % 3];
	}
	for (unsigned i = 0; i < number % 7; i++) {
		memset(pose[i], 'p', i);
		poses[i].name = pose[i];
	}
#define SET(member, from, count) \
	scan.member._buffer = (from), scan.member._length = scan.member._maximum = (count)
	SET(ranges, ranges, number * 3);
	SET(names, names, number % 4);
	SET(points, points, number * 5);
	SET(poses, poses, number % 7);
	SET(flags, flags, number);
	SET(wide, wide, number % 3);
	if (dds_write(writer, &scan) < 0)
		exit(1);
}

int main(int argc, char **argv)
{
	const int16_t plain = DDS_DATA_REPRESENTATION_XCDR1;
	const unsigned count = argc > 2 ? (unsigned)atoi(argv[1]) : 0;
	const dds_domainid_t domain = argc > 2 ? (dds_domainid_t)atoi(argv[2]) : DDS_DOMAIN_DEFAULT;
	dds_entity_t participant = dds_create_participant(domain, NULL, NULL);
	dds_entity_t topic = dds_create_topic(participant, &messages_Scan_desc, "scan", NULL, NULL),
		     writer, reader;
	dds_qos_t *qos = dds_create_qos();

	dds_qset_reliability(qos, DDS_RELIABILITY_RELIABLE, DDS_SECS(10));
	dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
	dds_qset_data_representation(qos, 1, &plain);
	reader = dds_create_reader(participant, topic, qos, NULL);
	writer = dds_create_writer(participant, topic, qos, NULL);
	if (reader < 0 || writer < 0 || count > LENGTH_MAX - 1)
		return 1;
	for (unsigned i = 0; i < count; i++) {
		struct ddsi_serdata *serialized;
		dds_sample_info_t info;

		write_scan(writer, i);
		if (dds_takecdr(reader, &serialized, 1, &info, DDS_ANY_STATE) != 1)
			return 1;
		printf("%u\n", ddsi_serdata_size(serialized));
		ddsi_serdata_unref(serialized);
	}
	dds_delete_qos(qos);
	dds_delete(participant);
	return 0;
}
