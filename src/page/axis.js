// SPDX-License-Identifier: Apache-2.0
// Scales and axes of charts in SVG, and one crosshair for all charts over time.

function linear(from, to, left, right) {
	const scale = value => left + (value - from) / (to - from || 1) * (right - left);
	scale.from = from;
	scale.to = to;
	scale.invert = at => from + (at - left) / (right - left || 1) * (to - from);
	return scale;
}

function logarithmic(from, to, left, right) {
	from = Math.max(from, 1);
	to = Math.max(to, from * 1.0001);
	const a = Math.log(from), b = Math.log(to);
	const scale = value => left + (Math.log(Math.max(value, from)) - a) / (b - a) * (right - left);
	scale.from = from;
	scale.to = to;
	scale.invert = at => Math.exp(a + (at - left) / (right - left || 1) * (b - a));
	return scale;
}

// Round numbers between from and to, about `count` of them.
function ticks(from, to, count) {
	const rough = (to - from) / count || 1, power = Math.pow(10, Math.floor(Math.log10(rough)));
	const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= rough);
	const all = [];
	for (let at = Math.ceil(from / step) * step; at <= to + step * 1e-9; at += step)
		all.push(at);
	return all;
}

// The same of times: minutes and hours are divided as on a clock.
const clock_steps = [1, 2, 5, 10, 15, 30, 60, 120, 180, 360, 720, 1440, 2880, 7200, 14400].map(minutes => minutes * 60e9);

function time_ticks(from, to, count) {
	const rough = (to - from) / count, step = clock_steps.find(other => other >= rough), all = [];
	if (rough < 30e9 || !step)
		return ticks(from, to, count);
	for (let at = Math.ceil(from / step) * step; at <= to; at += step)
		all.push(at);
	return all;
}

// Powers of ten, and between them 2 and 5 if there is room.
function log_ticks(from, to) {
	const decades = Math.log10(to / from), all = [];
	const steps = decades > 4 ? [1] : decades > 1.6 ? [1, 3] : [1, 2, 5];
	for (let power = Math.floor(Math.log10(from)); power <= Math.ceil(Math.log10(to)); power++)
		for (const step of steps) {
			const at = step * Math.pow(10, power);
			if (at >= from * 0.999 && at <= to * 1.001 && (at < 50e9 || to < 100e9))
				all.push(at);
		}
	return to < 100e9 ? all : all.concat([60e9, 600e9, 3600e9, 36000e9, 360000e9].filter(at => at >= from * 0.999 && at <= to * 1.001));
}

// 1 us, 30 ms: the labels of axes have no more digits than they need.
function tick_text(ns) {
	const [value, unit] = ns_parts(ns);
	return String(parseFloat(value)) + ' ' + unit;
}

function axis_x(scale, y, at, text, height) {
	const right = scale(scale.to);
	return at.map(value => svg('g', {},
		svg('line', { class: 'grid', x1: scale(value), x2: scale(value), y1: y - (height || 4), y2: y }),
		scale(value) < 18 ? svg('text', { x: 0, y: y + 16 }, text(value)) : scale(value) > right - 22 ? svg('text', { x: right + 6, y: y + 16, 'text-anchor': 'end' }, text(value))
			: svg('text', { x: scale(value), y: y + 16, 'text-anchor': 'middle' }, text(value))));
}

function axis_y(scale, x, width, at, text) {
	return at.map(value => svg('g', {},
		svg('line', { class: 'grid', x1: x, x2: x + width, y1: scale(value), y2: scale(value) }),
		svg('text', { x: x - 8, y: scale(value) + 4, 'text-anchor': 'end' }, text(value))));
}

// A picture as wide as its place: draw(width) gives its content, again whenever the place changes.
function picture(height, label, draw) {
	const root = svg('svg', { height: height, role: 'img', 'aria-label': label });
	let last = 0;
	const redraw = () => {
		const place = Math.floor(root.getBoundingClientRect().width), width = Math.max(place, 240);
		if (!place || width === last)
			return;
		last = width;
		root.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
		root.textContent = '';
		put(root, [draw(width)]);
	};
	new ResizeObserver(redraw).observe(root);
	root.redraw = () => { last = 0; redraw(); };
	return root;
}

// ---- the crosshair ----

const cross_lines = new Set();

// A line at the time under the pointer, in each chart over time of the page.
function crosshair(scale, top, bottom, area) {
	const line = svg('line', { class: 'cross', y1: top, y2: bottom, visibility: 'hidden' });
	const one = { line, show(ns) {
		if (!line.isConnected) {
			cross_lines.delete(one);
			return;
		}
		const inside = ns !== null && ns >= scale.from && ns <= scale.to;
		line.setAttribute('visibility', inside ? 'visible' : 'hidden');
		if (inside)
			set(line, { x1: scale(ns), x2: scale(ns) });
	} };
	cross_lines.add(one);
	area.addEventListener('pointermove', event => {
		const box = area.ownerSVGElement.getBoundingClientRect();
		const ns = scale.invert(event.clientX - box.left);
		cross_lines.forEach(other => other.show(ns));
	});
	area.addEventListener('pointerleave', () => cross_lines.forEach(other => other.show(null)));
	return line;
}
