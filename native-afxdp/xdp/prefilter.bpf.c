// SPDX-License-Identifier: Apache-2.0
/*
 * Detects events in telemetry reports and drops those without any. Reports with
 * an event, and whatever comes to a port of reports and is not understood, go to
 * the AF_XDP socket of their queue, with a verdict as meta data. Everything else
 * goes on to the network stack, untouched. The maps are those of prefilter_maps.h.
 *
 * With STATE_HASH the state of switches and flows is kept by id and 5-tuple,
 * else in arrays of cells, as a switch's registers are.
 */
#include "prefilter_admission.h"
#include "prefilter_detectors.h"
#include "prefilter_match.h"

/* To the socket, with the verdict before the frame. */
INLINE int hand_on(struct xdp_md *ctx, struct cpu *cpu)
{
	const uint32_t *from = (const uint32_t *)&cpu->verdict;
	uint32_t *to, k;
	int action;

	cpu->verdict.magic = PREFILTER_MAGIC;
	cpu->verdict.length = ctx->data_end - ctx->data;
	forget();
	if (bpf_xdp_adjust_meta(ctx, -(int)sizeof(struct prefilter_verdict))) {
		cpu->totals.no_verdict++;
	} else {
		to = (uint32_t *)(long)ctx->data_meta;
		if (to + sizeof(struct prefilter_verdict) / 4 <= (uint32_t *)(long)ctx->data) {
#pragma GCC unroll 8
			for (k = 0; k < sizeof(struct prefilter_verdict) / 4; k++)
				to[k] = from[k];
		}
	}
	action = bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
	if (action != XDP_REDIRECT)
		cpu->totals.no_socket++;
	return action;
}

INLINE int hand_on_unseen(struct xdp_md *ctx, struct cpu *cpu, uint32_t kind)
{
	cpu->verdict.generation = 0;
	cpu->verdict.rule = PREFILTER_NO_RULE;
	cpu->verdict.kind = kind;
	cpu->verdict.hop = NO_HOP;
	cpu->verdict.events = 0;
	cpu->verdict.node = NONE;
	cpu->verdict.value = 0;
	cpu->verdict.previous = 0;
	cpu->verdict.threshold = 0;
	cpu->totals.undecided++;
	return hand_on(ctx, cpu);
}

INLINE void count_hop(uint32_t node)
{
	const uint32_t cell = switch_cell(node);
	uint64_t *count;

	if (unlikely(node == NONE))
		return;
	count = bpf_map_lookup_elem(&filtered_hops, &cell);
	if (count)
		++*count;
}

/* Counts a report that is dropped, at each of its switches. */
INLINE int filter(const struct view *view)
{
	struct prefilter_totals *total = &view->cpu->totals;
	const struct report *report = &view->cpu->report;
	struct hops hops = hops_of(view);
	uint32_t hop;

	total->filtered++;
	total->filtered_hops += hops.count;
	if (config.flags & PREFILTER_COUNT_HOPS && report->bitmap & 0x8000) {
		for_each_hop(hop, &hops) {
			const uint8_t *at = hops.data + (hops.last & REPORT_OFFSETS);

			if (at + 4 > hops.end)
				break;
			count_hop(be32(at));
		}
	}
	if (report->own_bits) {
		total->filtered_hops++;
		if (config.flags & PREFILTER_COUNT_HOPS)
			count_hop(report->own_node);
	}
	return XDP_DROP;
}

/*
 * A report is a few cache lines that another processor, or the card, has just
 * written. Asked for at once they come together; the parser would wait for one
 * after the other, since each says where the next thing is.
 */
INLINE void fetch(const uint8_t *data, const uint8_t *end)
{
#ifdef __bpf__
	uint64_t byte;

	if (data + 65 > end)
		return;
	asm volatile("%0 = *(u8 *)(%1 + 64)" : "=r"(byte) : "r"(data));
	if (data + 129 > end)
		return;
	asm volatile("%0 = *(u8 *)(%1 + 128)" : "=r"(byte) : "r"(data));
	if (data + 193 > end)
		return;
	asm volatile("%0 = *(u8 *)(%1 + 192)" : "=r"(byte) : "r"(data));
#else
	(void)data;
	(void)end;
#endif
}

