// SPDX-License-Identifier: Apache-2.0
// fastdds_client DOMAIN: CARET's topics and the ROS graph over Fast DDS, with the settings that
// rmw_fastrtps makes: another implementation than the agent's. On standard input "start" or "end",
// a line each, are published; what is received comes out as JSON lines.
#include <cstring>
#include <iostream>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <fastdds/dds/domain/DomainParticipant.hpp>
#include <fastdds/dds/domain/DomainParticipantFactory.hpp>
#include <fastdds/dds/publisher/DataWriter.hpp>
#include <fastdds/dds/publisher/DataWriterListener.hpp>
#include <fastdds/dds/publisher/Publisher.hpp>
#include <fastdds/dds/subscriber/DataReader.hpp>
#include <fastdds/dds/subscriber/DataReaderListener.hpp>
#include <fastdds/dds/subscriber/SampleInfo.hpp>
#include <fastdds/dds/subscriber/Subscriber.hpp>
#include <fastdds/dds/topic/TopicDataType.hpp>

using namespace eprosima::fastdds::dds;
using Bytes = std::vector<uint8_t>;

namespace
{

std::mutex output;

void say(const std::string &line)
{
	std::lock_guard<std::mutex> guard(output);
	std::cout << line << std::endl;
}

// Messages as their bytes, with the header of the encapsulation.
class Raw : public TopicDataType
{
      public:
	explicit Raw(const std::string &name)
	{
		setName(name.c_str());
		m_typeSize = 1 << 16;
		m_isGetKeyDefined = false;
		auto_fill_type_object(false);
		auto_fill_type_information(false);
	}
	bool serialize(void *data, eprosima::fastrtps::rtps::SerializedPayload_t *payload) override
	{
		const Bytes &bytes = *static_cast<Bytes *>(data);

		std::memcpy(payload->data, bytes.data(), bytes.size());
		payload->length = static_cast<uint32_t>(bytes.size());
		payload->encapsulation = CDR_LE;
		return true;
	}
	bool deserialize(eprosima::fastrtps::rtps::SerializedPayload_t *payload,
			 void *data) override
	{
		static_cast<Bytes *>(data)->assign(payload->data, payload->data + payload->length);
		return true;
	}
	std::function<uint32_t()> getSerializedSizeProvider(void *data) override
	{
		return [data] { return static_cast<uint32_t>(static_cast<Bytes *>(data)->size()); };
	}
	void *createData() override
	{
		return new Bytes;
	}
	void deleteData(void *data) override
	{
		delete static_cast<Bytes *>(data);
	}
	bool getKey(void *, eprosima::fastrtps::rtps::InstanceHandle_t *, bool) override
	{
		return false;
	}
};

// A message of little-endian CDR, read from its begin to its end; beyond the end is nothing but
// zeros.
class Reading
{
      public:
	explicit Reading(const Bytes &message) : bytes(message)
	{
	}
	uint32_t number()
	{
		uint32_t value = 0;

		at = (at + 3) & ~size_t{ 3 };
		for (int i = 0; i < 4; i++)
			value |= static_cast<uint32_t>(byte()) << 8 * i;
		return value;
	}
	uint8_t byte()
	{
		return at++ + header < bytes.size() ? bytes[at - 1 + header] : 0;
	}
	std::string text()
	{
		std::string found;

		for (uint32_t left = std::min<uint32_t>(number(), 4096); left > 0; left--)
			found += static_cast<char>(byte());
		return found.c_str(); // without its NUL
	}
	void skip(size_t count)
	{
		at += count;
	}

      private:
	static constexpr size_t header = 4;
	const Bytes &bytes;
	size_t at = 0;
};

void told_nodes(const Bytes &message)
{
	Reading reading(message);

	reading.skip(16); // the participant's gid, as from Iron on
	for (uint32_t left = std::min<uint32_t>(reading.number(), 1000); left > 0; left--) {
		const std::string space = reading.text(), name = reading.text();

		reading.skip(16 * size_t{ reading.number() });
		reading.skip(16 * size_t{ reading.number() });
		say("{\"event\": \"node\", \"name\": \"" + space + name + "\"}");
	}
}

void told_status(const Bytes &message)
{
	Reading reading(message);
	const std::string node = reading.text();
	const int status = reading.byte();

	say("{\"event\": \"status\", \"node\": \"" + node +
	    "\", \"status\": " + std::to_string(status) + "}");
}

class Listener : public DataReaderListener
{
      public:
	explicit Listener(void (*wanted)(const Bytes &)) : tell(wanted)
	{
	}
	void on_data_available(DataReader *reader) override
	{
		Bytes message;
		SampleInfo info;

		while (reader->take_next_sample(&message, &info) == ReturnCode_t::RETCODE_OK)
			if (info.valid_data)
				tell(message);
	}

