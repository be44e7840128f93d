/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reports for flowcache_bench, made up while it runs, so that no two passes see
 * the same ones: the C twin of benchmarks/src/flowcache/workload.ts, which says
 * what they look like. What both need is in a file of little-endian words:
 *
 *   magic "INTW", flows, 1 if odd flows are IPv6, reports in a batch, draws,
 *   words of the table of values, ten zeros; the header of the cache (128), the
 *   thresholds (32), the table of values, the draws: flows in the order in
 *   which they send packets.
 */
#ifndef INT_FLOWCACHE_WORK_H
#define INT_FLOWCACHE_WORK_H

#include "flowcache.h"

enum { WORK_HOPS = 5 };

/* Who sends the next packet. */
enum work_mix {
	WORK_EACH = 0,		/* all flows, one after the other */
	WORK_ZIPF = 1,		/* the draws */
	WORK_UNIFORM = 2,	/* every flow is as likely as any other */
	WORK_MIXED = 3,		/* ZIPF and UNIFORM by turns */
};

struct work {
	uint32_t flows, ipv6, size, draws, values;
	uint32_t *header;	/* FLOWCACHE_HEADER_WORDS */
	uint32_t *thresholds;	/* FLOWCACHE_THRESHOLD_WORDS */
	uint32_t *value;
	uint32_t *draw;
	uint32_t sequence;	/* reports made */
	struct int_batch batch;
	struct flowcache_times times;
	uint32_t *time_low, *time_high;
};

/* Reads the file and allocates the batch; exits with a message if it cannot. */
void work_read(struct work *work, const char *path);

/* Fills the batch with the next `count` reports. */
void work_fill(struct work *work, enum work_mix mix, uint32_t count);

#endif
