// SPDX-License-Identifier: Apache-2.0
/*
 * The update loop of a flow cache. See flowcache.h.
 *
 * The loop is written once and compiled for the usual dimensions as well as for
 * any: every function below that takes a struct dimensions is inlined where the
 * dimensions are constants.
 */
#include "flowcache.h"

#include <stdlib.h>
#include <string.h>

/* Columns of a report, in words, and of a hop. */
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
};

#define FLAG_FLOW (1u << 18)
#define FLAG_IPV6 (1u << 19)

/* Words of a bucket. */
enum {
	EXACT_SOURCE = 0,
	EXACT_DESTINATION = 4,
	EXACT_PORTS = 8,
	EXACT_META = 9,
	EXACT_PACKETS = 10,
	EXACT_PATH_CHANGES = 11,
	EXACT_FIRST = 12,
	EXACT_LAST = 14,
	EXACT_PATH_TAIL = 16,
	EXACT_BEYOND = 17,
	EXACT_END_TO_END = 18,
	EXACT_END_TO_END_COUNT = 19,
	EXACT_END_TO_END_SUM = 20,
	EXACT_HOPS = 22,
	COMPACT_SOURCE = 0,
	COMPACT_DESTINATION = 1,
	COMPACT_PORTS = 2,
	COMPACT_META = 3,
	COMPACT_PACKETS = 4,
	COMPACT_PATH_CHANGES = 5,
	COMPACT_FIRST = 6,
	COMPACT_LAST = 8,
	COMPACT_HOPS = 10,
};

#define META_PROTOCOL 0xffu
#define META_IPV6 (1u << 8)
#define META_KEY (META_PROTOCOL | META_IPV6)
enum { META_SEEN = 9, META_LENGTH = 16, META_REASON = 24 };
enum { REASON_EVICTED = 1, REASON_RETIRED = 3 };

/* Words of an event record. */
enum {
	EVENT_KIND = 0,
	EVENT_NODE = 1,
	EVENT_VALUE = 2,
	EVENT_PREVIOUS = 3,
	EVENT_TIME = 4,
	EVENT_PORTS = 6,
	EVENT_THRESHOLD = 7,
	EVENT_SOURCE = 8,
	EVENT_DESTINATION = 12,
};

enum {
	KIND_THRESHOLD = 1 << 0,
	KIND_CHANGE = 1 << 1,
	KIND_PATH = 1 << 2,
	KIND_END_TO_END = 1 << 4,
	KIND_IPV6 = 1 << 5,
	KIND_METRIC = 8,
	KIND_HOP = 16,
	KIND_PROTOCOL = 24,
};

/* Words of a threshold table. */
enum { LIMIT_END_TO_END = 16, LIMIT_PATH = 18 };

#define NONE 0xffffffffu
#define FULL 0xffffffffu
#define TAIL_SEED 0x9747b28cu

/* Reports whose hashes are computed at a time, and whose memory is fetched. */
enum { BLOCK = 256, AHEAD = 32, LINE_WORDS = 16 };

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#define INLINE static inline __attribute__((always_inline))

/*
 * A copy of what the loop reads again and again: stores to the cache cannot
 * change it, so that it may stay in registers. Where one is made with constants,
 * the loop is compiled for these.
 */
struct dimensions {
	uint32_t compact;
	uint32_t buckets;
	uint32_t metrics;
	uint32_t whole_words;	/* 1: no metric has a pair */
	uint32_t hops;
	uint32_t hop_stride;
	uint32_t hops_at;
	const uint32_t *values[FLOWCACHE_MAX_METRICS];
	const uint32_t *pairs[FLOWCACHE_MAX_METRICS];
	const uint32_t *ids, *latencies;
};

/* The columns of a batch, and all that stays the same from report to report. */
struct context {
	const struct flowcache *cache;
	const struct int_batch *batch;
	const struct flowcache_times *times;
	const uint32_t *limits;		/* thresholds */
	const uint32_t *no_limits;	/* the same, C never */
	struct flowcache_outbox *entries;
	struct flowcache_outbox *events;
	const uint32_t *flags, *ports, *source, *destination;
	uint64_t live, inserted, hits, hops_beyond, path_changes;
};

