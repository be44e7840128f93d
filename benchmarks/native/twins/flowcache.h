/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A cache of flows with per-hop statistics: the C twin of the update loop of
 * @int/flowcache. Same memory layout, word for word, same counters, same
 * entries handed on, same events.
 *
 * The cache lies in one block of little-endian words: a header, the rows (tags
 * and ranks), the buckets. See layout.ts of @int/flowcache, which says what
 * each word is.
 */
#ifndef INT_FLOWCACHE_H
#define INT_FLOWCACHE_H

#include "decode_report2.h"

#include <stddef.h>
#include <stdint.h>

enum {
	FLOWCACHE_MAGIC = 0x43464e49,
	FLOWCACHE_VERSION = 2,
	FLOWCACHE_HEADER_WORDS = 128,
	FLOWCACHE_EVENT_WORDS = 16,
	FLOWCACHE_THRESHOLD_WORDS = 32,
	FLOWCACHE_MAX_BUCKETS = 64,
	FLOWCACHE_MAX_HOPS = 64,
	FLOWCACHE_MAX_METRICS = 8,
	FLOWCACHE_EMPTY_RANK = 0x7f,
};

/* Words of the header. */
enum {
	FLOWCACHE_HEAD_MAGIC = 0,
	FLOWCACHE_HEAD_VERSION = 1,
	FLOWCACHE_HEAD_LAYOUT = 2,	/* 0 exact, 1 compact */
	FLOWCACHE_HEAD_ROWS = 3,
	FLOWCACHE_HEAD_BUCKETS = 4,
	FLOWCACHE_HEAD_HOPS = 5,
	FLOWCACHE_HEAD_METRICS = 6,
	FLOWCACHE_HEAD_HASH = 7,	/* 0 xxh32, 1 crc32 */
	FLOWCACHE_HEAD_SEED = 8,
	FLOWCACHE_HEAD_ROW_STRIDE = 9,
	FLOWCACHE_HEAD_BUCKET_STRIDE = 10,
	FLOWCACHE_HEAD_ROWS_AT = 11,
	FLOWCACHE_HEAD_BUCKETS_AT = 12,
	FLOWCACHE_HEAD_METRIC = 16,
	FLOWCACHE_HEAD_COUNTER = 64,
};

/* Counters that the update loop counts: two words each, the lower one first. */
enum {
	FLOWCACHE_OFFERED = 0,
	FLOWCACHE_HITS = 1,
	FLOWCACHE_INSERTED = 2,
	FLOWCACHE_LIVE = 3,
	FLOWCACHE_NOT_OK = 14,
	FLOWCACHE_NO_FLOW = 15,
	FLOWCACHE_UNSUPPORTED_IPV6 = 16,
	FLOWCACHE_HOPS_BEYOND = 17,
	FLOWCACHE_PATH_CHANGES = 18,
};

/* A metric: a hop column. */
struct flowcache_metric {
	uint32_t column;
	uint32_t pair;	/* missing only if this column is all ones, too */
};

/* A cache in memory, and its dimensions, as the header has them. */
struct flowcache {
	uint32_t *words;
	uint32_t compact;
	uint32_t rows, buckets, hops, metrics;
	uint32_t crc, seed;
	uint32_t row_stride, bucket_stride, hop_stride, hops_at;
	size_t rows_at, buckets_at;
	size_t size;			/* words in all */
	struct flowcache_metric metric[FLOWCACHE_MAX_METRICS];
};

/* When reports came: row of frame f is first + f. NULL columns: time 0. */
struct flowcache_times {
	const uint32_t *high;
	const uint32_t *low;
	uint32_t first;
};

/* Records to hand on, one behind the other. */
struct flowcache_outbox {
	uint32_t *words;
	uint32_t capacity;	/* records */
	uint32_t count;
};

/* How the loop hides the time that memory takes. */
enum flowcache_mode {
	FLOWCACHE_PLAIN = 0,	/* not at all: one report after the other */
	FLOWCACHE_PREFETCH = 1,	/* rows, then buckets of some reports ahead */
};

/*
 * Takes the dimensions from a header; returns 0 if it is not one of this
 * layout. Does not touch the memory behind the header.
 */
int flowcache_attach(struct flowcache *cache, uint32_t *words);

/* Makes all rows those of an empty cache. All other words are taken to be 0. */
void flowcache_empty(const struct flowcache *cache);

/* Hashes of the flows of rows from..to-1 go to out[0..to-from). */
void flowcache_hash(const struct flowcache *cache, const struct int_batch *batch,
		    uint32_t from, uint32_t to, uint32_t *out);

/*
 * Updates the cache with reports from..to-1. Returns the first one not looked
 * at, which is `to` unless an outbox may not have room for what the next report
 * brings: one entry, and an event for each metric of each hop and two more.
 */
uint32_t flowcache_update(struct flowcache *cache, enum flowcache_mode mode,
			  const struct int_batch *batch,
			  const struct flowcache_times *times,
			  const uint32_t *thresholds,
			  struct flowcache_outbox *entries,
			  struct flowcache_outbox *events,
			  uint32_t from, uint32_t to);

#endif
