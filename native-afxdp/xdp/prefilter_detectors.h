/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The detectors, their arithmetic and their state are those of @int/detect (its
 * register mode): metrics are unsigned, sums saturate at 2^32 - 1, a value is
 * above a threshold if it is greater; hops are looked at in path order, and each
 * sees what those before it wrote; an item of all ones is no value.
 */
#ifndef INT_PREFILTER_DETECTORS_H
#define INT_PREFILTER_DETECTORS_H

#include "prefilter_hops.h"
#include "prefilter_state.h"

INLINE uint32_t absolute_difference(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

INLINE void add_event(const struct view *view, uint32_t hop, uint32_t node, uint32_t value,
		      uint32_t previous)
{
	struct prefilter_verdict *verdict = &view->cpu->verdict;

	/* Read from memory: the verifier shall not follow each number of events by itself. */
	forget();
	if (!verdict->events) {
		verdict->hop = hop;
		verdict->node = node;
		verdict->value = value;
		verdict->previous = previous;
	}
	verdict->events++;
}

INLINE int per_hop_at(const struct view *view, const struct hops *hops, uint32_t hop,
		      uint32_t node, uint32_t value)
{
	switch_key key = key_of_switch(hops->slot, node);
	uint32_t *cell = bpf_map_lookup_elem(&switch_state, &key);
	uint32_t previous = 0;

#ifdef STATE_HASH
	if (likely(cell != 0))
		previous = *cell;
#else
	if (unlikely(!cell))
		return NO_STATE;
	previous = *cell;
#endif
	if (unlikely(absolute_difference(value, previous) > hops->threshold)) {
		add_event(view, hop, node, value, previous);
		if (cell)
			*cell = value;
#ifdef STATE_HASH
		else
			insert(view, &switch_state, &key, &value);
#endif
	}
	return LOOKED;
}

INLINE int per_hop(const struct view *view)
{
	struct hops hops = hops_of(view);
	uint32_t hop, node, value;
	int result;

	for_each_hop(hop, &hops) {
		result = read_block(&hops, &node, &value);
		if (unlikely(result == BEYOND))
			break;
		if (unlikely(result == LACKS || node == NONE))
			continue;
		if (unlikely(per_hop_at(view, &hops, hop, node, value) == NO_STATE))
			return NO_STATE;
	}
	if (read_own(view, &hops, &node, &value) == CARRIES && node != NONE)
		return per_hop_at(view, &hops, view->cpu->report.hops, node, value);
	return LOOKED;
}

INLINE int threshold_hop(const struct view *view)
{
	struct hops hops = hops_of(view);
	uint32_t hop, node, value;
	int result;

	for_each_hop(hop, &hops) {
		result = read_block(&hops, &node, &value);
		if (unlikely(result == BEYOND))
			break;
		if (unlikely(value > hops.threshold && result == CARRIES))
			add_event(view, hop, node, value, 0);
	}
	if (read_own(view, &hops, &node, &value) == CARRIES && value > hops.threshold)
		add_event(view, view->cpu->report.hops, node, value, 0);
	return LOOKED;
}

/* Detectors of the sum over all hops that carry the metric. */
INLINE int of_sum(const struct view *view, uint32_t kind)
{
	struct hops hops = hops_of(view);
	const uint32_t threshold = view->rule->threshold;
	uint32_t hop, node, value, carried = 0, sum;
	uint64_t total = 0;
	flow_key key;
	int result;

	for_each_hop(hop, &hops) {
		result = read_block(&hops, &node, &value);
		if (unlikely(result == BEYOND))
			break;
		if (unlikely(result == LACKS))
			continue;
		total += value;
		carried = 1;
	}
	if (read_own(view, &hops, &node, &value) == CARRIES) {
		total += value;
		carried = 1;
	}
	if (!carried)
		return LOOKED;
	sum = total > NONE ? NONE : total;
	if (kind == PREFILTER_THRESHOLD) {
		if (sum > threshold)
			add_event(view, NO_HOP, NONE, sum, 0);
		return LOOKED;
	}
	key = key_of_flow(view);
	if (kind == PREFILTER_PER_FLOW) {
		uint32_t *cell = bpf_map_lookup_elem(&flow_state, &key);
		uint32_t previous;

#ifndef STATE_HASH
		if (!cell)
			return NO_STATE;
#endif
		previous = cell ? *cell : 0;
		if (absolute_difference(sum, previous) > threshold) {
			add_event(view, NO_HOP, NONE, sum, previous);
			if (cell)
				*cell = sum;
#ifdef STATE_HASH
			else
				insert(view, &flow_state, &key, &sum);
#endif
		}
	} else {
		struct prefilter_average *cell = bpf_map_lookup_elem(&average_state, &key);
		const uint32_t weight = view->rule->weight & 15;
		struct prefilter_average state = { 0, 0, 0 };
		uint64_t scaled;
		uint32_t average;

#ifndef STATE_HASH
		if (!cell)
			return NO_STATE;
#endif
		if (cell) {
			state.accumulator = cell->accumulator;
			state.reported = cell->reported;
		}
		state.accumulator += sum - (state.accumulator >> weight);
		scaled = state.accumulator >> weight;
		/* Above 32 bits only after the weight was lowered. */
		average = scaled > NONE ? NONE : scaled;
		if (absolute_difference(average, state.reported) > threshold) {
			add_event(view, NO_HOP, NONE, average, state.reported);
			state.reported = average;
			if (cell)
				cell->reported = average;
		}
		if (cell)
			cell->accumulator = state.accumulator;
#ifdef STATE_HASH
		else
			insert(view, &average_state, &key, &state);
#endif
	}
	return LOOKED;
}

#endif
