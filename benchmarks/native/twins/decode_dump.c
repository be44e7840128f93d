// SPDX-License-Identifier: Apache-2.0
/*
 * decode_dump FILE [whole]: decodes the frames of a file over the batch memory given
 * in it, stepping over each frame that is not accepted, and writes the batch
 * memory and then the indexes of those frames (little-endian words) to
 * standard output.
 *
 * Every frame is copied to a block of its own exact size first, so that a
 * sanitizer build sees any read outside it. With "whole", the frames are
 * decoded where they lie, as many in one call as are accepted.
 */
#include "frames_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Offsets in a frame's copy are to be offsets in the file's bytes. */
static void move_ethernet(const struct int_batch *batch, uint32_t offset)
{
	uint32_t *cell = batch->report_words + batch->state[INT_STATE_REPORTS] - 1 +
			 (size_t)INT_COLUMN_ETHERNET * batch->report_stride;

	if (*cell != 0xffffffff)
		*cell += offset;
}

int main(int argc, char **argv)
{
	struct frames_file file;
	struct int_batch batch;
	struct int_plans *plans;
	uint32_t *skipped;
	uint32_t count = 0;
	uint32_t index;
	size_t size;
	void *memory;

	if (argc != 2 && argc != 3) {
		fprintf(stderr, "usage: decode_dump FILE [whole]\n");
		return 2;
	}
	frames_file_read(&file, argv[1]);
	size = int_batch_size(file.frames, file.reports, file.hops);
	if (size != file.arena_size) {
		fprintf(stderr, "batch memory: %u bytes given, %zu needed\n",
			file.arena_size, size);
		return 1;
	}
	memory = aligned_alloc(64, size);
	plans = calloc(1, sizeof(*plans));
	skipped = malloc(4 * ((size_t)file.count + 1));
	if (!memory || !plans || !skipped)
		return 1;
	memcpy(memory, file.arena, size);
	int_batch_init(&batch, memory, file.frames, file.reports, file.hops);
	for (index = 0; index < file.count; index++) {
		const uint32_t zero = 0;
		uint32_t length = file.lengths[index];
		uint32_t end;

		if (argc == 3) {
			index = int_decode_report2(&file.settings, plans, &batch,
						   file.bytes, file.size,
						   file.offsets, file.lengths,
						   index, file.count);
			if (index < file.count)
				skipped[count++] = index;
			continue;
		}

		if ((uint64_t)file.offsets[index] + length > file.size) {
			end = int_decode_report2(&file.settings, plans, &batch,
						 file.bytes, file.size,
						 &file.offsets[index], &length, 0, 1);
		} else {
			uint8_t *copy = malloc(length ? length : 1);

			if (!copy)
				return 1;
			memcpy(copy, file.bytes + file.offsets[index], length);
			end = int_decode_report2(&file.settings, plans, &batch,
						 copy, length, &zero, &length, 0, 1);
			free(copy);
		}
		if (!end)
			skipped[count++] = index;
		else
			move_ethernet(&batch, file.offsets[index]);
	}
	if (fwrite(memory, 1, size, stdout) != size ||
	    fwrite(skipped, 4, count, stdout) != count)
		return 1;
	free(skipped);
	free(plans);
	free(memory);
	free((void *)(file.offsets - 16));
	return 0;
}
