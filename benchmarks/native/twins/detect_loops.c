// SPDX-License-Identifier: Apache-2.0
/*
 * Event detection over columns. See detect_loops.h.
 */
#include "detect_loops.h"
#include "detect_crc.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Columns of a report, in words, and of a hop. */
enum {
	COL_FLAGS = 1,
	COL_NODE_ID = 2,
	COL_HOP_START = 5,
	COL_PORTS = 6,
	COL_SOURCE0 = 7,
	COL_DESTINATION0 = 11,
	HOP_NODE_ID = 0,
};

#define FLAG_FLOW (1u << 18)
#define FLAG_IPV6 (1u << 19)

#define SCOPE_HOP (0u << 16)
#define SCOPE_FLOW (1u << 16)
#define NO_METRIC (0xffu << 8)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static inline const uint32_t *report_column(const struct int_batch *batch, uint32_t column)
{
	return batch->report_words + (size_t)column * batch->report_stride;
}

static inline const uint32_t *hop_column(const struct int_batch *batch, uint32_t column)
{
	return batch->hop_words + (size_t)column * batch->hop_stride;
}

/* The columns that name a report's flow. */
struct flow_columns {
	const uint32_t *flags;
	const uint32_t *source;
	const uint32_t *destination;
	const uint32_t *ports;
	const uint8_t *protocol;
	size_t stride;
};

static inline struct flow_columns flow_columns(const struct int_batch *batch)
{
	return (struct flow_columns){
		.flags = report_column(batch, COL_FLAGS),
		.source = report_column(batch, COL_SOURCE0),
		.destination = report_column(batch, COL_DESTINATION0),
		.ports = report_column(batch, COL_PORTS),
		.protocol = batch->protocol,
		.stride = batch->report_stride,
	};
}

static inline uint32_t flow_cell(const struct flow_columns *flow, uint32_t row)
{
	const uint32_t *source = flow->source + row;
	const uint32_t *destination = flow->destination + row;
	const size_t stride = flow->stride;
	uint32_t crc = ~0u;

	if (unlikely(flow->flags[row] & FLAG_IPV6)) {
		crc = detect_crc_12(crc, source[0], source[stride], source[2 * stride]);
		crc = detect_crc_12(crc, source[3 * stride], destination[0], destination[stride]);
		source = destination + 2 * stride;
		destination += 3 * stride;
	}
	crc = detect_crc_13(crc, *source, *destination, flow->protocol[row], flow->ports[row]);
	return ~crc % DETECT_FLOW_CELLS;
}

static inline uint32_t absolute_difference(uint32_t a, uint32_t b)
{
	return a > b ? a - b : b - a;
}

/* The saturating sum of a metric over a report's hops; false if no hop carries it. */
static inline int sum_of(const uint32_t *words, uint32_t hops, uint32_t *sum)
{
	uint64_t total = 0;
	uint32_t carried = 0, hop;

	for (hop = 0; hop < hops; hop++) {
		const uint32_t word = words[hop];

		if (unlikely(word == DETECT_NONE))
			continue;
		total += word;
		carried++;
	}
	*sum = total > UINT32_MAX ? UINT32_MAX : (uint32_t)total;
	return carried != 0;
}

static uint32_t run_noop(const struct detect_rule *rule, struct detect_state *state,
			 const struct int_batch *batch, struct detect_events *events,
			 uint32_t from, uint32_t to)
{
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		if (unlikely(batch->code[row]))
			continue;
		if (unlikely(count == events->capacity))
			break;
		events->report[count] = row;
		events->rule[count] = rule->slot;
		events->kind[count] = DETECT_NOOP | NO_METRIC | SCOPE_FLOW;
		count++;
		state->reports++;
		state->survivors++;
	}
	events->count = count;
	return row;
}

