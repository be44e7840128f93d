// SPDX-License-Identifier: Apache-2.0
#include "message.h"

#include <string.h>

enum {
	COLUMN_NODE_ID = 2,
	COLUMN_FLAGS = 1,
	COLUMN_SEQUENCE = 3,
	COLUMN_INSTRUCTIONS = 4,
	COLUMN_HOP_START = 5,
	COLUMN_PORTS = 6,
	COLUMN_SOURCE = 7,
	COLUMN_DESTINATION = 11,
	FLAG_OWN = 1 << 20,
	VERSION = 1,
};

/* First column of each instruction bit, and how many columns it has. */
static const uint8_t first_column[16] = {
	0, 1, 3, 4, 6, 8, 10, 12, 13, 19, 20, 21, 22, 23, 24, 15,
};
static const uint8_t columns[16] = {
	1, 2, 1, 2, 2, 2, 2, 1, 2, 1, 1, 1, 1, 1, 1, 1,
};

static void make_plan(struct message_plan *plan, uint32_t items, size_t stride)
{
	unsigned int bit, k;

	plan->items = items;
	plan->words = 0;
	for (bit = 0; bit < 16; bit++) {
		if (!(items & 0x8000u >> bit))
			continue;
		for (k = 0; k < columns[bit]; k++)
			plan->column[plan->words++] = (first_column[bit] + k) * stride;
	}
}

static inline uint8_t *put32(uint8_t *at, uint32_t value)
{
	value = __builtin_bswap32(value);
	memcpy(at, &value, sizeof(value));
	return at + sizeof(value);
}

size_t message_build(struct message_plan *plan, const struct int_batch *batch,
		     uint32_t row, uint8_t *out)
{
	const uint32_t *report = batch->report_words + row;
	const size_t stride = batch->report_stride;
	const uint32_t *cell = batch->hop_words + report[COLUMN_HOP_START * stride];
	const uint32_t hops = batch->hop_count[row];
	const uint32_t instructions = report[COLUMN_INSTRUCTIONS * stride];
	uint32_t items = instructions >> 16;
	uint8_t *at = out;
	uint32_t hop, k;

	/* The reporting node's own row has its id and its own items. */
	if (report[COLUMN_FLAGS * stride] & FLAG_OWN)
		items |= (instructions & 0xffff) | 0x8000;
	if (items != plan->items)
		make_plan(plan, items, batch->hop_stride);

	at = put32(at, report[COLUMN_SOURCE * stride]);
	at = put32(at, report[COLUMN_DESTINATION * stride]);
	*at++ = batch->protocol[row];
	at = put32(at, report[COLUMN_PORTS * stride]);

	*at++ = VERSION;
	*at++ = hops;
	*at++ = items >> 8;
	*at++ = items;
	at = put32(at, report[COLUMN_NODE_ID * stride]);
	at = put32(at, report[COLUMN_SEQUENCE * stride]);
	for (hop = 0; hop < hops; hop++)
		for (k = 0; k < plan->words; k++)
			at = put32(at, cell[plan->column[k] + hop]);
	return at - out;
}
