/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The hops of a report in path order, each with its node and the rule's metric.
 */
#ifndef INT_PREFILTER_HOPS_H
#define INT_PREFILTER_HOPS_H

#include "prefilter_context.h"

/* The hops of a report as a loop reads them. */
struct hops {
	const uint8_t *data;
	const uint8_t *end;
	uint32_t last;			/* offset of the block that is first on the path */
	uint32_t block;
	uint32_t count;
	struct place place;
	uint32_t mask;
	uint32_t shift;
	uint32_t threshold;
	uint32_t slot;
};

/* Without branches, so that the verifier follows one way only. */
INLINE void find_metric(const struct prefilter_rule *rule, const struct report *report,
			struct place *place)
{
	const uint32_t bit = rule->bit & 15;
	const uint32_t other = 0x0e00u >> (15 - bit) & 1, word = rule->word & other;
	const uint32_t before = ~(0xffffu >> bit);
	uint32_t metric, own_metric;

	count_words(report->bitmap & before, report->own_bits & before, &metric, &own_metric);
	place->metric = (metric + word) * 4;
	place->pair = (metric + (word ^ other)) * 4;
	place->missing = (report->bitmap >> (15 - bit) & 1) - 1;
	place->node_missing = (report->bitmap >> 15 & 1) - 1;
	place->own_metric = (own_metric + word) * 4;
	place->own_pair = (own_metric + (word ^ other)) * 4;
	place->own_missing = (report->own_bits >> (15 - bit) & 1) - 1;
}

INLINE struct hops hops_of(const struct view *view)
{
	const struct report *report = &view->cpu->report;
	struct hops hops = { .data = view->data, .end = view->end };

	forget();
	hops.block = report->block;
	hops.count = report->hops;
	hops.last = report->stack + (hops.count - 1) * hops.block;
	hops.place = view->cpu->place;
	hops.mask = view->rule->mask;
	hops.shift = view->rule->shift & 31;
	hops.threshold = view->rule->threshold;
	hops.slot = view->rule->slot;
	return hops;
}

#ifdef __clang__
#define NO_UNROLL _Pragma("clang loop unroll(disable)")
#else
#define NO_UNROLL
#endif

/* For each block, in path order. The body says `break` where a block would lie beyond the frame: never. */
#define for_each_hop(hop, hops) \
	NO_UNROLL for (hop = 0; hop < PREFILTER_HOPS && hop < (hops)->count; \
	     hop++, (hops)->last -= (hops)->block)

enum {
	BEYOND = -1,
	LACKS = 0,
	CARRIES = 1,
};

/* The block at hops->last: its metric's value, and its node, which is all ones if it is not known. */
INLINE int read_block(const struct hops *hops, uint32_t *node, uint32_t *value)
{
	const uint8_t *at = hops->data + (hops->last & REPORT_OFFSETS);
	const uint8_t *metric = at + (hops->place.metric & 127);
	uint32_t word;

	if (at + 4 > hops->end || metric + 4 > hops->end)
		return BEYOND;
	*node = be32(at) | hops->place.node_missing;
	word = be32(metric) | hops->place.missing;
	*value = word >> hops->shift & hops->mask;
	if (likely(word != NONE))
		return CARRIES;
	metric = at + (hops->place.pair & 127);
	if (metric + 4 > hops->end)
		return BEYOND;
	return (be32(metric) | hops->place.missing) == NONE ? LACKS : CARRIES;
}

/* The same of the reporting node's own words; LACKS also if there are none. */
INLINE int read_own(const struct view *view, const struct hops *hops, uint32_t *node,
		    uint32_t *value)
{
	const struct report *report = &view->cpu->report;
	const uint8_t *at = hops->data + (report->own & REPORT_OFFSETS);
	const uint8_t *metric = at + (hops->place.own_metric & 127);
	uint32_t word;

	if (likely(!report->own_bits))
		return LACKS;
	*node = report->own_node;
	if (!(view->rule->bit & 15)) {
		*value = *node >> hops->shift & hops->mask;
		return *node == NONE ? LACKS : CARRIES;
	}
	if (metric + 4 > hops->end)
		return LACKS;
	word = be32(metric) | hops->place.own_missing;
	*value = word >> hops->shift & hops->mask;
	if (likely(word != NONE))
		return CARRIES;
	metric = at + (hops->place.own_pair & 127);
	if (metric + 4 > hops->end)
		return LACKS;
	return (be32(metric) | hops->place.own_missing) == NONE ? LACKS : CARRIES;
}

#endif
