/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who may send, and which switches there are: what decides about a report before any rule does, as the collector would.
 */
#ifndef INT_PREFILTER_ADMISSION_H
#define INT_PREFILTER_ADMISSION_H

#include "prefilter_hops.h"

/* The third word of an IPv4-mapped IPv6 address (RFC 4291, section 2.5.5.2). */
#define MAPPED_WORD __builtin_bswap32(0x0000ffffu)

/* Puts the sender of a datagram where it can be looked up. */
INLINE void copy_sender(struct cpu *cpu, const struct datagram *datagram)
{
	const uint8_t *at = datagram->source;
	uint32_t k;

	cpu->sender.length = 128;
	if (datagram->family == 4) {
		cpu->sender.address[0] = cpu->sender.address[1] = 0;
		cpu->sender.address[2] = MAPPED_WORD;
		cpu->sender.address[3] = load32(at);
		return;
	}
#pragma GCC unroll 4
	for (k = 0; k < 4; k++)
		cpu->sender.address[k] = load32(at + 4 * k);
}

INLINE int may_send(const struct cpu *cpu)
{
	const uint32_t *address = cpu->sender.address;
	const uint32_t *family = bpf_map_lookup_elem(&senders, &cpu->sender);
	const int is_mapped = !(address[0] | address[1]) && address[2] == MAPPED_WORD;

	return family && *family == (is_mapped ? 4 : 6);
}

/* An id that says nothing names no unknown switch. */
INLINE int is_known(uint32_t node)
{
	return node == NONE || bpf_map_lookup_elem(&switches, &node) != 0;
}

/* Whether the report names only switches that there are. */
INLINE int names_known(const struct view *view)
{
	const struct report *report = &view->cpu->report;
	struct hops hops = hops_of(view);
	uint32_t hop;

	if (!is_known(report->own_node))
		return 0;
	if (!(report->bitmap & 0x8000))
		return 1;
	for_each_hop(hop, &hops) {
		const uint8_t *at = hops.data + (hops.last & REPORT_OFFSETS);

		if (at + 4 > hops.end)
			break;
		if (!is_known(be32(at)))
			return 0;
	}
	return 1;
}

#endif
