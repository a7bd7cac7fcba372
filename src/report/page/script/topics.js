// SPDX-License-Identifier: Apache-2.0
// Topics: the table, one of them, and lost messages.

function topics_table(topics, most, is_short) {
	const columns = [name_column('topic', topic => topic.name, address), count_column('published', 'published', topic => topic.published || 0),
		...(is_short ? [] : [{ key: 'rate', title: 'Hz', number: true, value: graph_rate, cell: topic => graph_rate(topic) ? graph_rate(topic).toPrecision(4) : '–' }]),
		...latency_columns(topic => topic.latency), count_column('lost', 'never received', missing, 'on the way, or in a queue', true)];
	if (!is_short)
		columns.push(count_column('not_yet', 'before the first', topic => topic.not_yet || 0, 'before the subscription had received anything'),
			...spark_column(topics), range_column(topics, topic => topic.latency));
	return table(columns, topics, { most, sort: is_short ? 'max' : 'max', go: address, label: 'topics' });
}

function topics_page() {
	const topics = of_kind('topic');
	return [banner(), panel(el('h2', {}, 'Topics'), topics.length ? query_button("SELECT topic_name, count(*) AS messages, max(latency_ns) AS max_ns FROM messages WHERE outcome = 'callback' GROUP BY topic_id ORDER BY max_ns DESC") : null,
		topics.length ? [el('p', { class: 'dim' }, 'Latency is from the publish call to the start of the callback. Who is slow, who loses messages?'), topics_table(topics, 200)]
			: empty('The trace has no topics.'))];
}

const loss_words = [['never_sent', 'the publish call sent nothing'], ['never_received', 'on the way, or in the queue of the subscription'],
	['not_yet', 'before the subscription had received its first one'], ['overwritten', 'replaced by a newer one in a queue within the process'],
	['cleared', 'such a queue was emptied']];

function loss_table(topic) {
	const parts = of_kind('subscription', true).filter(other => other.of === topic.name), rows = [];
	for (const entity of parts.length ? parts : [topic])
		for (const [key, words] of loss_words)
			if (entity[key])
				rows.push({ entity, words, count: entity[key] });
	return rows.length ? table([name_column('subscription', row => row.entity.label), { key: 'why', title: 'lost', value: row => row.words, cell: row => row.words },
		count_column('count', 'messages', row => row.count)], rows, { sort: 'count', label: 'lost messages' }) : empty('Every message was received.');
}

function topic_page(entity) {
	const from = "messages WHERE topic_name = " + sql_text(entity.name) + ' AND latency_ns IS NOT NULL' + inside('publish_ns'), series = entity.series || {};
	const ends = key => [...new Set(D.graph[key].filter(end => end[0] === entity.index).map(end => node_label(D.graph.nodes[end[1]])))];
	return [panel(el('h2', {}, name_of(entity.name, 300)), null,
			D.is_summary ? null : el('p', { class: 'crumbs' }, ends('publishers').map((name, i) => [i ? ', ' : '', name_of(name, 60)]), ' → ', ends('subscriptions').map((name, i) => [i ? ', ' : '', name_of(name, 60)])),
			numbers([['published', count_text(entity.published || 0), entity.published || 0], entity.rate_hz ? ['Hz', entity.rate_hz.toPrecision(4)] : null,
				['received', count_text(entity.received || 0), entity.received || 0], ['never received', count_text(missing(entity)), missing(entity)],
				entity.latency ? ['usually', within_text(entity.latency.p50, entity.error), entity.latency.p50] : null, entity.latency ? ['p99', within_text(entity.latency.p99, entity.error), entity.latency.p99] : null,
				entity.latency ? ['worst', within_text(entity.latency.max, entity.error), entity.latency.max] : null,
				entity.error ? ['clocks may be wrong by', ns_text(entity.error)] : null])),
		entity.latency ? el('div', { class: 'cols' }, entity.heat && panel('', null, heat_chart('Latency over time', entity.heat, query_button(heat_sql(from)))),
			panel('', null, dist_chart('Latency', entity.latency, query_button(bins_sql('latency_ns', from)), entity.error, limit_of(entity, 'latency')))) : panel('', null, empty('No callback received a message of this topic.')),
		el('div', { class: 'cols' }, entity.gap && panel('', null, dist_chart('From one publication to the next', entity.gap, query_button(bins_sql('gap_ns', gaps_sql(entity))))),
			panel('Lost messages', null, loss_table(entity)),
			series.lost && panel('', null, lost_over_time(series.lost)),
			entity.latency && series.latency && panel('', null, over_time('Latency, shortest to longest', series.latency, 'messages', query_button(columns_sql('latency_ns', 'publish_ns', from, series.latency)))))];
}

// A call that publishes on two paths has two rows.
function gaps_sql(entity) {
	return '(SELECT publish_ns - lag(publish_ns) OVER (ORDER BY publish_ns) AS gap_ns FROM (SELECT DISTINCT publication_id, publish_ns FROM publications WHERE topic_name = ' +
		sql_text(entity.name) + inside('publish_ns') + ')) WHERE gap_ns IS NOT NULL';
}

function heat_sql(from) {
	const power = 'CAST(log2(latency_ns) AS INT)';
	return 'SELECT (publish_ns - ' + epoch(D.columns.origin) + ') / ' + D.columns.width * D.columns.heat_joined + ' AS column, 2 * ' + power + ' + (2 * latency_ns >= 3 << ' + power +
		') AS row, count(*) AS count FROM ' + from + ' GROUP BY 1, 2 ORDER BY 1, 2';
}

function lost_over_time(series) {
	const height = 130, bottom = height - frame.bottom, most = Math.max(...series.cells.map(cell => cell.count));
	return figure('When messages were lost', null, picture(height, 'Lost messages over time', width => {
		const [x, axis] = time_axis(width, height), y = linear(0, most, bottom, frame.top);
		return [axis, axis_y(y, frame.left, width - frame.left - frame.right, ticks(0, most, 2).filter(at => at % 1 === 0), count_text), loss_band(x, frame.top, bottom),
			series.cells.map(cell => svg('rect', { x: x(series.origin + cell.at * series.width), y: y(cell.count), width: Math.max(2, x(series.width) - x(0) - 0.5), height: bottom - y(cell.count),
				fill: 'var(--bad)', 'data-tip': at_text(series.origin + cell.at * series.width) + '\n' + count_text(cell.count) + ' lost' }))];
	}));
}