      private:
	void (*tell)(const Bytes &);
};

class Matched : public DataWriterListener
{
      public:
	void on_publication_matched(DataWriter *writer,
				    const PublicationMatchedStatus &status) override
	{
		say("{\"event\": \"matched\", \"topic\": \"" + writer->get_topic()->get_name() +
		    "\", \"count\": " + std::to_string(status.current_count) + "}");
	}
};

class Client
{
      public:
	explicit Client(uint32_t domain)
	{
		DomainParticipantQos qos = PARTICIPANT_QOS_DEFAULT;
		const std::string enclave = "enclave=/;";

		qos.user_data().data_vec(std::vector<eprosima::fastrtps::rtps::octet>(
			enclave.begin(), enclave.end()));
		participant =
			DomainParticipantFactory::get_instance()->create_participant(domain, qos);
		if (!participant)
			throw std::runtime_error("cannot join the domain");
		publisher = participant->create_publisher(PUBLISHER_QOS_DEFAULT);
		subscriber = participant->create_subscriber(SUBSCRIBER_QOS_DEFAULT);
	}
	DataWriter *writer(const std::string &name, const std::string &type)
	{
		DataWriterQos qos = DATAWRITER_QOS_DEFAULT;

		qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
		qos.endpoint().history_memory_policy =
			eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
		qos.data_sharing().off();
		return publisher->create_datawriter(topic(name, type), qos, &matched);
	}
	void reader(const std::string &name, const std::string &type, Listener *listener,
		    DurabilityQosPolicyKind durability)
	{
		DataReaderQos qos = DATAREADER_QOS_DEFAULT;

		qos.reliability().kind = RELIABLE_RELIABILITY_QOS;
		qos.history().kind = KEEP_ALL_HISTORY_QOS;
		qos.durability().kind = durability;
		qos.endpoint().history_memory_policy =
			eprosima::fastrtps::rtps::PREALLOCATED_WITH_REALLOC_MEMORY_MODE;
		qos.data_sharing().off();
		subscriber->create_datareader(topic(name, type), qos, listener);
	}
	void close()
	{
		participant->delete_contained_entities();
		DomainParticipantFactory::get_instance()->delete_participant(participant);
	}

      private:
	Topic *topic(const std::string &name, const std::string &type)
	{
		TypeSupport(new Raw(type)).register_type(participant);
		return participant->create_topic(name, type, TOPIC_QOS_DEFAULT);
	}
	DomainParticipant *participant;
	Publisher *publisher;
	Subscriber *subscriber;
	Matched matched;
};

} // namespace

int main(int argc, char **argv)
{
	if (argc != 2)
		return std::cerr << "usage: fastdds_client DOMAIN\n", 2;

	Listener nodes(told_nodes), statuses(told_status);
	Client client(static_cast<uint32_t>(std::stoul(argv[1])));
	// A Start: 100, and four empty strings; an End: one byte.
	Bytes start = { 0, 1, 0, 0, 100, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0,
			0, 0, 0, 0, 0,   1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0 };
	Bytes end = { 0, 1, 0, 0, 0 };
	DataWriter *starts =
		client.writer("rt/caret/start_record", "caret_msgs::msg::dds_::Start_");
	DataWriter *ends = client.writer("rt/caret/end_record", "caret_msgs::msg::dds_::End_");

	client.reader("rt/caret/status", "caret_msgs::msg::dds_::Status_", &statuses,
		      VOLATILE_DURABILITY_QOS);
	client.reader("ros_discovery_info", "rmw_dds_common::msg::dds_::ParticipantEntitiesInfo_",
		      &nodes, TRANSIENT_LOCAL_DURABILITY_QOS);
	say("{\"event\": \"joined\"}");
	for (std::string line; std::getline(std::cin, line);)
		if (line == "start" || line == "end")
			(line == "start" ? starts : ends)->write(line == "start" ? &start : &end);
	client.close();
}