static uint32_t run_per_hop(const struct detect_rule *rule, struct detect_state *state,
			    const struct int_batch *batch, struct detect_events *events,
			    uint32_t from, uint32_t to)
{
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *node_id = hop_column(batch, HOP_NODE_ID);
	const uint32_t *column = hop_column(batch, rule->metric[0].column);
	const uint32_t threshold = rule->threshold;
	const uint32_t kind = DETECT_PER_HOP | rule->metric[0].id << 8 | SCOPE_HOP;
	uint32_t *previous = state->switch_previous;
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		const uint32_t *words = column + hop_start[row];
		const uint32_t *nodes = node_id + hop_start[row];
		const uint32_t hops = batch->hop_count[row], before = count;
		uint32_t hop;

		if (unlikely(batch->code[row]))
			continue;
		if (unlikely(events->capacity - count < hops))
			break;
		for (hop = 0; hop < hops; hop++) {
			const uint32_t word = words[hop];
			const uint32_t node = nodes[hop];
			uint32_t *cell, value;

			if (unlikely(word == DETECT_NONE || node == DETECT_NONE))
				continue;
			value = word;
			cell = &previous[node % DETECT_SWITCH_CELLS];
			if (absolute_difference(value, *cell) > threshold) {
				events->report[count] = row;
				events->rule[count] = rule->slot;
				events->kind[count] = kind;
				events->hop[count] = hop;
				events->node_id[count] = node;
				events->value[count] = value;
				events->previous[count] = *cell;
				events->threshold[count] = threshold;
				count++;
				*cell = value;
			}
		}
		state->reports++;
		state->survivors += count != before;
	}
	events->count = count;
	return row;
}

static uint32_t run_per_flow(const struct detect_rule *rule, struct detect_state *state,
			     const struct int_batch *batch, struct detect_events *events,
			     uint32_t from, uint32_t to)
{
	const struct flow_columns flow = flow_columns(batch);
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *column = hop_column(batch, rule->metric[0].column);
	const uint32_t threshold = rule->threshold;
	const uint32_t kind = DETECT_PER_FLOW | rule->metric[0].id << 8 | SCOPE_FLOW;
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		uint32_t *cell, sum;

		if (unlikely(batch->code[row] || !(flow.flags[row] & FLAG_FLOW)))
			continue;
		if (unlikely(count == events->capacity))
			break;
		state->reports++;
		if (unlikely(!sum_of(column + hop_start[row], batch->hop_count[row], &sum)))
			continue;
		cell = &state->flow_previous[flow_cell(&flow, row)];
		if (absolute_difference(sum, *cell) > threshold) {
			events->report[count] = row;
			events->rule[count] = rule->slot;
			events->kind[count] = kind;
			events->value[count] = sum;
			events->previous[count] = *cell;
			events->threshold[count] = threshold;
			count++;
			*cell = sum;
			state->survivors++;
		}
	}
	events->count = count;
	return row;
}

static uint32_t run_moving_average(const struct detect_rule *rule, struct detect_state *state,
				   const struct int_batch *batch, struct detect_events *events,
				   uint32_t from, uint32_t to)
{
	const struct flow_columns flow = flow_columns(batch);
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *column = hop_column(batch, rule->metric[0].column);
	const uint32_t threshold = rule->threshold, weight = rule->weight;
	const uint32_t kind = DETECT_MOVING_AVERAGE | rule->metric[0].id << 8 | SCOPE_FLOW;
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		uint32_t cell, sum, average;
		uint64_t accumulator, scaled;

		if (unlikely(batch->code[row] || !(flow.flags[row] & FLAG_FLOW)))
			continue;
		if (unlikely(count == events->capacity))
			break;
		state->reports++;
		if (unlikely(!sum_of(column + hop_start[row], batch->hop_count[row], &sum)))
			continue;
		cell = flow_cell(&flow, row);
		accumulator = state->accumulator[cell];
		accumulator += sum - (accumulator >> weight);
		state->accumulator[cell] = accumulator;
		scaled = accumulator >> weight;
		average = scaled > UINT32_MAX ? UINT32_MAX : (uint32_t)scaled;
		if (absolute_difference(average, state->flow_previous[cell]) > threshold) {
			events->report[count] = row;
			events->rule[count] = rule->slot;
			events->kind[count] = kind;
			events->value[count] = average;
			events->previous[count] = state->flow_previous[cell];
			events->threshold[count] = threshold;
			count++;
			state->flow_previous[cell] = average;
			state->survivors++;
		}
	}
	events->count = count;
	return row;
}