/* The report at hand. */
struct report {
	uint32_t row;
	uint32_t meta_key;	/* protocol and IPv6 bit, as in a bucket */
	uint32_t time_low, time_high;
	uint32_t known;
	uint32_t *bucket;
};

int flowcache_attach(struct flowcache *cache, uint32_t *words)
{
	uint32_t per_hop, k;

	if (words[FLOWCACHE_HEAD_MAGIC] != FLOWCACHE_MAGIC ||
	    words[FLOWCACHE_HEAD_VERSION] != FLOWCACHE_VERSION)
		return 0;
	*cache = (struct flowcache){
		.words = words,
		.compact = words[FLOWCACHE_HEAD_LAYOUT],
		.rows = words[FLOWCACHE_HEAD_ROWS],
		.buckets = words[FLOWCACHE_HEAD_BUCKETS],
		.hops = words[FLOWCACHE_HEAD_HOPS],
		.metrics = words[FLOWCACHE_HEAD_METRICS],
		.crc = words[FLOWCACHE_HEAD_HASH],
		.seed = words[FLOWCACHE_HEAD_SEED],
		.row_stride = words[FLOWCACHE_HEAD_ROW_STRIDE],
		.bucket_stride = words[FLOWCACHE_HEAD_BUCKET_STRIDE],
		.rows_at = words[FLOWCACHE_HEAD_ROWS_AT],
		.buckets_at = words[FLOWCACHE_HEAD_BUCKETS_AT],
	};
	if (cache->compact > 1 || cache->crc > 1 || !cache->rows || cache->rows > 1u << 28 ||
	    !cache->buckets || cache->buckets > FLOWCACHE_MAX_BUCKETS ||
	    !cache->hops || cache->hops > FLOWCACHE_MAX_HOPS ||
	    !cache->metrics || cache->metrics > FLOWCACHE_MAX_METRICS)
		return 0;
	per_hop = cache->compact ? 2 + 2 * cache->metrics : 1 + 4 * cache->metrics;
	cache->hop_stride = per_hop;
	cache->hops_at = cache->compact ? COMPACT_HOPS : EXACT_HOPS;
	cache->size = cache->buckets_at +
		      (size_t)cache->rows * cache->buckets * cache->bucket_stride;
	if (cache->bucket_stride < cache->hops_at + cache->hops * per_hop ||
	    cache->row_stride < cache->buckets + (cache->buckets + 3) / 4 ||
	    cache->rows_at < FLOWCACHE_HEADER_WORDS ||
	    cache->buckets_at < cache->rows_at + (size_t)cache->rows * cache->row_stride)
		return 0;
	for (k = 0; k < cache->metrics; k++) {
		const uint32_t *metric = words + FLOWCACHE_HEAD_METRIC + 2 * k;

		cache->metric[k] = (struct flowcache_metric){ metric[0], metric[1] };
		if (metric[0] >= INT_HOP_COLUMNS || metric[1] >= INT_HOP_COLUMNS)
			return 0;
	}
	return 1;
}

void flowcache_empty(const struct flowcache *cache)
{
	uint32_t row;

	for (row = 0; row < cache->rows; row++)
		memset(cache->words + cache->rows_at + (size_t)row * cache->row_stride + cache->buckets,
		       FLOWCACHE_EMPTY_RANK, (cache->buckets + 3) / 4 * 4);
}

static inline uint32_t rotl(uint32_t word, int by)
{
	return word << by | word >> (32 - by);
}

INLINE void add64(uint32_t *at, uint64_t value)
{
	uint64_t sum;

	memcpy(&sum, at, sizeof(sum));
	sum += value;
	memcpy(at, &sum, sizeof(sum));
}

static void count(const struct flowcache *cache, uint32_t counter, uint64_t by)
{
	add64(cache->words + FLOWCACHE_HEAD_COUNTER + 2 * counter, by);
}

/*
 * The buckets of a row that hold this tag, a bit each. For 12 buckets all 16
 * words of the row are compared, which compilers turn into vector instructions.
 */
