// SPDX-License-Identifier: Apache-2.0
// Base and new over each other: distributions, values of the runs, segments of a chain. Base is filled, new is a line.

const distribution_words = { duration: 'How long it took', latency: 'Latency', wait: 'How late it began', own: 'How long its own code took', period: 'From start to start' };

// Bins of 8 in each power of two, from the middles of buckets of 6 %.
function overlay_bins(rows) {
	const bins = new Map();
	for (const { ns, count } of rows) {
		const power = ns < 1 ? 0 : Math.floor(Math.log2(ns)), width = Math.pow(2, Math.max(0, power - 3));
		const low = Math.floor(ns / width) * width, bin = bins.get(low) || { low, high: low + width, count: 0 };
		bin.count += count;
		bins.set(low, bin);
	}
	return [...bins.values()].sort((a, b) => a.low - b.low);
}

function overlay_steps(bins, total, x, y, bottom) {
	let path = '', last = null;
	for (const bin of bins) {
		if (last !== bin.low)
			path += (path ? 'V' + bottom : '') + 'M' + x(bin.low) + ' ' + bottom;
		path += 'V' + y(bin.count / total) + 'H' + x(bin.high);
		last = bin.high;
	}
	return path + 'V' + bottom;
}

// The share of values that are at least so long.
function overlay_above(bins, total, x, y, least) {
	let above = total, path = '';
	for (const bin of bins) {
		path += (path ? 'L' : 'M') + x(bin.low) + ' ' + y(total / above);
		above -= bin.count;
		path += 'L' + x(bin.high) + ' ' + y(above ? total / above : 1 / least);
	}
	return path;
}

function sum_of(rows) {
	return rows.reduce((sum, row) => sum + row.count, 0);
}

function side_legend(base, fresh) {
	return el('p', { class: 'legend' }, el('span', {}, el('i', { style: 'background:var(--take);opacity:.55' }), 'base: ' + base),
		el('span', {}, el('i', { style: 'border:2px solid var(--run);background:none' }), 'new: ' + fresh));
}

function overlay_chart(entity, of) {
	const rows = entity.distributions[of], sides = ['base', 'new'].map(side => ({ bins: overlay_bins(rows[side]), total: sum_of(rows[side]) }));
	if (!sides[0].total || !sides[1].total)
		return null;
	const all = sides.flatMap(side => side.bins), low = Math.max(1, Math.min(...all.map(bin => bin.low))), high = Math.max(...all.map(bin => bin.high), low * 1.5);
	const most = Math.max(...sides.flatMap(side => side.bins.map(bin => bin.count / side.total))), height = 200, top = 12, bottom = height - 24;
	let above = false;
	const title = distribution_words[of] || of;
	const chart = picture(height, title + ', base and new', width => {
		const left = above ? 56 : 6, x = logarithmic(low / 1.05, high * 1.05, left, width - 6), least = 1 / Math.max(sides[0].total, sides[1].total, 10);
		const y = above ? logarithmic(1, 1 / least, top, bottom) : linear(0, Math.sqrt(most), bottom, top), root = share => y(Math.sqrt(share));
		const lines = sides.map(side => above ? overlay_above(side.bins, side.total, x, y, least) : overlay_steps(side.bins, side.total, x, root, bottom));
		const edges = [...new Set(all.map(bin => bin.low))].sort((a, b) => a - b);
		const share = (side, from) => (above ? sum_of(side.bins.filter(bin => bin.low >= from)) : sum_of(side.bins.filter(bin => bin.low === from))) / side.total;
		return [axis_x(x, bottom, log_ticks(x.from, x.to), tick_text, bottom - top),
			above && axis_y(y, left, width - left - 6, [1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7].filter(at => at <= 1 / least), at => percent_text(1 / at)),
			svg('path', above ? { d: lines[0], fill: 'none', stroke: 'var(--take)', 'stroke-width': 5, opacity: 0.55 } : { d: lines[0], fill: 'var(--take)', opacity: 0.5 }),
			svg('path', { d: lines[1], fill: 'none', stroke: 'var(--run)', 'stroke-width': 2 }),
			svg('line', { class: 'axis', x1: left, x2: width - 6, y1: bottom, y2: bottom }),
			edges.map((from, i) => svg('rect', { class: 'hit', x: x(from), y: top, width: Math.max(2, x(edges[i + 1] || high) - x(from)), height: bottom - top,
				'data-tip': (above ? 'at least ' : 'from ') + ns_text(from) + '\nbase ' + percent_text(share(sides[0], from)) + '\nnew ' + percent_text(share(sides[1], from)) }))];
	});
	const toggle = el('button', { class: 'quiet', type: 'button', 'aria-pressed': 'false', title: 'How many took at least so long', onclick: () => {
		above = !above;
		toggle.setAttribute('aria-pressed', String(above));
		chart.redraw();
	} }, 'share above');
	return figure(title, [toggle, diff_button(entity)], chart, [side_legend(count_text(sides[0].total) + ' values', count_text(sides[1].total) + ' values'),
		el('p', { class: 'dim small' }, 'all runs of a side together; heights are square roots of the shares')]);
}