static uint32_t run_threshold(const struct detect_rule *rule, struct detect_state *state,
			      const struct int_batch *batch, struct detect_events *events,
			      uint32_t from, uint32_t to)
{
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *node_id = hop_column(batch, HOP_NODE_ID);
	const uint32_t *column = hop_column(batch, rule->metric[0].column);
	const uint32_t threshold = rule->threshold;
	const uint32_t kind = DETECT_THRESHOLD | rule->metric[0].id << 8 | SCOPE_HOP;
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		const uint32_t *words = column + hop_start[row];
		const uint32_t *nodes = node_id + hop_start[row];
		const uint32_t hops = batch->hop_count[row], before = count;
		uint32_t hop;

		if (unlikely(batch->code[row]))
			continue;
		if (unlikely(events->capacity - count < hops))
			break;
		for (hop = 0; hop < hops; hop++) {
			const uint32_t word = words[hop];
			const uint32_t value = word;

			if (value <= threshold || word == DETECT_NONE)
				continue;
			events->report[count] = row;
			events->rule[count] = rule->slot;
			events->kind[count] = kind;
			events->hop[count] = hop;
			events->node_id[count] = nodes[hop];
			events->value[count] = value;
			events->threshold[count] = threshold;
			count++;
		}
		state->reports++;
		state->survivors += count != before;
	}
	events->count = count;
	return row;
}

static uint32_t run_change(const struct detect_rule *rule, struct detect_state *state,
			   const struct int_batch *batch, struct detect_events *events,
			   uint32_t from, uint32_t to)
{
	const struct flow_columns flow = flow_columns(batch);
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *node_id = hop_column(batch, HOP_NODE_ID);
	const uint32_t *column = hop_column(batch, rule->metric[0].column);
	const uint32_t threshold = rule->threshold;
	const uint32_t kind = DETECT_CHANGE | rule->metric[0].id << 8 | SCOPE_HOP;
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		const uint32_t *words = column + hop_start[row];
		const uint32_t *nodes = node_id + hop_start[row];
		uint32_t hops = batch->hop_count[row];
		const uint32_t before = count;
		struct detect_change *cell;
		uint32_t seen, hop;

		if (unlikely(batch->code[row] || !(flow.flags[row] & FLAG_FLOW)))
			continue;
		if (unlikely(events->capacity - count < hops))
			break;
		if (unlikely(hops > DETECT_POSITIONS))
			hops = DETECT_POSITIONS;
		cell = &state->change[flow_cell(&flow, row)];
		seen = cell->seen;
		for (hop = 0; hop < hops; hop++) {
			const uint32_t word = words[hop];
			const uint32_t node = nodes[hop];
			const uint32_t previous = cell->position[hop].value;
			uint32_t value;

			if (unlikely(word == DETECT_NONE))
				continue;
			value = word;
			if (absolute_difference(value, previous) > threshold &&
			    (seen >> hop & 1) && cell->position[hop].node == node) {
				events->report[count] = row;
				events->rule[count] = rule->slot;
				events->kind[count] = kind;
				events->hop[count] = hop;
				events->node_id[count] = node;
				events->value[count] = value;
				events->previous[count] = previous;
				events->threshold[count] = threshold;
				count++;
			}
			seen |= 1u << hop;
			cell->position[hop].node = node;
			cell->position[hop].value = value;
		}
		cell->seen = seen;
		state->reports++;
		state->survivors += count != before;
	}
	events->count = count;
	return row;
}

/* Takes a word into a hash of a sequence. */
static inline uint32_t mix(uint32_t hash, uint32_t word, uint32_t multiplier)
{
	const uint32_t mixed = (hash ^ word) * multiplier;

	return mixed << 13 | mixed >> 19;
}

