// SPDX-License-Identifier: Apache-2.0
/*
 * message_dump FILE: decodes all frames of a file (see twins/frames_file.h) and
 * writes the message of each report to standard output, each behind its length
 * as four bytes, big-endian.
 */
#include "message.h"

#include "../twins/frames_file.h"

#include <stdio.h>
#include <stdlib.h>

int main(int argc, char **argv)
{
	static uint8_t out[MESSAGE_MOST_BYTES];
	struct message_plan plan = { 0 };
	struct frames_file file;
	struct int_plans *plans;
	struct int_batch batch;
	uint32_t next = 0, row;
	void *memory;

	if (argc != 2) {
		fprintf(stderr, "usage: message_dump FILE\n");
		return 2;
	}
	frames_file_read(&file, argv[1]);
	memory = aligned_alloc(64, int_batch_size(file.frames, file.reports, file.hops));
	plans = calloc(1, sizeof(*plans));
	if (!memory || !plans)
		return 1;
	int_batch_init(&batch, memory, file.frames, file.reports, file.hops);
	int_batch_reset(&batch);
	while (next < file.count) {
		uint32_t from = next;

		int_batch_clear(&batch);
		next = int_decode_report2(&file.settings, plans, &batch, file.bytes,
					  file.size, file.offsets, file.lengths,
					  from, file.count);
		if (next == from) {
			fprintf(stderr, "frame %u was not accepted\n", from);
			return 1;
		}
		for (row = 0; row < (uint32_t)batch.state[INT_STATE_REPORTS]; row++) {
			size_t length = message_build(&plan, &batch, row, out);
			uint8_t head[4] = { length >> 24, length >> 16, length >> 8, length };

			fwrite(head, 1, sizeof(head), stdout);
			fwrite(out, 1, length, stdout);
		}
	}
	return 0;
}
