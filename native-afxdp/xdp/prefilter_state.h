/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the state of a switch or a flow is: a cell of an array, as a switch's
 * registers are, or with STATE_HASH an entry by id and 5-tuple.
 */
#ifndef INT_PREFILTER_STATE_H
#define INT_PREFILTER_STATE_H

#include "crc.h"
#include "prefilter_context.h"

INLINE uint32_t switch_cell(uint32_t node)
{
	const uint32_t mask = config.switch_mask;

	return mask ? node & mask : node % config.switch_cells;
}

#ifdef STATE_HASH
typedef struct prefilter_switch_key switch_key;
typedef struct prefilter_flow_key flow_key;

INLINE switch_key key_of_switch(uint32_t slot, uint32_t node)
{
	return (switch_key){ .node = node, .slot = slot };
}

INLINE flow_key key_of_flow(const struct view *view)
{
	const struct cpu *cpu = view->cpu;
	const uint32_t ports = cpu->report.ports;
	flow_key key = { .slot = view->rule->slot };

	__builtin_memcpy(key.source, cpu->source, sizeof(key.source));
	__builtin_memcpy(key.destination, cpu->destination, sizeof(key.destination));
	key.source_port = ports >> 16;
	key.destination_port = ports;
	key.protocol = cpu->report.protocol;
	key.family = cpu->report.family;
	return key;
}

INLINE void insert(const struct view *view, void *map, const void *key, const void *value)
{
	if (bpf_map_update_elem(map, key, value, 0))
		view->cpu->totals.state_full++;
}
#else
typedef uint32_t switch_key;
typedef uint32_t flow_key;

INLINE switch_key key_of_switch(uint32_t slot, uint32_t node)
{
	return slot * config.switch_cells + switch_cell(node);
}

/* CRC-32 of source and destination address, protocol and both ports, big-endian. */
INLINE flow_key key_of_flow(const struct view *view)
{
	const struct cpu *cpu = view->cpu;
	const uint32_t *source = cpu->source, *destination = cpu->destination;
	const uint32_t mask = config.flow_mask, cells = config.flow_cells;
	uint32_t crc = NONE, a = source[0], b = destination[0];

	if (unlikely(cpu->report.family != 4)) {
		crc = crc_12(crc, source[0], source[1], source[2]);
		crc = crc_12(crc, source[3], destination[0], destination[1]);
		a = destination[2];
		b = destination[3];
	}
	crc = ~crc_13(crc, a, b, cpu->report.protocol, cpu->report.ports);
	return view->rule->slot * cells + (mask ? crc & mask : crc % cells);
}
#endif

#endif
