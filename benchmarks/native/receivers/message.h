/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The message that a monitor makes of a report: key and value of a Kafka
 * record, one behind the other. The twin of benchmarks/src/afxdp/message.ts,
 * which describes the layout.
 */
#ifndef INT_MESSAGE_H
#define INT_MESSAGE_H

#include "../twins/decode_report2.h"

enum {
	MESSAGE_KEY_BYTES = 13,
	MESSAGE_HEAD_BYTES = 12,
	/* 256 hops with all 22 words. */
	MESSAGE_MOST_BYTES = MESSAGE_KEY_BYTES + MESSAGE_HEAD_BYTES + 4 * 256 * 22,
};

/* Columns of one set of items. */
struct message_plan {
	uint32_t items;
	uint32_t words;
	size_t column[22];	/* first cell in the hop words of one batch */
};

/*
 * Builds the message of a report row. Both addresses are IPv4: so the decoder
 * has it. Returns the bytes written to out.
 */
size_t message_build(struct message_plan *plan, const struct int_batch *batch,
		     uint32_t row, uint8_t *out);

#endif
