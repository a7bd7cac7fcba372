// SPDX-License-Identifier: Apache-2.0
// `path_fastdds talk|local COUNT DOMAIN`: publishes COUNT messages with the real Fast DDS as rmw_fastrtps_cpp does. talk: to two
// readers of another process; local: to a reader of this process. The last quarter of the messages is larger than a packet.
#include "path.h"

#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>
#include <fastdds/rtps/transport/UDPv4TransportDescriptor.h>

using namespace eprosima::fastdds::dds;
using eprosima::fastrtps::rtps::GUID_t;
using eprosima::fastrtps::rtps::InstanceHandle_t;
using eprosima::fastrtps::rtps::SerializedPayload_t;
using Bytes = std::vector<uint8_t>;

namespace
{

const unsigned LARGE = 160000, PATIENCE_MS = 60000;

class Raw : public TopicDataType
{
      public:
	Raw()
	{
		setName("sensor_msgs::msg::dds_::LaserScan_");
		m_typeSize = LARGE + 8;
		m_isGetKeyDefined = false;
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}
	bool serialize(void *data, SerializedPayload_t *payload) override
	{
		const Bytes &bytes = *static_cast<Bytes *>(data);

		std::memcpy(payload->data, bytes.data(), bytes.size());
		payload->length = static_cast<uint32_t>(bytes.size());
		payload->encapsulation = CDR_LE;
		return true;
	}
	bool deserialize(SerializedPayload_t *payload, void *data) override
	{
		static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override
	{
		return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
	}
	void *createData() override { return new Bytes; }
	void deleteData(void *data) override { delete static_cast<Bytes *>(data); }
	bool getKey(void *, InstanceHandle_t *, bool) override { return false; }
};

unsigned count;
const char *domain;
DomainParticipant *participant;
Topic *topic;

void gid_of(const GUID_t &guid, uint8_t gid[16])
{
	std::memcpy(gid, guid.guidPrefix.value, 12);
	std::memcpy(gid + 12, guid.entityId.value, 4);
}

void begin(const char *name)
{
	DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
	auto udp = std::make_shared<eprosima::fastdds::rtps::UDPv4TransportDescriptor>();

	udp->interfaceWhiteList = { "127.0.0.1" };
	qos.transport().use_builtin_transports = false;
	qos.transport().user_transports.push_back(udp);
	participant = DomainParticipantFactory::get_instance()->create_participant(static_cast<uint32_t>(std::atoi(domain)), qos);
	if (!participant)
		std::exit(1);
	participant->register_type(TypeSupport(new Raw));
	topic = participant->create_topic("rt/scan", "sensor_msgs::msg::dds_::LaserScan_", TOPIC_QOS_DEFAULT);
	node_begins(name);
}

DataReader *reader(unsigned number)
{
	DataReaderQos qos = DATAREADER_QOS_DEFAULT;
	uint8_t gid[16];

	qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
	qos.history().kind = KEEP_ALL_HISTORY_QOS;
	qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	qos.data_sharing().off();
	DataReader *made = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT)->create_datareader(topic, qos);
	gid_of(made->guid(), gid);
	subscription_made(number, gid, 10);
	return made;
}

DataWriter *writer()
{
	DataWriterQos qos = DATAWRITER_QOS_DEFAULT;
	uint8_t gid[16];

	qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
	qos.history().kind = KEEP_ALL_HISTORY_QOS;
	qos.endpoint().history_memory_policy = eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
	qos.data_sharing().off();
	DataWriter *made = participant->create_publisher(PUBLISHER_QOS_DEFAULT)->create_datawriter(topic, qos);
	gid_of(made->guid(), gid);
	publisher_made(gid);
	return made;
}

void write_one(DataWriter *to, unsigned number)
{
	Bytes bytes(number >= count * 3 / 4 ? LARGE : 100);
	eprosima::fastrtps::rtps::WriteParams params;
	struct timespec now;

	// As rmw_fastrtps_cpp from Jazzy on: the time of the message is its own.
	clock_gettime(CLOCK_REALTIME, &now);
	eprosima::fastrtps::rtps::Time_t time(static_cast<int32_t>(now.tv_sec), static_cast<uint32_t>(now.tv_nsec));
	params.source_timestamp(time);
	message_written(&bytes, time.to_ns());
	if (!to->write(&bytes, params))
		std::exit(1);
}

bool take_one(DataReader *from, unsigned number)
{
	Bytes bytes;
	SampleInfo info;

	if (from->take_next_sample(&bytes, &info) != ReturnCode_t::RETCODE_OK)
		return false;
	if (info.valid_data)
		message_taken(number, &bytes, info.source_timestamp.to_ns());
	return info.valid_data;
}

int talk()
{
	PublicationMatchedStatus status;
	DataWriter *to;
	unsigned i;

	begin("talker");
	to = writer();
	for (i = 0; i < PATIENCE_MS && (to->get_publication_matched_status(status), status.current_count < 2); i++)
		pause_ms(1);
	for (i = 0; i < count; i++, pause_ms(1))
		write_one(to, i);
	return to->wait_for_acknowledgments(eprosima::fastrtps::Duration_t(60, 0)) != ReturnCode_t::RETCODE_OK;
}

int listen()
{
	unsigned taken[2] = { 0, 0 };

	begin("listener");
	DataReader *from[2] = { reader(0), reader(1) };
	for (unsigned i = 0; i < PATIENCE_MS && taken[0] + taken[1] < 2 * count; i++, pause_ms(1))
		for (unsigned number = 0; number < 2; number++)
			while (take_one(from[number], number))
				taken[number]++;
	pause_ms(200);	// the writer receives the last acknowledgement
	return taken[0] != count || taken[1] != count;
}

int local()
{
	PublicationMatchedStatus status;
	DataWriter *to;
	DataReader *from;
	unsigned i;

	begin("both");
	from = reader(0);
	to = writer();
	for (i = 0; i < PATIENCE_MS && (to->get_publication_matched_status(status), status.current_count < 1); i++)
		pause_ms(1);
	for (i = 0; i < count; i++) {
		write_one(to, i);
		for (unsigned j = 0; j < PATIENCE_MS && !take_one(from, 0); j++)
			pause_ms(1);
	}
	return 0;
}

} // namespace

int main(int argc, char **argv)
{
	if (argc != 4)
		return 1;
	count = static_cast<unsigned>(std::atoi(argv[2]));
	domain = argv[3];
	if (!std::strcmp(argv[1], "listen"))
		return listen();
	return std::strcmp(argv[1], "local") ? with_listener(argv, "listen", talk) : local();
}