INLINE uint64_t buckets_with(const uint32_t *tags, uint32_t tag, const struct dimensions *of)
{
	uint64_t many = 0;
	uint32_t found = 0, bucket;

	if (of->buckets == 12) {
#pragma GCC unroll 1
		for (bucket = 0; bucket < 16; bucket++)
			found |= tags[bucket] == tag ? 1u << bucket : 0;
		return found & 0xfff;
	}
	for (bucket = 0; bucket < of->buckets; bucket++)
		many |= (uint64_t)(tags[bucket] == tag) << bucket;
	return many;
}

/* The bucket of a row that was updated longest ago; the row is full. */
INLINE uint32_t oldest(const uint8_t *ranks, const struct dimensions *of)
{
	uint32_t bucket = 0, k;

	for (k = 0; k < of->buckets; k++)
		bucket |= ranks[k] == of->buckets - 1 ? k : 0;
	return bucket;
}

/* Makes a bucket the one updated last. */
INLINE void to_front(uint8_t *ranks, uint32_t bucket, const struct dimensions *of)
{
	const uint8_t rank = ranks[bucket];
	uint32_t k;

	if (!rank)
		return;
	for (k = 0; k < of->buckets; k++)
		ranks[k] += ranks[k] < rank;
	ranks[bucket] = 0;
}

INLINE int holds(const struct context *context, const uint32_t *bucket, const struct report *report,
		 const struct dimensions *of)
{
	const size_t stride = context->batch->report_stride;
	const uint32_t *source = context->source + report->row;
	const uint32_t *destination = context->destination + report->row;

	if (of->compact)
		return !((bucket[COMPACT_SOURCE] ^ *source) |
			 (bucket[COMPACT_DESTINATION] ^ *destination) |
			 (bucket[COMPACT_PORTS] ^ context->ports[report->row]) |
			 ((bucket[COMPACT_META] & META_KEY) ^ report->meta_key));
	if ((bucket[EXACT_SOURCE] ^ *source) | (bucket[EXACT_DESTINATION] ^ *destination) |
	    (bucket[EXACT_PORTS] ^ context->ports[report->row]) |
	    ((bucket[EXACT_META] & META_KEY) ^ report->meta_key))
		return 0;
	if (!(report->meta_key & META_IPV6))
		return 1;
	return !((bucket[EXACT_SOURCE + 1] ^ source[stride]) |
		 (bucket[EXACT_SOURCE + 2] ^ source[2 * stride]) |
		 (bucket[EXACT_SOURCE + 3] ^ source[3 * stride]) |
		 (bucket[EXACT_DESTINATION + 1] ^ destination[stride]) |
		 (bucket[EXACT_DESTINATION + 2] ^ destination[2 * stride]) |
		 (bucket[EXACT_DESTINATION + 3] ^ destination[3 * stride]));
}

/* Copies an entry into the outbox. */
static void hand_on(const struct context *context, const uint32_t *bucket, uint32_t reason)
{
	const struct flowcache *cache = context->cache;
	struct flowcache_outbox *entries = context->entries;
	uint32_t *to = entries->words + (size_t)entries->count++ * cache->bucket_stride;

	memcpy(to, bucket, cache->bucket_stride * 4);
	to[cache->compact ? COMPACT_META : EXACT_META] |= reason << META_REASON;
}

/* Makes a bucket that of a new flow. */
INLINE void reset(const struct context *context, const struct report *report,
		  const struct dimensions *of)
{
	const struct flowcache *cache = context->cache;
	const size_t stride = context->batch->report_stride;
	const uint32_t *source = context->source + report->row;
	const uint32_t *destination = context->destination + report->row;
	uint32_t *bucket = report->bucket;
	uint32_t hop, metric, word;

	memset(bucket, 0, cache->bucket_stride * 4);
	if (of->compact) {
		bucket[COMPACT_SOURCE] = *source;
		bucket[COMPACT_DESTINATION] = *destination;
		bucket[COMPACT_PORTS] = context->ports[report->row];
		bucket[COMPACT_META] = report->meta_key;
		bucket[COMPACT_FIRST] = report->time_low;
		bucket[COMPACT_FIRST + 1] = report->time_high;
	} else {
		const uint32_t words = report->meta_key & META_IPV6 ? 4 : 1;

		for (word = 0; word < words; word++) {
			bucket[EXACT_SOURCE + word] = source[word * stride];
			bucket[EXACT_DESTINATION + word] = destination[word * stride];
		}
		bucket[EXACT_PORTS] = context->ports[report->row];
		bucket[EXACT_META] = report->meta_key;
		bucket[EXACT_FIRST] = report->time_low;
		bucket[EXACT_FIRST + 1] = report->time_high;
		bucket[EXACT_END_TO_END] = NONE;
	}
	for (hop = 0; hop < of->hops; hop++) {
		uint32_t *at = bucket + of->hops_at + hop * of->hop_stride;

		at[0] = NONE;
		for (metric = 0; metric < of->metrics; metric++)
			at[1 + of->compact + metric] = NONE;
	}
}

