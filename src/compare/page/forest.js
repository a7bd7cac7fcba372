// SPDX-License-Identifier: Apache-2.0
// The forest plot: how much each metric changed, with its interval and the limit that it may not pass.

const verdict_words = {
	'worse': 'WORSE', 'better': 'better', 'not known': 'not known', 'not worse': 'not worse',
};
const verdict_colour = { 'worse': 'var(--bad)', 'better': 'var(--good)', 'not known': 'var(--warn)', 'not worse': 'var(--faint)' };

// No meaning is by colour alone: a square is worse, a diamond better, a ring not known.
function verdict_mark(verdict, x, y) {
	const fill = verdict_colour[verdict];
	if (verdict === 'worse')
		return svg('rect', { x: x - 5, y: y - 5, width: 10, height: 10, fill });
	if (verdict === 'better')
		return svg('path', { d: 'M' + x + ' ' + (y - 7) + 'l7 7l-7 7l-7 -7z', fill });
	return svg('circle', { cx: x, cy: y, r: verdict === 'not known' ? 4.5 : 3.5, fill: verdict === 'not known' ? 'var(--panel)' : fill,
			       stroke: fill, 'stroke-width': 2 });
}

function verdict_legend() {
	return el('p', { class: 'legend' }, Object.keys(verdict_words).map(verdict => el('span', {},
		svg('svg', { width: 16, height: 16, viewBox: '0 0 16 16', style: 'display:inline-block;width:16px;vertical-align:-3px;margin-right:5px' }, verdict_mark(verdict, 8, 8)), verdict_words[verdict])),
		el('span', {}, el('i', { class: 'bg-idle' }), 'within the limit'));
}

const forest_ticks = [-0.9, -0.75, -0.5, -0.3, -0.2, -0.1, 0, 0.1, 0.2, 0.3, 0.5, 1, 2, 4, 9, 19, 99];

function change_text(change) {
	const percent = 100 * change;
	return (percent > 0 ? '+' : '') + (change >= 9 ? '×' + (1 + change).toFixed(0) : percent.toFixed(0) + ' %').replace('+×', '×');
}

// From the smallest to the largest bound: far ones are cut, and have an arrow.
function forest_range(rows) {
	const at = rows.map(row => Math.log1p(row.change)), ends = rows.flatMap(row => [row.change_low, row.change_high])
		.filter(end => end !== null && end > -1).map(Math.log1p);
	const limits = rows.map(row => Math.log1p(row.words.limit));
	const low = Math.min(-0.15, ...at, ...ends.map(end => Math.max(end, -1.2)), ...limits.map(limit => -Math.min(limit, 1)));
	const high = Math.max(0.15, ...at, ...ends.map(end => Math.min(end, 1.6)), ...limits.map(limit => Math.min(limit, 1)));
	return [Math.max(low, -3) * 1.06, Math.min(high, 8) * 1.06];
}

function forest_line(row, x, y, left, right) {
	const at = value => x(Math.log1p(value)), clip = value => Math.max(left, Math.min(right, value));
	const low = row.change_low === null || row.change_low <= -1 ? left - 1 : at(row.change_low), high = row.change_high === null ? right + 1 : at(row.change_high);
	const colour = verdict_colour[row.verdict], from = clip(low), to = clip(high), limit = Math.log1p(row.words.limit);
	return [svg('rect', { x: clip(x(-limit)), y: y - 9, width: clip(x(limit)) - clip(x(-limit)), height: 18, fill: 'var(--idle)', opacity: 0.6 }),
		svg('line', { x1: from, x2: to, y1: y, y2: y, stroke: colour, 'stroke-width': 2 }),
		low < left ? svg('path', { d: 'M' + (left + 6) + ' ' + (y - 4) + 'l-6 4l6 4', fill: 'none', stroke: colour, 'stroke-width': 2 })
			: svg('line', { x1: from, x2: from, y1: y - 4, y2: y + 4, stroke: colour, 'stroke-width': 2 }),
		high > right ? svg('path', { d: 'M' + (right - 6) + ' ' + (y - 4) + 'l6 4l-6 4', fill: 'none', stroke: colour, 'stroke-width': 2 })
			: svg('line', { x1: to, x2: to, y1: y - 4, y2: y + 4, stroke: colour, 'stroke-width': 2 }),
		verdict_mark(row.verdict, clip(at(row.change)), y)];
}

