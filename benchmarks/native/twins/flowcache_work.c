// SPDX-License-Identifier: Apache-2.0
#include "flowcache_work.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HEADER_WORDS = 16 };

/* Columns of a report and of a hop. */
enum {
	COL_FRAME = 0,
	COL_FLAGS = 1,
	COL_NODE_ID = 2,
	COL_HOP_START = 5,
	COL_PORTS = 6,
	COL_SOURCE0 = 7,
	COL_DESTINATION0 = 11,
	HOP_NODE_ID = 0,
	HOP_LATENCY = 3,
	HOP_QUEUE_OCCUPANCY = 5,
	HOP_UTILIZATION = 12,
};

#define FLAG_FLOW (1u << 18)
#define FLAG_IPV6 (1u << 19)
#define GOLDEN 0x9e3779b9u
/* 2026-01-01T00:00:00Z in nanoseconds, and 6.57 million packets a second. */
#define EPOCH 1767225600000000000ull
#define GAP 152u

static void fail(const char *path, const char *what)
{
	fprintf(stderr, "%s: %s\n", path, what);
	exit(1);
}

static void *allocate(size_t bytes)
{
	void *memory = aligned_alloc(64, (bytes + 63) / 64 * 64);

	if (!memory)
		fail("flowcache_work", "no memory");
	return memory;
}

static uint32_t *read_words(FILE *in, const char *path, uint32_t count)
{
	uint32_t *words = allocate((size_t)count * 4);

	if (fread(words, 4, count, in) != count)
		fail(path, "the file is too short");
	return words;
}

static inline uint32_t *report_column(const struct int_batch *batch, uint32_t column)
{
	return batch->report_words + (size_t)column * batch->report_stride;
}

static inline uint32_t *hop_column(const struct int_batch *batch, uint32_t column)
{
	return batch->hop_words + (size_t)column * batch->hop_stride;
}

void work_read(struct work *work, const char *path)
{
	FILE *in = fopen(path, "rb");
	uint32_t header[HEADER_WORDS];
	size_t size;
	void *memory;
	uint32_t k;

	if (!in || fread(header, sizeof(header), 1, in) != 1 || memcmp(header, "INTW", 4))
		fail(path, "not a workload");
	*work = (struct work){
		.flows = header[1],
		.ipv6 = header[2],
		.size = header[3],
		.draws = header[4],
		.values = header[5],
	};
	if (!work->flows || !work->size || !work->draws || !work->values ||
	    work->values & (work->values - 1))
		fail(path, "a number out of range");
	work->header = read_words(in, path, FLOWCACHE_HEADER_WORDS);
	work->thresholds = read_words(in, path, FLOWCACHE_THRESHOLD_WORDS);
	work->value = read_words(in, path, work->values);
	work->draw = read_words(in, path, work->draws);
	fclose(in);
	size = int_batch_size(work->size, work->size, work->size * WORK_HOPS + 256);
	memory = allocate(size);
	memset(memory, 0, size);
	int_batch_init(&work->batch, memory, work->size, work->size, work->size * WORK_HOPS + 256);
	int_batch_reset(&work->batch);
	work->time_low = allocate((size_t)work->size * 4);
	work->time_high = allocate((size_t)work->size * 4);
	work->times = (struct flowcache_times){ work->time_high, work->time_low, 0 };
	for (k = 0; k < work->size; k++) {
		report_column(&work->batch, COL_FRAME)[k] = k;
		report_column(&work->batch, COL_HOP_START)[k] = k * WORK_HOPS;
		work->batch.hop_count[k] = WORK_HOPS;
		work->batch.code[k] = 0;
	}
}

static inline uint32_t mix32(uint32_t word)
{
	word = (word ^ word >> 16) * 0x85ebca6bu;
	word = (word ^ word >> 13) * 0xc2b2ae35u;
	return word ^ word >> 16;
}

static inline uint32_t next_flow(const struct work *work, enum work_mix mix, uint32_t sequence)
{
	if (mix == WORK_EACH)
		return sequence % work->flows;
	if (mix == WORK_UNIFORM || (mix == WORK_MIXED && sequence & 1))
		return mix32(sequence ^ 0x2545f491u) % work->flows;
	return work->draw[sequence % work->draws];
}

void work_fill(struct work *work, enum work_mix mix, uint32_t count)
{
	struct int_batch *batch = &work->batch;
	const size_t stride = batch->report_stride;
	uint32_t *flags = report_column(batch, COL_FLAGS);
	uint32_t *node_id = report_column(batch, COL_NODE_ID);
	uint32_t *ports = report_column(batch, COL_PORTS);
	uint32_t *source = report_column(batch, COL_SOURCE0);
	uint32_t *destination = report_column(batch, COL_DESTINATION0);
	uint32_t *ids = hop_column(batch, HOP_NODE_ID);
	uint32_t *latency = hop_column(batch, HOP_LATENCY);
	uint32_t *queue = hop_column(batch, HOP_QUEUE_OCCUPANCY);
	uint32_t *utilization = hop_column(batch, HOP_UTILIZATION);
	const uint32_t mask = work->values - 1;
	uint32_t row;

	for (row = 0; row < count; row++) {
		const uint32_t sequence = work->sequence++;
		const uint32_t flow = next_flow(work, mix, sequence);
		const uint32_t a = mix32(flow), b = mix32(a + GOLDEN);
		const uint32_t random = mix32(sequence + 0x5bd1e995u);
		const uint32_t detour = random & 63 ? 0 : 1 + (random >> 6 & 1023) % 3;
		const uint64_t time = EPOCH + (uint64_t)sequence * GAP;
		const uint32_t first = row * WORK_HOPS;
		uint32_t hop;

		work->time_low[row] = time;
		work->time_high[row] = time >> 32;
		ports[row] = 0x80000000u | (b & 0x7fffffffu);
		batch->protocol[row] = a >> 28 & 1 ? 17 : 6;
		if (work->ipv6 && flow & 1) {
			flags[row] = FLAG_FLOW | FLAG_IPV6;
			source[row] = destination[row] = 0x20010db8;
			source[row + stride] = 0;
			source[row + 2 * stride] = b;
			source[row + 3 * stride] = flow;
			destination[row + stride] = 1;
			destination[row + 2 * stride] = 0;
			destination[row + 3 * stride] = a;
		} else {
			flags[row] = FLAG_FLOW;
			source[row] = 0x0a000000 + flow;
			destination[row] = 0xac100000 | (a & 0xfffff);
		}
		for (hop = 0; hop < WORK_HOPS; hop++) {
			const uint32_t values = mix32(random + hop * GOLDEN);
			uint32_t id = 1 + hop * 1024 + (a >> 2 * hop & 1023);

			if (hop == detour && hop)
				id += 0x8000;
			ids[first + hop] = id;
			latency[first + hop] = 500 + work->value[values & mask];
			queue[first + hop] = work->value[values >> 12 & mask] >> 3;
			utilization[first + hop] = values >> 19;
		}
		node_id[row] = ids[first + WORK_HOPS - 1];
	}
	batch->state[INT_STATE_FRAMES] = count;
	batch->state[INT_STATE_REPORTS] = count;
	batch->state[INT_STATE_HOPS] = count * WORK_HOPS;
}
