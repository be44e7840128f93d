/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether a rule is about a report's flow.
 */
#ifndef INT_PREFILTER_MATCH_H
#define INT_PREFILTER_MATCH_H

#include "prefilter_context.h"

/* Not 0 if an address is another one. */
INLINE uint32_t address_differs(const uint32_t *address, const uint8_t *wanted, const uint8_t *mask)
{
	const uint32_t *to = (const uint32_t *)wanted, *bits = (const uint32_t *)mask;

	return ((address[0] & bits[0]) ^ to[0]) | ((address[1] & bits[1]) ^ to[1]) |
	       ((address[2] & bits[2]) ^ to[2]) | ((address[3] & bits[3]) ^ to[3]);
}

/* All ones if a port is not in a range, else 0. */
INLINE uint32_t port_differs(uint32_t port, const uint16_t *range)
{
	const int32_t above = (int32_t)port - range[0], below = range[1] - (int32_t)port;

	return (above | below) >> 31;
}

/* All ones if a rule asks for something, else 0. */
INLINE uint32_t asks(uint32_t match, uint32_t bit)
{
	return -(match / bit & 1);
}

/* Without branches but the first, so that the verifier follows one way for each rule. */
INLINE int matches(const struct prefilter_rule *rule, const struct cpu *cpu)
{
	const struct report *report = &cpu->report;
	const uint32_t match = rule->match;
	uint32_t differs;

	if (likely(!match))
		return 1;
	differs = asks(match, PREFILTER_MATCH_PROTOCOL) & (rule->protocol ^ report->protocol);
	differs |= asks(match, PREFILTER_MATCH_FAMILY) & (rule->family ^ report->family);
	differs |= asks(match, PREFILTER_MATCH_SOURCE_PORT) &
		   port_differs(report->ports >> 16, rule->source_port);
	differs |= asks(match, PREFILTER_MATCH_DESTINATION_PORT) &
		   port_differs(report->ports & 0xffff, rule->destination_port);
	differs |= asks(match, PREFILTER_MATCH_SOURCE) &
		   address_differs(cpu->source, rule->source, rule->source_mask);
	differs |= asks(match, PREFILTER_MATCH_DESTINATION) &
		   address_differs(cpu->destination, rule->destination, rule->destination_mask);
	return !differs;
}

/* Puts the addresses where they can be compared; 0 if they lie beyond the frame: never. */
INLINE int copy_addresses(struct cpu *cpu, const uint8_t *data, const uint8_t *end)
{
	const uint8_t *at = data + (cpu->report.addresses & REPORT_OFFSETS);
	uint32_t k;

	if (at + 8 > end)
		return 0;
	if (likely(cpu->report.family == 4)) {
		cpu->source[0] = load32(at);
		cpu->destination[0] = load32(at + 4);
#pragma GCC unroll 3
		for (k = 1; k < 4; k++)
			cpu->source[k] = cpu->destination[k] = 0;
		return 1;
	}
	if (at + 32 > end)
		return 0;
#pragma GCC unroll 4
	for (k = 0; k < 4; k++) {
		cpu->source[k] = load32(at + 4 * k);
		cpu->destination[k] = load32(at + 16 + 4 * k);
	}
	return 1;
}

#endif
