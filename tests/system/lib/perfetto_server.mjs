// SPDX-License-Identifier: Apache-2.0
// The script of the trace processor, run many times in one process: compiling its engine takes most of the time of a
// question, and is done once here.
//
//   node perfetto_server.mjs SCRIPT
//
// A line of standard input is the list of the script's arguments as JSON; the answer is a line
// {"status": ..., "out": "...", "err": "..."}. It ends at the end of standard input.
import readline from 'node:readline';
import { pathToFileURL } from 'node:url';

const script = pathToFileURL(process.argv[2]).href;
const { Module } = WebAssembly;
const engines = new Map();		// by size: there is one

WebAssembly.Module = function (bytes) {
	const size = bytes.byteLength;
	if (size < 1 << 20)		// what is tried with a few bytes may fail
		return new Module(bytes);
	if (!engines.has(size))
		engines.set(size, new Module(bytes));
	return engines.get(size);
};

const print = process.stdout.write.bind(process.stdout);
let out, err, ended;
process.stdout.setMaxListeners(0);
process.stdout.write = (text) => { out += text; return true; };
process.stderr.write = (text) => { err += text; return true; };
// The script sets its exit status last.
globalThis.process = new Proxy(process, {
	set(real, key, value) {
		if (key === 'exitCode')
			ended?.(value);
		else
			real[key] = value;
		return true;
	},
});

let runs = 0;
for await (const line of readline.createInterface({ input: process.stdin })) {
	out = err = '';
	process.argv = [process.argv[0], process.argv[1], ...JSON.parse(line)];
	const status = await new Promise((resolve) => {
		ended = resolve;
		import(`${script}?${runs++}`).catch((e) => { err += e.stack; resolve(1); });
	});
	print(JSON.stringify({ status, out, err }) + '\n');
}