function forest_tip(row) {
	return row.entity.kind + ' ' + row.entity.label + '\n' + row.metric + ': ' + row.words.base + ' → ' + row.words.new + '\n' + row.words.change + ': ' + row.verdict +
		'\nlimit: ' + (row.words.is_less_worse ? '-' + (100 - 100 / (1 + row.words.limit)).toFixed(0) : '+' + (100 * row.words.limit).toFixed(0)) + ' %' + (row.words.more ? '\n' + row.words.more : '');
}

function forest(rows, options) {
	const o = Object.assign({ most: 24, names: true, title: '' }, options), place = el('div', {});
	let most = o.most;
	const draw = () => {
		const words = search_words(), all = rows.filter(row => words.every(word => (row.entity.label + ' ' + row.entity.kind + ' ' + row.metric + ' ' + row.verdict).toLowerCase().includes(word)));
		const shown = all.slice(0, most);
		place.textContent = '';
		if (!shown.length)
			return place.append(empty('Nothing matches the filter.'));
		const [low, high] = forest_range(shown);
		let chart = null;
		const lines = width => width < 700 ? 2 : 1;
		const height_of = width => shown.length * (lines(width) * 17 + 11) + 34;
		const draw_in = width => {
			const narrow = lines(width) === 2, step = narrow ? 45 : 28, height = height_of(width), bottom = height - 26;
			const left = narrow ? 8 : Math.min(430, width * (o.names ? 0.4 : 0.16)), right = narrow ? width - 8 : width - 236;
			const x = linear(low, high, left + 8, right - 8);
			chart.setAttribute('height', height);
			chart.setAttribute('viewBox', '0 0 ' + width + ' ' + height);
			const at = spaced(forest_ticks.filter(tick => Math.log1p(tick) >= low && Math.log1p(tick) <= high), tick => x(Math.log1p(tick)), 46);
			const name = row => shortened(arrows(row.entity.label), Math.max(16, Math.floor((narrow ? width : left) / 7.4) - row.metric.length - 3));
			return [at.map(tick => svg('g', {}, svg('line', { class: tick ? 'grid' : 'axis', x1: x(Math.log1p(tick)), x2: x(Math.log1p(tick)), y1: 4, y2: bottom }),
					svg('text', { x: x(Math.log1p(tick)), y: bottom + 17, 'text-anchor': 'middle' }, tick ? change_text(tick) : 'same'))),
				shown.map((row, i) => {
					const y = 4 + i * step + (narrow ? 30 : 14);
					return svg('g', { 'data-tip': forest_tip(row), 'data-go': o.names ? address(row.entity) : null, tabindex: 0, role: o.names ? 'link' : 'img', 'aria-label': forest_tip(row), style: o.names ? 'cursor:pointer' : null },
						svg('rect', { class: 'hit', x: 0, y: 4 + i * step, width, height: step }),
						svg('text', { class: 'strong', x: 0, y: narrow ? y - 13 : y + 4 }, o.names && svg('tspan', {}, name(row) + '  '), svg('tspan', { class: o.names ? 'dim-ink' : null }, row.metric)),
						forest_line(row, x, y, left, right),
						!narrow && svg('text', { x: right + 10, y: y + 4, style: row.verdict === 'not worse' ? null : 'fill:' + verdict_colour[row.verdict] }, verdict_words[row.verdict] + '  ' + row.words.change));
				})];
		};
		chart = picture(height_of(1000), 'How much each metric changed', draw_in);
		place.append(chart);
		if (all.length > shown.length)
			place.append(el('p', { class: 'more' }, el('button', { type: 'button', onclick: () => { most = Infinity; draw(); } }, 'show all ' + count_text(all.length))));
	};
	place.draw = draw;
	tables_shown.add(place);
	draw();
	return figure(o.title, o.tools, place, el('div', {}, verdict_legend(),
		el('p', { class: 'dim small' }, facts.base_runs + facts.new_runs > 2 ? 'Line: the interval of the change; each of its ends is wrong in at most 5 of 100 comparisons. ' : '', 'An arrow: it goes on. To the right: a longer time, more of it.')));
}

// Those of `at` that are at least `room` apart; 0 always.
function spaced(at, place, room) {
	const kept = at.includes(0) ? [0] : [];
	for (const one of at)
		if (one && kept.every(other => Math.abs(place(other) - place(one)) >= room))
			kept.push(one);
	return kept;
}
