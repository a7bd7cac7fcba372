// SPDX-License-Identifier: Apache-2.0
// Values over time: from the smallest to the largest of each column, and a heat map.

const frame = { left: 62, right: 8, top: 10, bottom: 24 };

// A time of the trace on an axis: seconds, and of a long trace minutes or hours.
function time_text(ns) {
	const [size, unit] = D.end - D.begin < 600e9 ? [1e9, ' s'] : ns % 3600e9 ? [60e9, ' min'] : [3600e9, ' h'];
	return '+' + parseFloat((ns / size).toFixed(6)) + unit;
}

function time_axis(width, height) {
	const x = linear(D.begin || 0, D.end || 1, frame.left, width - frame.right);
	return [x, axis_x(x, height - frame.bottom, time_ticks(x.from, x.to, Math.max(2, width / 120)), time_text, height - frame.bottom - frame.top)];
}

// Where events were lost: a band, with words.
function loss_band(x, top, bottom) {
	if (D.lost_begin === undefined)
		return null;
	const left = x(Math.max(D.lost_begin, x.from)), right = x(Math.min(D.lost_end, x.to));
	return svg('g', {}, svg('rect', { x: left, y: top, width: Math.max(2, right - left), height: bottom - top,
					  fill: 'var(--bad)', opacity: 0.08, 'data-tip': 'events were lost here' }),
		svg('text', { x: left + 4, y: top + 12, fill: 'var(--bad)' }, 'events lost'));
}

function over_time(title, series, what, command_button, marks) {
	const height = 190, bottom = height - frame.bottom, cells = series ? series.cells : [];
	if (!cells.length)
		return null;
	const low = Math.min(...cells.map(cell => cell.min)), high = Math.max(...cells.map(cell => cell.max));
	const chart = picture(height, title + ' over time, from ' + ns_text(low) + ' to ' + ns_text(high), width => {
		const [x, axis] = time_axis(width, height);
		const y = logarithmic(Math.max(1, low) / 1.15, high * 1.15, bottom, frame.top);
		const area = svg('rect', { class: 'hit', x: frame.left, y: frame.top, width: width - frame.left - frame.right,
					   height: bottom - frame.top });
		let path = '';
		const caps = [];
		const thick = Math.max(2.4, x(series.width) - x(0) - 1);
		for (const cell of cells) {
			const begin = series.origin + cell.at * series.width, at = x(begin + series.width / 2);
			const from = Math.min(y(cell.min), bottom), to = y(cell.max);
			path += 'M' + at + ' ' + (from - to < 4 ? to + 2 : from) + 'V' + (from - to < 4 ? to - 2 : to);
			caps.push(svg('rect', { class: 'hit', x: x(begin), y: frame.top, width: Math.max(2, x(series.width) - x(0)),
						height: bottom - frame.top,
						'data-tip': at_text(begin) + ' to ' + at_text(begin + series.width) + '\n' +
						count_text(cell.count) + ' ' + what + ': ' +
						(cell.count > 1 ? ns_text(cell.min) + ' to ' + ns_text(cell.max) : ns_text(cell.max)) }));
		}
		const group = svg('g', {}, area, caps);
		return [axis, axis_y(y, frame.left, width - frame.left - frame.right, log_ticks(y.from, y.to), tick_text),
			loss_band(x, frame.top, bottom),
			svg('path', { d: path, stroke: 'var(--run)', 'stroke-width': thick, fill: 'none' }),
			marks && marks.map(mark => svg('circle', { cx: x(mark.at), cy: y(mark.ns), r: 4, fill: 'none',
								   stroke: 'var(--bad)', 'stroke-width': 2 })),
			group, crosshair(x, frame.top, bottom, group)];
	});
	return figure(title, command_button, chart,
		el('p', { class: 'dim small' }, 'each line: from the shortest to the longest in ' + ns_text(series.width)));
}

// A small one for findings and tables: the longest of each column.
function sparkline(series, height) {
	const cells = series.cells, high = Math.max(...cells.map(cell => cell.max), 1);
	return picture(height || 30, 'over time', width => {
		const x = linear(D.begin || 0, D.end || 1, 0, width), y = linear(0, Math.sqrt(high), height || 30, 1);
		const thick = Math.max(1.5, x(series.width) - x(0) - 0.5);
		let path = '';
		for (const cell of cells)
			path += 'M' + x(series.origin + (cell.at + 0.5) * series.width) + ' ' + (height || 30) + 'V' +
				Math.min((height || 30) - 1, y(Math.sqrt(cell.max)));
		return [svg('line', { class: 'grid', x1: 0, x2: width, y1: (height || 30) - 0.5, y2: (height || 30) - 0.5 }),
			svg('path', { d: path, stroke: 'var(--run)', 'stroke-width': thick, fill: 'none' })];
	});
}

