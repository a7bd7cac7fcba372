// SPDX-License-Identifier: Apache-2.0
// Reads an MCAP file twice with the format's official reader, from its beginning with all sums checked, and by its index:
//   node mcap_reader.mjs MODULES FILE
// Prints one line of JSON: what the reader found. Both ways must give the same messages.
import { createRequire } from 'node:module';
import fs from 'node:fs';

const [modules, path] = process.argv.slice(2);
const require = createRequire(modules + '/');
const { McapStreamReader, McapIndexedReader } = require('@mcap/core');
const { decompress } = require('fzstd');
const decompressHandlers = { zstd: (buffer, size) => decompress(buffer, new Uint8Array(Number(size))) };
const bytes = fs.readFileSync(path), text = new TextDecoder('utf-8', { fatal: true });

function told(channels, schemas, message) {
	const channel = channels.get(message.channelId);
	return [channel.topic, String(message.logTime), String(message.publishTime), message.sequence, JSON.parse(text.decode(message.data))];
}

const channels = new Map(), schemas = new Map(), read = [], kinds = {};
const stream = new McapStreamReader({ decompressHandlers, validateCrcs: true });
for (let at = 0; at < bytes.length; at += 100003) {
	stream.append(bytes.subarray(at, at + 100003));
	for (let record; (record = stream.nextRecord());) {
		kinds[record.type] = (kinds[record.type] || 0) + 1;
		if (record.type === 'Schema') {
			JSON.parse(text.decode(record.data));
			schemas.set(record.id, record);
		} else if (record.type === 'Channel') {
			if (!schemas.has(record.schemaId))
				throw new Error(`channel ${record.topic} before its schema`);
			channels.set(record.id, record);
		} else if (record.type === 'Message') {
			read.push(told(channels, schemas, record));
		}
	}
}
if (!stream.done())
	throw new Error('the file does not end');

const readable = {
	size: async () => BigInt(bytes.length),
	read: async (offset, size) => bytes.subarray(Number(offset), Number(offset + size)),
};
const indexed = await McapIndexedReader.Initialize({ readable, decompressHandlers });
const byIndex = [];
let last = 0n;
for await (const message of indexed.readMessages({ validateCrcs: true })) {
	if (message.logTime < last)
		throw new Error('the index is not in order');
	last = message.logTime;
	byIndex.push(told(indexed.channelsById, indexed.schemasById, message));
}
const sorted = (list) => list.map((one) => JSON.stringify(one)).sort().join('\n');
if (sorted(read) !== sorted(byIndex))
	throw new Error(`the index leads to ${byIndex.length} messages, the file has ${read.length}`);
const s = indexed.statistics;
console.log(JSON.stringify({
	kinds, messages: read, library: indexed.header.library,
	schemas: Object.fromEntries([...indexed.channelsById.values()].map((c) => [c.topic, indexed.schemasById.get(c.schemaId).name])),
	names: Object.fromEntries([...indexed.channelsById.values()].map((c) => [c.topic, c.metadata.get('name')])),
	statistics: { messages: Number(s.messageCount), channels: s.channelCount, schemas: s.schemaCount, chunks: s.chunkCount,
		metadata: s.metadataCount, begin: String(s.messageStartTime), end: String(s.messageEndTime),
		counts: Object.fromEntries([...s.channelMessageCounts].map(([id, n]) => [indexed.channelsById.get(id).topic, Number(n)])) },
}));
