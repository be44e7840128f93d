/* SPDX-License-Identifier: Apache-2.0 */
/* What a receiver does with frames, and how it tells of it. */
#ifndef INT_WORK_H
#define INT_WORK_H

#include "message.h"

enum {
	/* Frames at a time, at most. */
	WORK_BATCH = 256,
};

enum work_kind {
	WORK_COUNT,	/* counts them */
	WORK_DECODE,	/* and decodes them into columns */
	WORK_MESSAGE,	/* and builds a message of each report, and drops it */
};

struct work {
	enum work_kind kind;
	struct int_settings settings;
	struct int_plans *plans;
	struct int_batch batch;
	struct message_plan plan;
	uint64_t frames, bytes, reports, others, messages, message_bytes;
	/* When the first and the last frames since the last answer came, ns. */
	uint64_t first, last;
	uint8_t *message;
};

/* `kind` is count, decode or message. Exits with a message if it is not. */
void work_init(struct work *work, const char *kind, int is_ethernet);

/* Frame i is bytes[offsets[i] .. offsets[i] + lengths[i]); count <= WORK_BATCH. */
void work_frames(struct work *work, const uint8_t *bytes, size_t size,
		 const uint32_t *offsets, const uint32_t *lengths,
		 uint32_t count);

/* Says on standard output that frames can come. */
void work_ready(const char *details);

/*
 * Reads standard input: a line asks for what has been done, which is written as
 * a line of JSON with `details` (members with a leading comma) in it; the end
 * ends the program.
 */
void work_answer(struct work *work, const char *details);

#endif
