// SPDX-License-Identifier: Apache-2.0
// Actions: how their goals ended, and what the time of goals was spent with, from when the client sends one until it has the result.

function of_action(entity) {
	return 'action_goals WHERE action = ' + sql_text(entity.name) + inside('first_ns');
}

function action_goals(entity) {
	return (entity.aborted || 0) + (entity.canceled || 0) + (entity.rejected || 0) + (entity.unfinished || 0) + succeeded(entity);
}

function succeeded(entity) {
	return (entity.runs || 0) - (entity.aborted || 0) - (entity.canceled || 0);
}

function actions_table(actions) {
	return table([name_column('action', entity => entity.name, address), count_column('goals', 'goals', action_goals), count_column('succeeded', 'succeeded', succeeded),
		count_column('aborted', 'aborted', entity => entity.aborted || 0, 'by the server', true), count_column('canceled', 'canceled', entity => entity.canceled || 0),
		count_column('rejected', 'rejected', entity => entity.rejected || 0), count_column('unfinished', 'no end', entity => entity.unfinished || 0, 'their end is not in the trace'),
		...latency_columns(entity => entity.latency), { key: 'mostly', title: 'mostly', value: service_mostly, cell: service_mostly }, range_column(actions, entity => entity.latency)],
		actions, { most: 100, sort: 'max', go: address, label: 'actions' });
}

function actions_page() {
	const actions = of_kind('action', true);
	return [banner(), panel(el('h2', {}, 'Actions'), actions.length ? query_button('SELECT action, status, count(*) AS goals, max(duration_ns) AS max_ns FROM action_goals GROUP BY 1, 2 ORDER BY 4 DESC') : null,
		actions.length ? [el('p', { class: 'dim' }, 'From when the client sends a goal until it has the result. Where does the time go?'), actions_table(actions)]
			: empty('The trace has no goals of actions.'))];
}

function goals_table(entity) {
	const used = entity.chain.segments.map((segment, i) => [segment, i]).filter(pair => pair[0].sum);
	return table([{ key: 'rank', title: 'no.', number: true, value: goal => goal.rank, cell: goal => el('td', { class: 'n' }, el('a', { href: address(entity, goal.rank) }, goal.rank)) },
		{ key: 'begin', title: 'sent at', value: goal => goal.begin, cell: goal => at_text(goal.begin) }, ns_column('total', 'time', goal => goal.total),
		{ key: 'status', title: 'status', value: goal => goal.status, cell: goal => el('td', { class: goal.status === 'aborted' ? 'bad' : '' }, goal.status) },
		...used.map(([segment, i]) => ns_column('part' + i, segment_words[segment.what][1], goal => goal.parts[i])),
		count_column('sent', 'feedback', goal => goal.sent), { key: 'uuid', title: 'goal', value: goal => goal.uuid, cell: goal => name_of(goal.uuid, 40) }],
		entity.goals, { most: 100, sort: 'total', go: goal => address(entity, goal.rank), label: 'goals' });
}

function action_page(entity) {
	const goals = entity.goals || [], parts = [['accepted after', entity.wait], ['executed', entity.duration], ['until the result', entity.latency]];
	return [panel(el('h2', {}, name_of(entity.name, 300)), goals.length ? chain_command(entity, 'why', goals.length) : null,
			numbers([['goals', count_text(action_goals(entity)), action_goals(entity)], ['succeeded', count_text(succeeded(entity)), succeeded(entity)],
				...['aborted', 'canceled', 'rejected'].map(key => [key, count_text(entity[key] || 0), entity[key] || 0]), ['no end in the trace', count_text(entity.unfinished || 0), entity.unfinished || 0],
				...parts.filter(part => part[1]).map(([title, d]) => [title + ', usually', ns_text(d.p50), d.p50]),
				entity.error ? ['clocks may be wrong by', ns_text(entity.error)] : null])),
		entity.latency ? el('div', { class: 'cols' }, panel('', null, dist_chart('From sending a goal to its result', entity.latency, query_button(bins_sql('duration_ns', of_action(entity) + ' AND duration_ns IS NOT NULL'))), goals.length ? worst_over_time(entity) : null),
			goals.length ? panel('', null, segments_chart(entity)) : null) : panel('', null, empty('The client has the result of no goal.')),
		entity.duration ? panel('', null, dist_chart('How long goals executed', entity.duration, query_button(bins_sql('execution_ns', of_action(entity) + ' AND execution_ns IS NOT NULL')))) : null,
		goals.length ? panel('The longest goals', query_button('SELECT * FROM ' + of_action(entity) + ' ORDER BY duration_ns DESC LIMIT 100'), goals_table(entity)) : null, ...summary_panels(entity)];
}

// ---- one goal ----

function goal_parts(entity, goal) {
	const parts = [];
	let since = 0;
	entity.chain.segments.forEach((segment, i) => {
		if (goal.parts[i])
			parts.push({ what: segment.what, kind: segment.what, begin: since, ns: goal.parts[i], p50: segment.p50 });
		since += goal.parts[i];
	});
	if (goal.handled >= 0)
		parts.push({ what: 'handled', kind: 'handled', begin: since, ns: goal.handled, p50: 0 });
	return parts;
}

function goal_instance(entity, rank) {
	const goals = entity.goals || [], goal = goals[rank - 1];
	if (!goal)
		return [panel('Not in the page', null, empty('The page has the ' + goals.length + ' longest goals of this action.'))];
	const parts = goal_parts(entity, goal), whole = { begin: 0, ns: goal.total + Math.max(0, goal.handled) };
	return [el('p', { class: 'crumbs' }, entity_link(entity, 200), ' · No. ' + rank + ' of the ' + goals.length + ' longest goals ',
			rank > 1 && el('a', { href: address(entity, rank - 1), rel: 'prev' }, '← the one before'), rank > 1 ? ' · ' : ' ',
			rank < goals.length && el('a', { href: address(entity, rank + 1), rel: 'next' }, 'next →')),
		panel(el('h2', {}, ns_text(goal.total), el('span', { class: 'dim' }, ' at ' + at_text(goal.begin))),
			[query_button('SELECT * FROM action_goals WHERE id = ' + goal.id), query_button('SELECT * FROM action_feedback WHERE action_goal_id = ' + goal.id),
				copy_button('open in Perfetto here', command('open', '--at ' + at_text(goal.begin).replace(' ', '')), 'copies the command that opens Perfetto at this goal')],
			numbers([['status', goal.status], ['client', goal.client || 'not in the trace'], ['server', goal.server || 'not in the trace'],
				['feedback sent', count_text(goal.sent), goal.sent], ['feedback received', count_text(goal.received), goal.received], ['goal', goal.uuid]]),
			table([{ key: 'name', title: 'part', value: part => segment_words[part.what][1], cell: part => el('td', { class: 'namecell' }, el('i', { class: 'swatch bg-' + swatch_of(part.what) }), segment_words[part.what][1]) },
				ns_column('ns', 'time', part => part.ns), ns_column('p50', 'usually', part => part.p50),
				{ key: 'when', title: 'when', value: part => part.begin, cell: part => part_bar(whole, part) }], parts, { label: 'parts of this goal' }),
			goal.startup ? el('p', { class: 'dim small' }, 'It is of the start of its program.') : null)];
}