// ---- the value of each run ----

const unit_text = {
	ns: ns_text, ns_per_run: ns_text, per_second: value => parseFloat(value.toPrecision(4)) + ' Hz', share: percent_text, per_run: value => String(parseFloat(value.toPrecision(3))),
};

function runs_chart(metric) {
	const rows = metric.entity.values.filter(value => value.metric === metric.metric), text = unit_text[metric.unit], height = 92, bottom = height - 22;
	const low = Math.min(...rows.map(row => row.value)), high = Math.max(...rows.map(row => row.value)), room = (high - low || high || 1) * 0.06;
	const mean = { base: metric.base, new: metric.new };
	const chart = picture(height, 'the value of each run', width => {
		const x = linear(low - room, high + room, 46, width - 12), y = { base: 18, new: 50 };
		const value = (side, run) => rows.find(row => row.side === side && row.run === run);
		const pairs = facts.paired ? rows.filter(row => row.side === 'base').map(row => [row, value('new', row.run)]).filter(pair => pair[1]) : [];
		return [axis_x(x, bottom, ticks(x.from, x.to, Math.max(2, width / 130)), metric.unit.startsWith('ns') ? tick_text : text, bottom - 6),
			['base', 'new'].map(side => [svg('text', { class: 'strong', x: 0, y: y[side] + 4 }, side),
				svg('path', { d: 'M' + x(mean[side]) + ' ' + (y[side] - 10) + 'v20', stroke: 'var(--ink)', 'stroke-width': 2, 'data-tip': side + ': ' + (side === 'new' ? metric.words.new : metric.words.base) })]),
			pairs.map(([from, to]) => svg('line', { x1: x(from.value), x2: x(to.value), y1: y.base, y2: y.new, stroke: 'var(--line)', 'stroke-width': 1.5 })),
			rows.map(row => svg('circle', { cx: x(row.value), cy: y[row.side], r: 5, fill: row.side === 'base' ? 'var(--take)' : 'var(--panel)', stroke: row.side === 'base' ? 'var(--take)' : 'var(--run)',
				'stroke-width': 2, 'data-tip': row.side + ', run ' + row.run + ': ' + text(row.value) }))];
	});
	return figure(el('h3', {}, metric.metric, ' ', el('span', { class: 'dim' }, metric.words.base + ' → ' + metric.words.new + '  ' + metric.words.change)), null, chart);
}

// ---- segments of a chain ----

function segment_label(segment) {
	return segment.who + ', ' + (segment_words[segment.what] || [0, segment.what])[1] + (segment.by ? ' (' + segment.by + ')' : '');
}

function change_ns(ns) {
	return (ns > 0 ? '+' : '') + ns_text(ns);
}

function segments_figure(metric) {
	const segments = metric.words.segments, height = 98, total = side => segments.reduce((sum, segment) => sum + segment[side], 0);
	const high = Math.max(total('base'), total('new')) || 1;
	const chart = picture(height, 'Segments of the chain, base and new', width => {
		const x = linear(0, high * 1.02, 46, width - 8);
		return [patterns(), axis_x(x, height - 22, time_ticks(0, high, Math.max(2, width / 130)), tick_text, height - 26),
			['base', 'new'].map((side, i) => {
				let sum = 0;
				return [svg('text', { class: 'strong', x: 0, y: 22 + i * 34 }, side), segments.map(segment => {
					const from = sum;
					sum += segment[side];
					return segment[side] > 0 && svg('rect', { x: x(from), y: 6 + i * 34, width: Math.max(0.5, x(sum) - x(from)), height: 24, fill: fill_of(segment.what), stroke: 'var(--panel)', 'stroke-width': 0.7,
						'data-tip': segment_label(segment) + '\nbase ' + ns_text(segment.base) + ', new ' + ns_text(segment.new) });
				})];
			})];
	});
	return figure('Where the time goes: ' + metric.metric, null, chart, [legend(segments.filter(segment => segment.base || segment.new).map(segment => segment.what)),
		table([{ key: 'name', title: 'segment', value: segment_label, cell: segment => el('td', { class: 'namecell' }, el('i', { class: 'swatch bg-' + swatch_of(segment.what) }), name_of(segment_label(segment), 70)) },
			ns_column('base', 'base', segment => segment.base), ns_column('new', 'new', segment => segment.new),
			{ key: 'change', title: 'change', number: true, value: segment => segment.new - segment.base, cell: segment => el('td', { class: segment.part && metric.verdict === 'worse' ? 'n bad' : 'n' }, change_ns(segment.new - segment.base)) }],
			segments.filter(segment => segment.base || segment.new), { most: 40, sort: 'change', label: 'segments: ' + metric.metric })]);
}