static uint32_t run_path_change(const struct detect_rule *rule, struct detect_state *state,
				const struct int_batch *batch, struct detect_events *events,
				uint32_t from, uint32_t to)
{
	const struct flow_columns flow = flow_columns(batch);
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *own = report_column(batch, COL_NODE_ID);
	const uint32_t *node_id = hop_column(batch, HOP_NODE_ID);
	uint32_t row, count = events->count;

	for (row = from; row < to; row++) {
		const uint32_t *nodes = node_id + hop_start[row];
		const uint32_t hops = batch->hop_count[row];
		uint32_t a = 0x2545f491u, b = 0x9e3779b9u;
		uint32_t hop, length = 1, last = DETECT_NONE;
		struct detect_path *cell;

		if (unlikely(batch->code[row] || !(flow.flags[row] & FLAG_FLOW)))
			continue;
		if (unlikely(count == events->capacity))
			break;
		state->reports++;
		for (hop = 0; hop < hops; hop++) {
			const uint32_t node = nodes[hop];

			if (unlikely(node == DETECT_NONE))
				continue;
			a = mix(a, node, 0x85ebca6bu);
			b = mix(b, node, 0xc2b2ae35u);
			last = node;
			length++;
		}
		if (own[row] != last && own[row] != DETECT_NONE) {
			a = mix(a, own[row], 0x85ebca6bu);
			b = mix(b, own[row], 0xc2b2ae35u);
			length++;
		}
		if (unlikely(length == 1))
			continue;
		cell = &state->path[flow_cell(&flow, row)];
		if (cell->length &&
		    (cell->length != length || cell->hash[0] != a || cell->hash[1] != b)) {
			events->report[count] = row;
			events->rule[count] = rule->slot;
			events->kind[count] = DETECT_PATH_CHANGE | NO_METRIC | SCOPE_FLOW;
			count++;
			state->survivors++;
		}
		cell->length = length;
		cell->hash[0] = a;
		cell->hash[1] = b;
	}
	events->count = count;
	return row;
}

/* Whether some condition of every clause holds; conditions on what is missing do not. */
static inline int holds(const struct detect_rule *rule,
			uint32_t aggregates[][DETECT_AGGREGATES], uint32_t carried)
{
	uint32_t k, clause = 0;

	for (k = 0; k < rule->conditions; k++) {
		const struct detect_condition *condition = &rule->condition[k];
		const uint32_t value = aggregates[condition->metric][condition->aggregate];

		clause |= carried >> condition->metric & (value - condition->low <= condition->span);
		if (condition->last) {
			if (!clause)
				return 0;
			clause = 0;
		}
	}
	return 1;
}

static uint32_t run_complex(const struct detect_rule *rule, struct detect_state *state,
			    const struct int_batch *batch, struct detect_events *events,
			    uint32_t from, uint32_t to)
{
	const struct flow_columns flow = flow_columns(batch);
	const uint32_t *hop_start = report_column(batch, COL_HOP_START);
	const uint32_t *columns[DETECT_METRICS];
	uint32_t row, m, count = events->count;

	for (m = 0; m < rule->metrics; m++)
		columns[m] = hop_column(batch, rule->metric[m].column);
	for (row = from; row < to; row++) {
		const uint32_t hops = batch->hop_count[row];
		uint32_t aggregates[DETECT_METRICS + 1][DETECT_AGGREGATES];
		uint32_t carried = 0;

		if (unlikely(batch->code[row]))
			continue;
		if (unlikely(state->history && !(flow.flags[row] & FLAG_FLOW)))
			continue;
		if (unlikely(count == events->capacity))
			break;
		state->reports++;
		for (m = 0; m < rule->metrics; m++) {
			const uint32_t *words = columns[m] + hop_start[row];
			uint32_t max = 0, min = UINT32_MAX, last = 0, any = 0, hop;
			uint64_t sum = 0;

			for (hop = 0; hop < hops; hop++) {
				const uint32_t word = words[hop];
				const uint32_t value = word;

				if (unlikely(word == DETECT_NONE))
					continue;
				sum += value;
				max = value > max ? value : max;
				min = value < min ? value : min;
				last = value;
				any = 1;
			}
			aggregates[m][DETECT_SUM] = sum > UINT32_MAX ? UINT32_MAX : (uint32_t)sum;
			aggregates[m][DETECT_MAX] = max;
			aggregates[m][DETECT_MIN] = min;
			aggregates[m][DETECT_LAST] = last;
			carried |= any << m;
		}
		if (unlikely(!carried && rule->metrics))
			continue;
		if (state->history) {
			const uint32_t cell = flow_cell(&flow, row);
			struct detect_history *history = &state->history[cell];

			history->count += history->count != UINT32_MAX;
			aggregates[DETECT_METRICS][DETECT_COUNT] = history->count;
			for (m = 0; m < rule->metrics; m++) {
				uint32_t *previous = &state->history_sum[(size_t)m * DETECT_FLOW_CELLS + cell];
				uint32_t sum = aggregates[m][DETECT_SUM];

				aggregates[m][DETECT_DELTA] = 0;
				if (!(carried >> m & 1) || !rule->metric[m].delta)
					continue;
				if (history->metrics >> m & 1)
					aggregates[m][DETECT_DELTA] = absolute_difference(sum, *previous);
				history->metrics |= 1u << m;
				*previous = sum;
			}
		}
		if (holds(rule, aggregates, carried | 1u << DETECT_METRICS)) {
			events->report[count] = row;
			events->rule[count] = rule->slot;
			events->kind[count] = DETECT_COMPLEX | NO_METRIC | SCOPE_FLOW;
			count++;
			state->survivors++;
		}
	}
	events->count = count;
	return row;
}

