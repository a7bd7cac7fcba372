// SPDX-License-Identifier: Apache-2.0
// What the time of a chain's arrivals was spent with: the usual one, and the worst ones beside it.

// "/scan on its way", "/planner waiting": the segment of a chain in words.
function segment_name(chain, segment) {
	if (chain.calls)
		return segment_words[segment.what][1];
	const step = chain.steps[segment.step], before = chain.steps[segment.step - 1];
	const at = segment.what === 'transport' || segment.what === 'publish' || segment.what === 'cached' ? before || step : step;
	return at.name + ', ' + (segment.what === 'wait' ? 'waiting' : (segment_words[segment.what] || [0, segment.what])[1]);
}

function stack(chain, values, x, width, y, bottom) {
	let sum = 0;
	return values.map((ns, i) => {
		const from = y(sum), to = y(sum + ns);
		sum += ns;
		return ns > 0 && from - to > 0.3 && svg('rect', { x, y: to, width, height: from - to, fill: fill_of(chain.segments[i].what) });
	});
}

function stack_tip(chain, what, total, values) {
	const parts = values.map((ns, i) => [ns, i]).sort((a, b) => b[0] - a[0]).slice(0, 4).filter(part => part[0] > 0);
	return what + ': ' + ns_text(total) + '\n' + parts.map(([ns, i]) =>
		ns_text(ns) + '  ' + arrows(shortened(segment_name(chain, chain.segments[i]), 60)) +
		' (usually ' + ns_text(chain.segments[i].p50) + ')').join('\n');
}

// What the worst arrivals leave out, in words.
function after_startup(entity) {
	return steady(entity.latency) ? ' after start-up' : '';
}

function segments_chart(entity) {
	const chain = entity.chain, height = 250, bottom = height - 26, worst = chain.worst;
	const usual = chain.segments.map(segment => segment.p50);
	const chart = picture(height, 'The ' + worst.length + ' worst, part by part, beside the usual one', width => {
		const high = Math.max(worst.length ? worst[0][1] : 0, usual.reduce((a, b) => a + b, 0)) || 1;
		const y = linear(0, high * 1.03, bottom, 10), left = 62;
		const step = (width - left - 60) / Math.max(worst.length, 12), thick = Math.max(1, Math.min(26, step - 1));
		const nodes = [patterns(), axis_y(y, left, width - left, time_ticks(0, high, 4), tick_text)];
		nodes.push(svg('g', { 'data-tip': stack_tip(chain, 'Usual parts (each its median)', usual.reduce((a, b) => a + b, 0), usual) },
			stack(chain, usual, left + 6, 26, y, bottom),
			svg('rect', { class: 'hit', x: left, y: 10, width: 40, height: bottom - 10 })));
		nodes.push(svg('text', { x: left + 19, y: bottom + 16, 'text-anchor': 'middle' }, 'usual'));
		nodes.push(svg('g', { 'data-walk': '' }, worst.map((arrival, i) => {
			const x = left + 56 + i * step, values = arrival.slice(3);
			return svg('g', { 'data-tip': stack_tip(chain, 'No. ' + (i + 1) + ' at ' + at_text(arrival[0]), arrival[1], values),
					  'data-go': address(entity, i + 1), tabindex: i ? -1 : 0, role: 'link', style: 'cursor:pointer',
					  'aria-label': 'number ' + (i + 1) + ': ' + ns_text(arrival[1]) },
				stack(chain, values, x, thick, y, bottom),
				svg('rect', { class: 'hit', x: x - 0.5, y: 10, width: Math.max(step, 2), height: bottom - 10 }));
		})));
		nodes.push(svg('text', { x: left + 56, y: bottom + 16 }, 'the ' + worst.length + ' worst' + after_startup(entity) + ', longest first'));
		nodes.push(svg('line', { class: 'axis', x1: left, x2: width, y1: bottom, y2: bottom }));
		return nodes;
	});
	return figure('Where the time of the worst' + after_startup(entity) + ' went', chain_command(entity, 'why', worst.length), chart,
		legend(chain.segments.filter(segment => segment.sum).map(segment => segment.what)));
}

function chain_command(entity, verb, count) {
	if (!entity.ask)
		return null;
	return copy_button('copy as kymo ' + verb, command(verb, shell(entity.ask) +
		(verb === 'why' ? ' -n ' + Math.min(count || 1, 100) : '')));
}

// The worst of a chain over time: where in the trace it was bad.
function worst_over_time(entity, title) {
	const chain = entity.chain, height = 130, bottom = height - frame.bottom;
	if (chain.worst.length < 2)
		return null;
	const chart = picture(height, 'When the worst arrivals were', width => {
		const [x, axis] = time_axis(width, height), high = chain.worst[0][1];
		const y = linear(0, high * 1.05, bottom, frame.top);
		return [axis, axis_y(y, frame.left, width - frame.left - frame.right, time_ticks(0, high, 3), tick_text),
			loss_band(x, frame.top, bottom),
			chain.worst.map((arrival, i) => svg('g', { 'data-tip': 'No. ' + (i + 1) + ' at ' + at_text(arrival[0]) + ': ' + ns_text(arrival[1]),
				'data-go': address(entity, i + 1), style: 'cursor:pointer' },
				svg('line', { x1: x(arrival[0]), x2: x(arrival[0]), y1: bottom, y2: y(arrival[1]), stroke: 'var(--run)', 'stroke-width': 1.5 }),
				svg('circle', { cx: x(arrival[0]), cy: y(arrival[1]), r: 3.5, fill: 'var(--run)' }),
				svg('rect', { class: 'hit', x: x(arrival[0]) - 3, y: frame.top, width: 6, height: bottom - frame.top })))];
	});
	return figure((title || 'When the worst') + after_startup(entity) + ' were', null, chart);
}
