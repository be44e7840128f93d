/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The plain good case of a software RNIC that writes into a store: RoCEv2 over
 * IPv4, UC, RDMA WRITE-only. The state, and what a plain good frame is, are those
 * of rnic-state.ts of @int/dart.
 */
#ifndef INT_DART_RNIC_H
#define INT_DART_RNIC_H

#include "dart.h"

enum {
	DART_RNIC_PARTITION_KEY = 2,
	DART_RNIC_PORT = 3,
	DART_RNIC_CHECKS_ICRC = 4,
	DART_RNIC_QUEUE_PAIRS_AT = 16,
	DART_RNIC_MOST_QUEUE_PAIRS = 1024,
	DART_RNIC_MOST_REGIONS = 64,
	DART_RNIC_ENTRY_WORDS = 8,
	DART_RNIC_REGIONS_AT = DART_RNIC_QUEUE_PAIRS_AT + DART_RNIC_MOST_QUEUE_PAIRS * DART_RNIC_ENTRY_WORDS,
	DART_RNIC_STATE_WORDS = DART_RNIC_REGIONS_AT + DART_RNIC_MOST_REGIONS * DART_RNIC_ENTRY_WORDS,
};

/* The first two words of the state. */
enum { DART_RNIC_QUEUE_PAIRS = 0, DART_RNIC_REGIONS = 1 };

/* Words of a queue pair. */
enum {
	DART_QP_NUMBER = 0,
	DART_QP_SERVICE = 1,
	DART_QP_EXPECTED = 2,
	DART_QP_IS_SYNCHRONISED = 3,
	DART_QP_STALE_RUN = 4,
};

/* Words of a region. */
enum {
	DART_REGION_REMOTE_KEY = 0,
	DART_REGION_CAN_WRITE = 1,
	DART_REGION_BASE_LOW = 3,
	DART_REGION_BASE_HIGH = 4,
	DART_REGION_SIZE_LOW = 5,
	DART_REGION_SIZE_HIGH = 6,
};

struct dart_rnic {
	struct dart_store *store;	/* what all regions lead to */
	uint32_t *state;		/* DART_RNIC_STATE_WORDS */
	uint32_t *last;			/* the queue pair of the last frame */
	uint32_t table[8][256];
};

void dart_rnic_init(struct dart_rnic *rnic, struct dart_store *store, uint32_t *state);

/*
 * Takes frames from row `from` on, as long as they are plain good ones: checks
 * them and writes their payload. Returns the first row that it did not take.
 */
uint32_t dart_rnic_run(struct dart_rnic *rnic, const struct dart_keys *frames, uint32_t from, uint32_t to);

#endif