static uint32_t (*const loops[])(const struct detect_rule *rule, struct detect_state *state,
				 const struct int_batch *batch, struct detect_events *events,
				 uint32_t from, uint32_t to) = {
	[DETECT_NOOP] = run_noop,
	[DETECT_PER_HOP] = run_per_hop,
	[DETECT_PER_FLOW] = run_per_flow,
	[DETECT_MOVING_AVERAGE] = run_moving_average,
	[DETECT_THRESHOLD] = run_threshold,
	[DETECT_CHANGE] = run_change,
	[DETECT_PATH_CHANGE] = run_path_change,
	[DETECT_COMPLEX] = run_complex,
};

uint32_t detect_run(const struct detect_rule *rule, struct detect_state *state,
		    const struct int_batch *batch, struct detect_events *events,
		    uint32_t from, uint32_t to)
{
	return loops[rule->kind](rule, state, batch, events, from, to);
}

static void *zeroed(size_t count, size_t size)
{
	size_t bytes = (count * size + 63) / 64 * 64;
	void *memory = aligned_alloc(64, bytes);

	if (!memory) {
		fprintf(stderr, "no memory for registers\n");
		exit(1);
	}
	return memset(memory, 0, bytes);
}

void detect_state_init(struct detect_state *state, const struct detect_rule *rule)
{
	uint32_t k;

	memset(state, 0, sizeof(*state));
	switch (rule->kind) {
	case DETECT_NOOP:
	case DETECT_THRESHOLD:
		break;
	case DETECT_PER_HOP:
		state->switch_previous = zeroed(DETECT_SWITCH_CELLS, 4);
		break;
	case DETECT_MOVING_AVERAGE:
		state->accumulator = zeroed(DETECT_FLOW_CELLS, 8);
		state->flow_previous = zeroed(DETECT_FLOW_CELLS, 4);
		break;
	case DETECT_PER_FLOW:
		state->flow_previous = zeroed(DETECT_FLOW_CELLS, 4);
		break;
	case DETECT_CHANGE:
		state->change = zeroed(DETECT_FLOW_CELLS, sizeof(*state->change));
		break;
	case DETECT_PATH_CHANGE:
		state->path = zeroed(DETECT_FLOW_CELLS, sizeof(*state->path));
		break;
	case DETECT_COMPLEX:
		for (k = 0; k < rule->conditions; k++) {
			if (rule->condition[k].aggregate < DETECT_DELTA || state->history)
				continue;
			state->history = zeroed(DETECT_FLOW_CELLS, sizeof(*state->history));
			state->history_sum = zeroed((size_t)DETECT_FLOW_CELLS * DETECT_METRICS, 4);
		}
		break;
	}
}

void detect_state_free(struct detect_state *state)
{
	free(state->switch_previous);
	free(state->flow_previous);
	free(state->accumulator);
	free(state->change);
	free(state->path);
	free(state->history);
	free(state->history_sum);
	memset(state, 0, sizeof(*state));
}
