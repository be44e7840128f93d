/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Event detection over decoded columns: the C twin of the loops of
 * @int/detect, one rule over all reports of a batch. Same columns in the same
 * layout (struct int_batch), same registers, same events.
 *
 * Metrics are unsigned; sums saturate at 2^32 - 1; a value is above a
 * threshold if it is greater. A cell of all ones is no value: the hop is
 * skipped. Hops are looked at in path order, and each sees what the ones
 * before it wrote.
 */
#ifndef INT_DETECT_LOOPS_H
#define INT_DETECT_LOOPS_H

#include "decode_report2.h"

#include <stdint.h>

/* Kinds of detectors, as the events number them. */
enum detect_kind {
	DETECT_NOOP = 0,
	DETECT_PER_HOP = 1,
	DETECT_PER_FLOW = 2,
	DETECT_MOVING_AVERAGE = 3,
	DETECT_THRESHOLD = 4,
	DETECT_CHANGE = 5,
	DETECT_PATH_CHANGE = 6,
	DETECT_COMPLEX = 7,
};

enum {
	DETECT_FLOW_CELLS = 65536,
	DETECT_SWITCH_CELLS = 4096,
	DETECT_POSITIONS = 8,
	DETECT_NONE = 0xffffffffu,
	DETECT_METRICS = 4,
	DETECT_CONDITIONS = 32,
};

/* A metric: a hop column. */
struct detect_metric {
	uint32_t id;
	uint32_t column;
	uint32_t delta;		/* 1: some condition is on its change */
};

/* What a condition looks at. */
enum detect_aggregate {
	DETECT_SUM = 0,
	DETECT_MAX = 1,
	DETECT_MIN = 2,
	DETECT_LAST = 3,
	DETECT_DELTA = 4,
	DETECT_COUNT = 5,
	DETECT_AGGREGATES = 6,
};

/*
 * One condition: low <= aggregate <= low + span. A bound that no value can
 * meet is not representable and not needed here.
 */
struct detect_condition {
	uint32_t metric;	/* index in the rule's metrics; COUNT: DETECT_METRICS */
	uint32_t aggregate;
	uint32_t low;
	uint32_t span;
	uint32_t last;		/* 1: last condition of its clause */
};

struct detect_rule {
	enum detect_kind kind;
	uint32_t slot;
	uint32_t threshold;
	uint32_t weight;
	uint32_t metrics;
	struct detect_metric metric[DETECT_METRICS];
	uint32_t conditions;
	struct detect_condition condition[DETECT_CONDITIONS];
};

/* What a flow's hops carried last. */
struct detect_change {
	uint32_t seen;		/* a bit for each position */
	struct {
		uint32_t node;
		uint32_t value;
	} position[DETECT_POSITIONS];
};

/* A flow's path: number of ids plus 1 (0: none seen), and two hashes of them. */
struct detect_path {
	uint32_t length;
	uint32_t hash[2];
};

/* A flow's reports, and of which metrics there is a previous sum. */
struct detect_history {
	uint32_t count;
	uint32_t metrics;	/* a bit for each metric of the rule */
};

/* Registers; only those of the rule's kind are allocated. */
struct detect_state {
	uint32_t *switch_previous;	/* [switch cell] */
	uint32_t *flow_previous;	/* [flow cell], also the reported average */
	uint64_t *accumulator;		/* [flow cell], 48 bits */
	struct detect_change *change;	/* [flow cell] */
	struct detect_path *path;	/* [flow cell] */
	struct detect_history *history;	/* [flow cell] */
	uint32_t *history_sum;		/* [metric][flow cell] */
	uint64_t reports;		/* reports looked at */
	uint64_t survivors;		/* reports with an event */
};

/* A struct of arrays; row i of each is of event i. */
struct detect_events {
	uint32_t capacity;
	uint32_t count;
	uint32_t *report;
	uint32_t *rule;
	uint32_t *kind;		/* kind | metric << 8 | scope << 16 */
	uint32_t *hop;
	uint32_t *node_id;
	uint32_t *value;
	uint32_t *previous;
	uint32_t *threshold;
};

/* Allocates zeroed registers for a rule; exits if there is no memory. */
void detect_state_init(struct detect_state *state, const struct detect_rule *rule);
void detect_state_free(struct detect_state *state);

/*
 * Runs the rule over reports from..to-1, appending events. Returns the first
 * report not looked at, which is `to` unless the events are full.
 */
uint32_t detect_run(const struct detect_rule *rule, struct detect_state *state,
		    const struct int_batch *batch, struct detect_events *events,
		    uint32_t from, uint32_t to);

#endif