/* Finds the bucket of the flow at hand, or makes one. */
INLINE void locate(struct context *context, struct report *report, uint32_t hash, uint32_t row_index,
		   const struct dimensions *of)
{
	const struct flowcache *cache = context->cache;
	const uint32_t packets = of->compact ? COMPACT_PACKETS : EXACT_PACKETS;
	const uint32_t tag = hash ? hash : 1;
	uint32_t *tags = cache->words + cache->rows_at + (size_t)row_index * cache->row_stride;
	uint32_t *buckets = cache->words + cache->buckets_at +
			    (size_t)row_index * of->buckets * cache->bucket_stride;
	uint8_t *ranks = (uint8_t *)(tags + of->buckets);
	uint64_t found = buckets_with(tags, tag, of);
	uint32_t bucket;

	for (; likely(found); found &= found - 1) {
		bucket = __builtin_ctzll(found);
		report->bucket = buckets + (size_t)bucket * cache->bucket_stride;
		if (likely(holds(context, report->bucket, report, of)))
			break;
	}
	if (likely(found)) {
		to_front(ranks, bucket, of);
		if (likely(report->bucket[packets] != FULL)) {
			context->hits++;
			report->known = 1;
			return;
		}
		hand_on(context, report->bucket, REASON_RETIRED);
	} else {
		const uint64_t empty = buckets_with(tags, 0, of);

		if (empty) {
			bucket = __builtin_ctzll(empty);
			report->bucket = buckets + (size_t)bucket * cache->bucket_stride;
			context->live++;
		} else {
			bucket = oldest(ranks, of);
			report->bucket = buckets + (size_t)bucket * cache->bucket_stride;
			hand_on(context, report->bucket, REASON_EVICTED);
		}
		to_front(ranks, bucket, of);
	}
	report->known = 0;
	context->inserted++;
	tags[bucket] = tag;
	reset(context, report, of);
}

static void raise_event(struct context *context, const struct report *report, uint32_t kind,
			uint32_t node, uint32_t value, uint32_t previous, uint32_t threshold)
{
	struct flowcache_outbox *events = context->events;
	uint32_t *to = events->words + (size_t)events->count++ * FLOWCACHE_EVENT_WORDS;
	const uint32_t *bucket = report->bucket;
	uint32_t k;

	to[EVENT_KIND] = kind | (report->meta_key & META_IPV6 ? KIND_IPV6 : 0) |
			 report->meta_key << KIND_PROTOCOL;
	to[EVENT_NODE] = node;
	to[EVENT_VALUE] = value;
	to[EVENT_PREVIOUS] = previous;
	to[EVENT_TIME] = report->time_low;
	to[EVENT_TIME + 1] = report->time_high;
	to[EVENT_PORTS] = context->ports[report->row];
	to[EVENT_THRESHOLD] = threshold;
	if (context->cache->compact) {
		for (k = 0; k < 8; k++)
			to[EVENT_SOURCE + k] = 0;
		to[EVENT_SOURCE] = bucket[COMPACT_SOURCE];
		to[EVENT_DESTINATION] = bucket[COMPACT_DESTINATION];
	} else {
		for (k = 0; k < 8; k++)
			to[EVENT_SOURCE + k] = bucket[EXACT_SOURCE + k];
	}
}

/* Without a branch: which of the two is greater cannot be predicted. */
INLINE uint32_t absolute_difference(uint32_t a, uint32_t b)
{
	return llabs((long long)a - (long long)b);
}

