// SPDX-License-Identifier: Apache-2.0
// What time was spent with: words, and fills that differ without colour, too.

const segment_words = {
	run: ['run', 'running'], cached: ['kept', 'kept until published'], publish: ['publish', 'publishing'],
	transport: ['way', 'on its way'], wait: ['wait', 'waiting for other callbacks'], take: ['take', 'being received'],
	executing: ['run', 'running'], queued: ['wait', 'waiting for another callback'], late: ['take', 'late, held up by nothing in the trace'],
	preempted: ['preempted', 'preempted'], blocked: ['take', 'blocked'], page_fault: ['take', 'page faults'], gil: ['take', 'waiting for Python’s lock'],
	dds: ['way', 'written and read by the middleware'], network: ['way', 'in the network'], cache: ['way', 'in the cache of the reader'],
	request_way: ['way', 'request on its way'], request_wait: ['wait', 'waiting at the service for other callbacks'], request_take: ['take', 'request being received'], served: ['run', 'the service’s callback'],
	answering: ['publish', 'until the response was sent'], response_way: ['way', 'response on its way'], response_wait: ['wait', 'waiting at the client for other callbacks'], away: ['idle', 'away, and the trace does not say where'],
	handled: ['kept', 'handled by the client'],
	ran: ['run', 'running'], kept: ['kept', 'kept'], publishing: ['publish', 'publishing'], on_its_way: ['way', 'on its way'],
	waited_for: ['wait', 'waiting'], taking: ['take', 'being received'], being_late: ['take', 'late'],
	goal_way: ['way', 'request on its way'], result_way: ['way', 'result on its way'], asking: ['way', 'until it was accepted'],
	accepting: ['publish', 'being accepted'], beginning: ['wait', 'accepted, until it executes'], canceling: ['kept', 'being canceled'],
	keeping: ['take', 'ended, until the result is sent'], awaiting: ['idle', 'the client waits, and the server is not in the trace'],
	awaited: ['idle', 'awaiting something'], resumed: ['run', 'running after an await'],
};

function swatch_of(what) {
	return (segment_words[what] || ['take'])[0];
}

// Waiting is hatched: no meaning is by colour alone.
function patterns() {
	return svg('defs', {},
		svg('pattern', { id: 'hatch', width: 6, height: 6, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(45)' },
			svg('rect', { width: 6, height: 6, fill: 'var(--wait)', opacity: 0.45 }), svg('rect', { width: 3, height: 6, fill: 'var(--wait)' })),
		svg('pattern', { id: 'others', width: 4, height: 4, patternUnits: 'userSpaceOnUse' },
			svg('rect', { width: 4, height: 4, fill: 'var(--take)', opacity: 0.35 }), svg('rect', { width: 4, height: 2, fill: 'var(--take)' })),
		svg('pattern', { id: 'cut', width: 5, height: 5, patternUnits: 'userSpaceOnUse', patternTransform: 'rotate(-45)' },
			svg('rect', { width: 2, height: 5, fill: 'var(--preempted)' })));
}

function fill_of(what) {
	const swatch = swatch_of(what);
	return swatch === 'wait' ? 'url(#hatch)' : swatch === 'preempted' ? 'url(#cut)' : 'var(--' + swatch + ')';
}

function legend(kinds) {
	const seen = new Map();
	for (const kind of kinds)
		seen.set(swatch_of(kind), (seen.get(swatch_of(kind)) || new Set()).add(segment_words[kind][1]));
	return el('p', { class: 'legend' }, [...seen].map(([swatch, words]) =>
		el('span', {}, el('i', { class: 'bg-' + swatch }), [...words].join('; '))));
}
