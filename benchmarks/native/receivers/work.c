// SPDX-License-Identifier: Apache-2.0
#define _GNU_SOURCE
#include "work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum {
	REPORT_PORT = 32766,
	INT_PORT = 5000,
	MOST_HOPS = WORK_BATCH * 16,
};

void work_init(struct work *work, const char *kind, int is_ethernet)
{
	static const char *const kinds[] = { "count", "decode", "message" };
	void *memory;

	memset(work, 0, sizeof(*work));
	while (strcmp(kind, kinds[work->kind])) {
		if (work->kind == WORK_MESSAGE) {
			fprintf(stderr, "not count, decode or message: %s\n", kind);
			exit(2);
		}
		work->kind++;
	}
	work->settings = (struct int_settings){
		.ethernet = is_ethernet,
		.report_port = is_ethernet ? REPORT_PORT : INT_NO_PORT,
		.int_port = { INT_PORT, INT_NO_PORT },
		.tos_value = 1,
	};
	memory = aligned_alloc(64, int_batch_size(WORK_BATCH, WORK_BATCH, MOST_HOPS));
	work->plans = calloc(1, sizeof(*work->plans));
	work->message = malloc(MESSAGE_MOST_BYTES);
	if (!memory || !work->plans || !work->message) {
		fprintf(stderr, "no memory\n");
		exit(1);
	}
	int_batch_init(&work->batch, memory, WORK_BATCH, WORK_BATCH, MOST_HOPS);
	int_batch_reset(&work->batch);
}

static uint64_t now(void)
{
	struct timespec at;

	clock_gettime(CLOCK_MONOTONIC, &at);
	return at.tv_sec * 1000000000ull + at.tv_nsec;
}

void work_frames(struct work *work, const uint8_t *bytes, size_t size,
		 const uint32_t *offsets, const uint32_t *lengths,
		 uint32_t count)
{
	struct int_batch *batch = &work->batch;
	uint32_t next = 0, row, k;

	work->last = now();
	if (!work->first)
		work->first = work->last;
	work->frames += count;
	for (k = 0; k < count; k++)
		work->bytes += lengths[k];
	if (work->kind == WORK_COUNT)
		return;
	while (next < count) {
		int_batch_clear(batch);
		next = int_decode_report2(&work->settings, work->plans, batch, bytes,
					  size, offsets, lengths, next, count);
		work->reports += batch->state[INT_STATE_REPORTS];
		if (work->kind == WORK_MESSAGE) {
			for (row = 0; row < (uint32_t)batch->state[INT_STATE_REPORTS]; row++)
				work->message_bytes += message_build(&work->plan, batch, row,
								     work->message);
			work->messages += row;
		}
		/* A frame of another shape; or the batch is full, which ends before it. */
		if (next < count && !batch->state[INT_STATE_REPORTS]) {
			work->others++;
			next++;
		}
	}
}

void work_ready(const char *details)
{
	printf("{\"ready\":true%s}\n", details);
	fflush(stdout);
}

static unsigned long long nanoseconds(struct timeval at)
{
	return at.tv_sec * 1000000000ull + at.tv_usec * 1000ull;
}

void work_answer(struct work *work, const char *details)
{
	struct rusage usage;
	char asked[64];

	if (read(STDIN_FILENO, asked, sizeof(asked)) <= 0)
		exit(0);
	getrusage(RUSAGE_THREAD, &usage);
	printf("{\"frames\":%llu,\"bytes\":%llu,\"reports\":%llu,\"others\":%llu,"
	       "\"messages\":%llu,\"messageBytes\":%llu,\"spanNs\":%llu,"
	       "\"userNs\":%llu,\"systemNs\":%llu%s}\n",
	       (unsigned long long)work->frames, (unsigned long long)work->bytes,
	       (unsigned long long)work->reports, (unsigned long long)work->others,
	       (unsigned long long)work->messages,
	       (unsigned long long)work->message_bytes,
	       (unsigned long long)(work->last - work->first),
	       nanoseconds(usage.ru_utime), nanoseconds(usage.ru_stime), details);
	fflush(stdout);
	work->first = 0;
	work->last = 0;
}