/* Raises an event if the value is one. */
static __attribute__((noinline)) void compare(struct context *context, const struct report *report,
					      uint32_t place, uint32_t node, uint32_t value,
					      uint32_t previous, uint32_t level, uint32_t change)
{
	const uint32_t above = value > level;
	const uint32_t changed = previous != NONE && absolute_difference(value, previous) > change;

	if (above | changed)
		raise_event(context, report,
			    (above ? KIND_THRESHOLD : 0) | (changed ? KIND_CHANGE : 0) | place, node,
			    value, previous, above ? level : change);
}

/* The metrics of one hop. `at` is its place in the bucket, `cell` its row in the hop columns. */
INLINE void update_metrics(struct context *context, const struct report *report, uint32_t hop,
			   uint32_t *at, size_t cell, const uint32_t *limits,
			   const struct dimensions *of)
{
	uint32_t *lasts = at + 1 + of->compact;
	uint32_t metric;

	for (metric = 0; metric < of->metrics; metric++) {
		const uint32_t level = limits[2 * metric], change = limits[2 * metric + 1];
		uint32_t value = of->values[metric][cell];
		uint32_t previous;

		if (unlikely(value == NONE) && (of->whole_words || of->pairs[metric][cell] == NONE))
			continue;
		previous = lasts[metric];
		lasts[metric] = value;
		if (of->compact) {
			float mean;

			memcpy(&mean, lasts + of->metrics + metric, sizeof(mean));
			mean += ((float)value - mean) / (float)at[1];
			memcpy(lasts + of->metrics + metric, &mean, sizeof(mean));
		} else {
			lasts[of->metrics + metric]++;
			add64(lasts + 2 * of->metrics + 2 * metric, value);
		}
		if (unlikely(value > level) || unlikely(absolute_difference(value, previous) > change))
			compare(context, report, metric << KIND_METRIC | hop << KIND_HOP, at[0],
				value, previous, level, change);
	}
}

/* The sum of the hop latency over the path, of which `carried` hops have one. */
INLINE void update_end_to_end(struct context *context, const struct report *report, uint64_t sum,
			      uint32_t carried, const struct dimensions *of)
{
	const uint32_t *limits = context->limits + LIMIT_END_TO_END;
	const uint32_t value = sum > UINT32_MAX ? UINT32_MAX : sum;
	uint32_t kind = value > limits[0] ? KIND_THRESHOLD : 0;
	uint32_t *bucket = report->bucket;
	uint32_t previous = NONE;

	if (unlikely(!carried))
		return;
	if (!of->compact) {
		previous = bucket[EXACT_END_TO_END];
		if (bucket[EXACT_END_TO_END_COUNT] && absolute_difference(value, previous) > limits[1])
			kind |= KIND_CHANGE;
		bucket[EXACT_END_TO_END] = value;
		bucket[EXACT_END_TO_END_COUNT]++;
		add64(bucket + EXACT_END_TO_END_SUM, value);
	}
	if (unlikely(kind))
		raise_event(context, report, kind | KIND_END_TO_END, NONE, value, previous,
			    limits[!(kind & KIND_THRESHOLD)]);
}

static uint32_t mix_tail(uint32_t tail, uint32_t id)
{
	uint32_t k = rotl(id * 0xcc9e2d51u, 15) * 0x1b873593u;

	return rotl(tail ^ k, 13) * 5 + 0xe6546b64u;
}

/* The hash of that part of the path which the hops do not show. */
static uint32_t tail_of(const uint32_t *ids, uint32_t kept, uint32_t length, uint32_t own, uint32_t last)
{
	uint32_t tail = TAIL_SEED, mixed = 0, hop;

	for (hop = kept; hop < length; hop++) {
		if (ids[hop] == NONE)
			continue;
		tail = mix_tail(tail, ids[hop]);
		mixed = 1;
	}
	if (own != NONE && own != last) {
		tail = mix_tail(tail, own);
		mixed = 1;
	}
	return !mixed ? 0 : tail ? tail : 1;
}