// The series of an entity; services have none of their own: their longest calls.
function spark_series(entity) {
	const all = entity.series || {}, series = all.runs || all.latency || all.late || all.spans;
	if (series || !entity.chain || !entity.chain.worst.length)
		return series;
	return { origin: 0, width: 1, longest: entity.chain.worst.length + ' longest' + after_startup(entity),
		 cells: entity.chain.worst.map(arrival => ({ at: arrival[0], max: arrival[1] })) };
}

const spark = { columns: 120, height: 20 };

// The longest of each of `spark.columns` parts of the trace, as [part, ns].
function spark_points(series) {
	const x = linear(D.begin || 0, D.end || 1, 0, spark.columns), points = new Map();
	for (const cell of series.cells) {
		const at = Math.max(0, Math.min(spark.columns - 1, Math.floor(x(series.origin + (cell.at + 0.5) * series.width))));
		points.set(at, Math.max(points.get(at) || 0, cell.max));
	}
	return [...points.entries()].sort((a, b) => a[0] - b[0]);
}

// When the longest was, as a time of the trace.
function spark_worst(series) {
	const cell = series.cells.reduce((worst, other) => other.max > worst.max ? other : worst);
	return Math.max(D.begin || 0, series.origin + cell.at * series.width);
}

// A column of a table: how long it took over time.
function spark_column(rows) {
	if (!rows.some(row => (spark_series(row) || { cells: [] }).cells.length))
		return [];
	return [{ key: 'spark', title: 'over time', number: true, hint: 'the longest of each part of the trace; sorts by when it took longest',
		value: row => { const series = spark_series(row); return series ? spark_worst(series) : null; }, cell: row => {
			const series = spark_series(row);
			if (!series)
				return el('td', {});
			const points = spark_points(series), high = Math.max(...points.map(point => point[1]), 1), bottom = spark.height - 1;
			const wide = Math.max(1, Math.min(12, series.width / total_ns() * spark.columns));
			const y = linear(0, Math.sqrt(high), bottom, 1), said = (series.longest ? 'The ' + series.longest + ' over time: ' : 'The longest of each part of the trace: ') +
				ns_text(Math.min(...points.map(point => point[1]))) + ' to ' + ns_text(high) + ', longest at ' + at_text(spark_worst(series));
			return el('td', { class: 'spark' }, svg('svg', { viewBox: '0 0 ' + spark.columns + ' ' + spark.height, height: spark.height, preserveAspectRatio: 'none', role: 'img' },
				svg('title', {}, said), svg('path', { class: 'grid', d: 'M0 ' + (bottom + 0.5) + 'H' + spark.columns }),
				svg('path', { d: points.map(([at, ns]) => 'M' + (at + 0.5) + ' ' + bottom + 'V' + Math.min(bottom - 1, y(Math.sqrt(ns))).toFixed(2)).join(''),
					stroke: 'var(--run)', 'stroke-width': wide, fill: 'none' })));
		} }];
}

// ---- heat map: time to the right, latency up ----

function heat_low(row) {
	return Math.pow(2, Math.floor(row / 2)) * (row % 2 ? 1.5 : 1);
}

function heat_cells(heat) {
	let at = 0;
	const cells = [];
	for (let i = 0; i < heat.cells.length; i += 2) {
		at += heat.cells[i];
		cells.push({ column: Math.floor(at / D.columns.heat_rows), row: at % D.columns.heat_rows, count: heat.cells[i + 1] });
	}
	return cells;
}

function heat_chart(title, heat, command_button) {
	if (!heat)
		return null;
	const height = 210, bottom = height - frame.bottom, cells = heat_cells(heat);
	const width_ns = D.columns.width * D.columns.heat_joined;
	const rows = cells.map(cell => cell.row), most = Math.max(...cells.map(cell => cell.count));
	const low = heat_low(Math.min(...rows)), high = heat_low(Math.max(...rows) + 1);
	const chart = picture(height, title, width => {
		const [x, axis] = time_axis(width, height), y = logarithmic(low, high, bottom, frame.top);
		const group = svg('g', {});
		for (const cell of cells) {
			const begin = D.columns.origin + cell.column * width_ns;
			const left = x(begin), top = y(heat_low(cell.row + 1));
			group.append(svg('rect', { x: left, y: top, width: Math.max(1, x(begin + width_ns) - left - 0.4),
						   height: Math.max(1, y(heat_low(cell.row)) - top - 0.4),
						   fill: 'rgba(var(--heat), ' + (0.16 + 0.84 * Math.log1p(cell.count) / Math.log1p(most)).toFixed(3) + ')',
						   'data-tip': at_text(begin) + '\n' + ns_text(heat_low(cell.row)) + ' to ' +
						   ns_text(heat_low(cell.row + 1)) + ': ' + count_text(cell.count) + ' messages' }));
		}
		return [axis, axis_y(y, frame.left, width - frame.left - frame.right, log_ticks(low, high), tick_text),
			loss_band(x, frame.top, bottom), group, crosshair(x, frame.top, bottom, group)];
	});
	return figure(title, command_button, chart, el('p', { class: 'dim small' },
		'the stronger the colour, the more messages: up to ' + count_text(most) + ' in one field'));
}