SECTION("xdp") int prefilter(struct xdp_md *ctx)
{
	const uint8_t *data = start_of(ctx);
	const uint8_t *end = end_of(ctx);
	struct view view;
	const struct prefilter_rule_set *set;
	struct prefilter_verdict *verdict;
	struct datagram datagram;
	uint32_t key = 0, kind, k;
	struct cpu *cpu;
	int result;

	fetch(data, end);
	cpu = bpf_map_lookup_elem(&totals, &key);
	if (!cpu)
		return XDP_PASS;
	if (!find_datagram(data, end, &datagram) ||
	    !(ports.bits[datagram.port >> 6] >> (datagram.port & 63) & 1)) {
		cpu->totals.passed++;
		return XDP_PASS;
	}
	if (unlikely(config.flags & PREFILTER_CHECK_SENDERS)) {
		copy_sender(cpu, &datagram);
		if (!may_send(cpu)) {
			cpu->totals.unknown_source++;
			return XDP_DROP;
		}
	}
	cpu->udp = datagram.udp - data;
	cpu->udp_bytes = datagram.bytes;
	forget();
	data = start_of(ctx);
	end = end_of(ctx);
	datagram.udp = data + (cpu->udp & 127);
	datagram.bytes = cpu->udp_bytes;
	if (datagram.udp + 8 > end || !parse_report(&config, data, end, &datagram, &cpu->report))
		return hand_on_unseen(ctx, cpu, PREFILTER_UNDECIDED);
	forget();
	data = start_of(ctx);
	end = end_of(ctx);
	if (!copy_addresses(cpu, data, end))
		return hand_on_unseen(ctx, cpu, PREFILTER_UNDECIDED);
	key = config.active;
	set = bpf_map_lookup_elem(&rule_sets, &key);
	if (!set)
		return hand_on_unseen(ctx, cpu, PREFILTER_UNDECIDED);

	if (unlikely(config.flags & PREFILTER_CHECK_SWITCHES)) {
		forget();
		view.data = start_of(ctx);
		view.end = end_of(ctx);
		view.cpu = cpu;
		view.rule = &set->rules[0];
		if (!names_known(&view)) {
			cpu->totals.unknown_switch++;
			return XDP_DROP;
		}
	}

	/* The first rule that matches decides. */
	forget();
	cpu->rule = PREFILTER_NO_RULE;
	NO_UNROLL for (k = 0; k < PREFILTER_RULES; k++) {
		forget();
		if (k >= set->count)
			break;
		if (matches(&set->rules[k], cpu)) {
			cpu->rule = k;
			break;
		}
	}
	forget();

	verdict = &cpu->verdict;
	k = cpu->rule;
	view.data = start_of(ctx);
	view.end = end_of(ctx);
	view.cpu = cpu;
	view.rule = &set->rules[k & (PREFILTER_RULES - 1)];
	verdict->generation = set->generation;
	verdict->rule = k;
	verdict->hop = NO_HOP;
	verdict->events = 0;
	verdict->node = NONE;
	verdict->value = 0;
	verdict->previous = 0;
	verdict->threshold = 0;
	kind = set->default_kind;
	if (k < PREFILTER_RULES)
		kind = view.rule->kind;
	verdict->kind = kind;

	result = LOOKED;
	switch (kind) {
	case PREFILTER_NOOP:
		verdict->events = 1;
		break;
	case PREFILTER_PER_HOP:
	case PREFILTER_PER_FLOW:
	case PREFILTER_MOVING_AVERAGE:
	case PREFILTER_THRESHOLD:
		verdict->threshold = view.rule->threshold;
		find_metric(view.rule, &cpu->report, &cpu->place);
		if (kind == PREFILTER_PER_HOP)
			result = per_hop(&view);
		else if (kind == PREFILTER_THRESHOLD && view.rule->scope == PREFILTER_SCOPE_HOP)
			result = threshold_hop(&view);
		else
			result = of_sum(&view, kind);
		break;
	case PREFILTER_DROP:
		break;
	default:
		cpu->totals.reports++;
		cpu->totals.handed_on++;
		return hand_on(ctx, cpu);
	}
	if (unlikely(result == NO_STATE))
		return hand_on_unseen(ctx, cpu, PREFILTER_UNDECIDED);
	cpu->totals.reports++;
	forget();
	if (!verdict->events)
		return filter(&view);
	cpu->totals.events++;
	return hand_on(ctx, cpu);
}