/* Hop rows beyond the hops that an entry follows. */
static __attribute__((noinline)) void look_beyond(const uint32_t *ids, const uint32_t *latencies,
						  uint32_t kept, uint32_t length, uint32_t *last,
						  uint64_t *sum, uint32_t *carried)
{
	uint32_t hop;

	for (hop = kept; hop < length; hop++) {
		if (ids[hop] != NONE)
			*last = ids[hop];
		if (latencies[hop] != NONE) {
			*sum += latencies[hop];
			++*carried;
		}
	}
}

/* Adds the report at hand to its bucket. */
INLINE void update(struct context *context, const struct report *report, const struct dimensions *of)
{
	const struct int_batch *batch = context->batch;
	const size_t stride = batch->report_stride;
	const uint32_t row = report->row;
	const size_t first = batch->report_words[COL_HOP_START * stride + row];
	const uint32_t own = batch->report_words[COL_NODE_ID * stride + row];
	const uint32_t length = batch->hop_count[row];
	const uint32_t kept = length < of->hops ? length : of->hops;
	const uint32_t *ids = of->ids + first;
	const uint32_t *limits = report->known ? context->limits : context->no_limits;
	uint32_t *bucket = report->bucket;
	uint32_t *packets = bucket + (of->compact ? COMPACT_PACKETS : EXACT_PACKETS);
	uint32_t *last_time = bucket + (of->compact ? COMPACT_LAST : EXACT_LAST);
	uint32_t *meta = bucket + (of->compact ? COMPACT_META : EXACT_META);
	const uint32_t before = *meta;
	uint32_t path_length = before >> META_LENGTH & 0xff;
	uint32_t seen = before >> META_SEEN & 0x7f;
	const uint32_t known_hops = path_length;
	const uint32_t *latencies = of->latencies + first;
	uint32_t *at = bucket + of->hops_at;
	uint32_t moved = 0, last = NONE, carried = 0, hop, metric;
	uint64_t sum = 0;

	++*packets;
	last_time[0] = report->time_low;
	last_time[1] = report->time_high;
	if (unlikely(length > kept)) {
		context->hops_beyond += length - kept;
		if (!of->compact) {
			const uint32_t beyond = bucket[EXACT_BEYOND] + length - kept;

			bucket[EXACT_BEYOND] = beyond < bucket[EXACT_BEYOND] ? UINT32_MAX : beyond;
		}
	}
	for (hop = 0; hop < kept; hop++, at += of->hop_stride) {
		const uint32_t id = ids[hop], stored = at[0], latency = latencies[hop];

		/* A hop that does not name itself is taken for the switch known there. */
		last = id == NONE ? last : id;
		if (likely(latency != NONE)) {
			sum += latency;
			carried++;
		}
		if (unlikely(id != stored) && id != NONE) {
			if (stored != NONE) {
				for (metric = 0; metric < of->metrics; metric++)
					at[1 + of->compact + metric] = NONE;
				moved |= hop < known_hops;
			}
			at[0] = id;
		}
		if (of->compact)
			at[1]++;
		update_metrics(context, report, hop, at, first + hop, limits, of);
	}
	if (unlikely(length > kept))
		look_beyond(ids, latencies, kept, length, &last, &sum, &carried);
	update_end_to_end(context, report, sum, carried, of);
	/* A report that names no switch says nothing of the path. */
	if (likely(last != NONE || own != NONE)) {
		uint32_t tail = 0, tail_before = 0;

		if (!of->compact) {
			if (unlikely(length > kept || own != last))
				tail = tail_of(ids, kept, length, own, last);
			tail_before = bucket[EXACT_PATH_TAIL];
			bucket[EXACT_PATH_TAIL] = tail;
		}
		if (report->known && (path_length || tail_before) &&
		    unlikely((length != path_length) | moved | (tail != tail_before))) {
			bucket[of->compact ? COMPACT_PATH_CHANGES : EXACT_PATH_CHANGES]++;
			context->path_changes++;
			if (context->limits[LIMIT_PATH])
				raise_event(context, report, KIND_PATH | KIND_END_TO_END, NONE, length,
					    path_length, 0);
		}
		path_length = length;
	}
	seen = seen > kept ? seen : kept;
	*meta = (before & META_KEY) | seen << META_SEEN | path_length << META_LENGTH;
}

