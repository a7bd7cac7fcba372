// SPDX-License-Identifier: Apache-2.0
// A distribution: bars over a logarithmic axis, or the share of values above each value.

// The first value of a coarse bucket; see docs/answers/summary.md.
function bucket_low(bucket) {
	if (bucket < 32)
		return bucket;
	const shift = Math.floor(bucket / 16) - 1;
	return (bucket - 16 * shift) * Math.pow(2, shift);
}

// Bins of a distribution: 8 in each power of two, as `{low, high, count}`.
function bins_of(distribution) {
	const bins = new Map();
	let bucket = 0;
	for (let i = 0; i < distribution.buckets.length; i += 2) {
		bucket += distribution.buckets[i];
		const low = bucket_low(bucket);
		const power = low < 1 ? 0 : Math.floor(Math.log2(low));
		const width = Math.pow(2, Math.max(0, power - 3));
		const begin = Math.floor(low / width) * width;
		const bin = bins.get(begin) || { low: begin, high: begin + width, count: 0 };
		bin.count += distribution.buckets[i + 1];
		bins.set(begin, bin);
	}
	return [...bins.values()].sort((a, b) => a.low - b.low);
}

// The same bins in SQL.
function bins_sql(column, from) {
	const power = 'CAST(log2(' + column + ') AS INT)';
	return 'SELECT CASE WHEN ' + column + ' < 8 THEN ' + column + ' ELSE (' + column + ' >> (' + power +
		' - 3)) << (' + power + ' - 3) END AS at_least_ns, count(*) AS count FROM ' + from +
		' GROUP BY 1 ORDER BY 1';
}

function dist_bars(bins, total, x, top, bottom) {
	const most = Math.max(...bins.map(bin => bin.count));
	const y = linear(0, Math.sqrt(most), bottom, top);
	return bins.map(bin => {
		const left = x(Math.max(bin.low, x.from)), right = x(bin.high);
		const height = Math.max(1.5, bottom - y(Math.sqrt(bin.count)));
		return svg('rect', { x: left, y: bottom - height, width: Math.max(1, right - left - 0.6),
				     height, fill: 'var(--run)',
				     'data-tip': ns_text(bin.low) + ' to ' + ns_text(bin.high) + '\n' +
				     count_text(bin.count) + ' of ' + count_text(total) + ' (' +
				     percent_text(bin.count / total) + ')' });
	});
}

function dist_above(bins, total, x, top, bottom, left, width) {
	const least = 1 / Math.max(total, 10);
	const y = logarithmic(1, 1 / least, top, bottom);
	let above = total, path = '';
	const dots = [];
	for (const bin of bins) {
		path += (path ? 'L' : 'M') + x(Math.max(bin.low, x.from)) + ' ' + y(total / above);
		dots.push(svg('rect', { class: 'hit', x: x(Math.max(bin.low, x.from)), y: top,
					width: Math.max(2, x(bin.high) - x(bin.low)), height: bottom - top,
					'data-tip': percent_text(above / total) + ' took at least ' + ns_text(bin.low) }));
		above -= bin.count;
		path += 'L' + x(bin.high) + ' ' + y(above ? total / above : 1 / least);
	}
	const at = [1, 10, 100, 1000, 1e4, 1e5, 1e6, 1e7].filter(share => share <= 1 / least);
	return [axis_y(y, left, width, at, share => percent_text(1 / share)),
		svg('path', { d: path, fill: 'none', stroke: 'var(--run)', 'stroke-width': 2 }), dots];
}

// Words above the marks: a row higher where they would touch.
function dist_marks(distribution, x, top, bottom, width, budget) {
	const taken = [];
	const marks = [['usually', distribution.p50], ['p99', distribution.p99], ['worst' + (distribution.steady ? ' (start-up)' : ''), distribution.max]].filter(
		(mark, i, all) => i === 2 || ns_text(mark[1]) !== ns_text(all[i + 1][1])).concat(budget ? [['budget', budget]] : []);
	return marks.map(([what, ns]) => {
		const text = what + ' ' + ns_text(ns), room = text.length * 7 + 8;
		const at = x(ns), from = Math.max(0, Math.min(at - room / 2, width - room));
		let row = 0;
		while (taken.some(other => other.row === row && from < other.from + other.room && other.from < from + room))
			row++;
		taken.push({ row, from, room });
		return svg('g', {}, svg('line', { class: 'mark', x1: at, x2: at, y1: top - 2 - 15 * row, y2: bottom }),
			svg('text', { class: 'strong', x: from + room / 2, y: top - 6 - 15 * row, 'text-anchor': 'middle' }, text));
	});
}

// What is it a distribution of, the distribution, and the command that gives its numbers. Budget: what is expected at most.
function dist_chart(title, distribution, command_button, error, budget) {
	if (!distribution)
		return null;
	const bins = bins_of(distribution), height = 216, top = budget ? 63 : 48, bottom = height - 24;
	let above = false;
	const chart = picture(height, title + ': usually ' + ns_text(distribution.p50) + ', p99 ' +
		ns_text(distribution.p99) + ', worst ' + ns_text(distribution.max) + (budget ? ', budget ' + ns_text(budget) : ''), width => {
		const left = above ? 56 : 6;
		const low = Math.max(1, Math.min(distribution.min, budget || Infinity)), high = Math.max(distribution.max, low * 1.5, budget || 0);
		const x = logarithmic(low / 1.12, high * 1.12, left, width - 6);
		return [axis_x(x, bottom, log_ticks(x.from, x.to), tick_text, bottom - top),
			above ? dist_above(bins, distribution.count, x, top, bottom, left, width - left - 6)
			      : dist_bars(bins, distribution.count, x, top, bottom),
			svg('line', { class: 'axis', x1: left, x2: width - 6, y1: bottom, y2: bottom }),
			error && svg('g', { 'data-tip': 'The clocks of the hosts may be wrong by ' + ns_text(error) + ': what is left of this says nothing' },
				svg('rect', { x: left, y: top, width: Math.max(0, x(error) - left), height: bottom - top, fill: 'var(--warn)', opacity: 0.12 }),
				x(error) - left > 170 && svg('text', { x: left + 4, y: top + 12 }, 'below the error of the clocks')),
			dist_marks(distribution, x, top, bottom, width, budget)];
	});
	const toggle = el('button', { class: 'quiet', type: 'button', 'aria-pressed': 'false', onclick: () => {
		above = !above;
		toggle.setAttribute('aria-pressed', String(above));
		chart.redraw();
	}, title: 'How many took at least so long' }, 'share above');
	return figure(title, [toggle, command_button], chart,
		el('p', { class: 'dim small' }, count_text(distribution.count) + ' values; heights are square roots of the counts'));
}
