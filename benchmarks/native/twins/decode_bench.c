// SPDX-License-Identifier: Apache-2.0
/*
 * decode_bench FILE BATCH: decodes all frames of a file in batches of BATCH
 * frames. First prints one line of JSON with the number of reports and a
 * checksum over all columns of one untimed pass. Then, for each line read from
 * standard input, times one pass and prints nanoseconds per report (elapsed or
 * processor time, whichever is less), so that a caller can interleave it with
 * others.
 */
#include "frames_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static double now(clockid_t clock)
{
	struct timespec at;

	clock_gettime(clock, &at);
	return at.tv_sec * 1e9 + at.tv_nsec;
}

static uint32_t mix_words(uint32_t sum, const uint32_t *words, uint32_t count)
{
	uint32_t k;

	for (k = 0; k < count; k++)
		sum = (sum + words[k]) * 0x9e3779b1u + 1;
	return sum;
}

static uint32_t mix_bytes(uint32_t sum, const uint8_t *bytes, uint32_t count)
{
	uint32_t k;

	for (k = 0; k < count; k++)
		sum = (sum + bytes[k]) * 0x9e3779b1u + 1;
	return sum;
}

/* Columns that the fast path defines, in the order of the batch. */
static const uint8_t defined[] = { 0, 1, 2, 3, 4, 5, 6, 7, 11, 16, 17 };

static uint32_t mix_batch(uint32_t sum, const struct int_batch *batch)
{
	uint32_t reports = batch->state[INT_STATE_REPORTS];
	uint32_t hops = batch->state[INT_STATE_HOPS];
	unsigned int k;

	sum = mix_bytes(sum, batch->frame_code, batch->state[INT_STATE_FRAMES]);
	sum = mix_bytes(sum, batch->code, reports);
	sum = mix_bytes(sum, batch->hop_count, reports);
	sum = mix_bytes(sum, batch->protocol, reports);
	for (k = 0; k < sizeof(defined); k++)
		sum = mix_words(sum, batch->report_words +
				(size_t)defined[k] * batch->report_stride, reports);
	for (k = 0; k < INT_HOP_COLUMNS; k++)
		sum = mix_words(sum, batch->hop_words +
				(size_t)k * batch->hop_stride, hops);
	return sum;
}

static uint64_t run(const struct frames_file *file, struct int_plans *plans,
		    struct int_batch *batch, uint32_t step, uint32_t *sum)
{
	uint64_t reports = 0;
	uint32_t from = 0;

	while (from < file->count) {
		uint32_t to = file->count - from > step ? from + step : file->count;

		int_batch_clear(batch);
		if (int_decode_report2(&file->settings, plans, batch, file->bytes,
				       file->size, file->offsets, file->lengths,
				       from, to) != to) {
			fprintf(stderr, "a frame after %u was not accepted\n", from);
			exit(1);
		}
		reports += batch->state[INT_STATE_REPORTS];
		if (sum)
			*sum = mix_batch(*sum, batch);
		from = to;
	}
	return reports;
}

int main(int argc, char **argv)
{
	struct frames_file file;
	struct int_batch batch;
	struct int_plans *plans;
	uint32_t step, sum = 0;
	uint64_t reports;
	void *memory;
	int c;

	if (argc != 3) {
		fprintf(stderr, "usage: decode_bench FILE BATCH\n");
		return 2;
	}
	frames_file_read(&file, argv[1]);
	step = strtoul(argv[2], NULL, 10);
	memory = aligned_alloc(64, int_batch_size(file.frames, file.reports, file.hops));
	plans = calloc(1, sizeof(*plans));
	if (!memory || !plans || !step)
		return 1;
	int_batch_init(&batch, memory, file.frames, file.reports, file.hops);
	int_batch_reset(&batch);
	reports = run(&file, plans, &batch, step, &sum);
	printf("{\"reports\":%llu,\"checksum\":%u}\n", (unsigned long long)reports, sum);
	fflush(stdout);
	while ((c = getchar()) != EOF) {
		double elapsed, used;

		if (c != '\n')
			continue;
		elapsed = now(CLOCK_MONOTONIC);
		used = now(CLOCK_PROCESS_CPUTIME_ID);
		reports = run(&file, plans, &batch, step, NULL);
		elapsed = now(CLOCK_MONOTONIC) - elapsed;
		used = now(CLOCK_PROCESS_CPUTIME_ID) - used;
		printf("%.3f\n", (used < elapsed ? used : elapsed) / reports);
		fflush(stdout);
	}
	return 0;
}