INLINE uint32_t row_of(const struct flowcache *cache, uint32_t hash)
{
	return cache->rows & (cache->rows - 1) ? hash % cache->rows : hash & (cache->rows - 1);
}

/* Starts fetching what reports of these hashes will need. */
INLINE void fetch(const struct flowcache *cache, const uint32_t *hashes, uint32_t count,
		  const struct dimensions *of)
{
	uint32_t k, word;

	for (k = 0; k < count; k++)
		__builtin_prefetch(cache->words + cache->rows_at +
				   (size_t)row_of(cache, hashes[k]) * cache->row_stride, 1);
	for (k = 0; k < count; k++) {
		const uint32_t row = row_of(cache, hashes[k]);
		const uint32_t *tags = cache->words + cache->rows_at + (size_t)row * cache->row_stride;
		uint64_t found = buckets_with(tags, hashes[k], of);
		const uint32_t *bucket;

		if (!found)
			found = buckets_with(tags, 0, of);
		bucket = cache->words + cache->buckets_at +
			 ((size_t)row * of->buckets +
			  (found ? (uint32_t)__builtin_ctzll(found) :
				   oldest((const uint8_t *)(tags + of->buckets), of))) *
			 cache->bucket_stride;
		for (word = 0; word < cache->bucket_stride; word += LINE_WORDS)
			__builtin_prefetch(bucket + word, 1);
		__builtin_prefetch(bucket + cache->bucket_stride - 1, 1);
	}
}

INLINE uint32_t update_rows(struct context *context, int prefetch, uint32_t from, uint32_t to,
			    const struct dimensions *of)
{
	const struct flowcache *cache = context->cache;
	const struct int_batch *batch = context->batch;
	const uint32_t *frames = batch->report_words + COL_FRAME * (size_t)batch->report_stride;
	const uint32_t events_per_report = cache->hops * of->metrics + 2;
	uint64_t not_ok = 0, no_flow = 0, unsupported = 0;
	uint32_t hashes[BLOCK];
	uint32_t row, block;

	for (row = from, block = from; row < to; row++) {
		const uint32_t flags = context->flags[row];
		struct report report;

		if (row == block) {
			block = to - row < BLOCK ? to : row + BLOCK;
			flowcache_hash(cache, batch, row, block, hashes);
			from = row;
		}
		if (prefetch && !((row - from) % AHEAD))
			fetch(cache, hashes + (row - from),
			      block - row < AHEAD ? block - row : AHEAD, of);
		if (unlikely(batch->code[row])) {
			not_ok++;
			continue;
		}
		if (unlikely(!(flags & FLAG_FLOW))) {
			no_flow++;
			continue;
		}
		if (of->compact && unlikely(flags & FLAG_IPV6)) {
			unsupported++;
			continue;
		}
		if (unlikely(context->entries->count == context->entries->capacity ||
			     context->events->count + events_per_report > context->events->capacity))
			break;
		report.row = row;
		report.meta_key = batch->protocol[row] | (flags & FLAG_IPV6 ? META_IPV6 : 0);
		report.time_low = 0;
		report.time_high = 0;
		if (context->times->low) {
			const size_t frame = (size_t)context->times->first + frames[row];

			report.time_low = context->times->low[frame];
			report.time_high = context->times->high[frame];
		}
		locate(context, &report, hashes[row - from], row_of(cache, hashes[row - from]), of);
		update(context, &report, of);
	}
	count(cache, FLOWCACHE_NOT_OK, not_ok);
	count(cache, FLOWCACHE_NO_FLOW, no_flow);
	count(cache, FLOWCACHE_UNSUPPORTED_IPV6, unsupported);
	count(cache, FLOWCACHE_HITS, context->hits);
	count(cache, FLOWCACHE_INSERTED, context->inserted);
	count(cache, FLOWCACHE_LIVE, context->live);
	count(cache, FLOWCACHE_HOPS_BEYOND, context->hops_beyond);
	count(cache, FLOWCACHE_PATH_CHANGES, context->path_changes);
	return row;
}

