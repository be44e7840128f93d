/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file of frames for decode_bench and decode_dump: little-endian words
 *
 *   magic "INTF", ethernet, report port, INT port 0, INT port 1, TOS mask,
 *   TOS value, capacity in frames, reports, hops, frame count, byte count,
 *   arena bytes (0: none), 0, 0, 0
 *
 * then offsets[count], lengths[count], the bytes padded to a multiple of 4,
 * and an initial image of the batch memory.
 */
#ifndef INT_FRAMES_FILE_H
#define INT_FRAMES_FILE_H

#include "decode_report2.h"

struct frames_file {
	struct int_settings settings;
	uint32_t frames, reports, hops;
	uint32_t count;
	uint32_t size;
	uint32_t arena_size;
	const uint32_t *offsets;
	const uint32_t *lengths;
	const uint8_t *bytes;
	const uint8_t *arena;
};

/* Reads a whole file; exits with a message if it cannot. */
void frames_file_read(struct frames_file *file, const char *path);

#endif