/* What the loop reads again and again, of a cache and a batch. */
INLINE struct dimensions dimensions_of(const struct context *context, uint32_t compact,
				       uint32_t buckets, uint32_t metrics, uint32_t whole_words)
{
	const struct flowcache *cache = context->cache;
	const struct int_batch *batch = context->batch;
	const size_t stride = batch->hop_stride;
	struct dimensions of = {
		.compact = compact,
		.buckets = buckets,
		.metrics = metrics,
		.whole_words = whole_words,
		.hops = cache->hops,
		.hop_stride = compact ? 2 + 2 * metrics : 1 + 4 * metrics,
		.hops_at = compact ? COMPACT_HOPS : EXACT_HOPS,
		.ids = batch->hop_words + HOP_NODE_ID * stride,
		.latencies = batch->hop_words + HOP_LATENCY * stride,
	};
	uint32_t k;

	for (k = 0; k < metrics; k++) {
		of.values[k] = batch->hop_words + cache->metric[k].column * stride;
		of.pairs[k] = batch->hop_words + cache->metric[k].pair * stride;
	}
	return of;
}

/* A copy of the loop for each kind of cache that is usual, and one for any. */
#define LOOP(name, compact, buckets, metrics, whole_words, prefetch)					\
	static __attribute__((noinline)) uint32_t name(struct context *context, uint32_t from,		\
						       uint32_t to)					\
	{												\
		const struct dimensions of = dimensions_of(context, compact, buckets, metrics,		\
							   whole_words);				\
													\
		return update_rows(context, prefetch, from, to, &of);					\
	}

#define LOOPS(name, compact, buckets, metrics, whole_words)						\
	LOOP(name, compact, buckets, metrics, whole_words, 0)						\
	LOOP(name##_prefetch, compact, buckets, metrics, whole_words, 1)

LOOPS(exact_3, 0, 12, 3, 1)
LOOPS(exact_4, 0, 12, 4, 1)
LOOPS(exact_any, 0, context->cache->buckets, context->cache->metrics, 0)
LOOPS(compact_3, 1, 12, 3, 1)
LOOPS(compact_any, 1, context->cache->buckets, context->cache->metrics, 0)

typedef uint32_t loop(struct context *context, uint32_t from, uint32_t to);

static loop *loop_of(const struct flowcache *cache, enum flowcache_mode mode)
{
	const int prefetch = mode == FLOWCACHE_PREFETCH;
	uint32_t usual = cache->buckets == 12, k;

	for (k = 0; k < cache->metrics; k++)
		usual &= cache->metric[k].pair == cache->metric[k].column;
	if (usual && cache->compact && cache->metrics == 3)
		return prefetch ? compact_3_prefetch : compact_3;
	if (cache->compact)
		return prefetch ? compact_any_prefetch : compact_any;
	if (usual && cache->metrics == 3)
		return prefetch ? exact_3_prefetch : exact_3;
	if (usual && cache->metrics == 4)
		return prefetch ? exact_4_prefetch : exact_4;
	return prefetch ? exact_any_prefetch : exact_any;
}

uint32_t flowcache_update(struct flowcache *cache, enum flowcache_mode mode,
			  const struct int_batch *batch, const struct flowcache_times *times,
			  const uint32_t *thresholds, struct flowcache_outbox *entries,
			  struct flowcache_outbox *events, uint32_t from, uint32_t to)
{
	const size_t stride = batch->report_stride;
	const uint32_t first = from;
	uint32_t no_limits[FLOWCACHE_THRESHOLD_WORDS];
	uint32_t metric;
	struct context context = {
		.cache = cache,
		.batch = batch,
		.times = times,
		.limits = thresholds,
		.no_limits = no_limits,
		.entries = entries,
		.events = events,
		.flags = batch->report_words + COL_FLAGS * stride,
		.ports = batch->report_words + COL_PORTS * stride,
		.source = batch->report_words + COL_SOURCE0 * stride,
		.destination = batch->report_words + COL_DESTINATION0 * stride,
	};

	memcpy(no_limits, thresholds, sizeof(no_limits));
	for (metric = 0; metric < cache->metrics; metric++)
		no_limits[2 * metric + 1] = NONE;
	to = loop_of(cache, mode)(&context, from, to);
	count(cache, FLOWCACHE_OFFERED, to - first);
	return to;
}
