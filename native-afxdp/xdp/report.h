/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The telemetry report v2.0 with INT-MD that a UDP datagram carries: the parser
 * of the prefilter. Compiles for XDP and for the host. It takes one report per
 * datagram about a packet (behind an Ethernet header or not) over IPv4 or IPv6:
 * of UDP, of any protocol behind a UDP header that INT's source has inserted, or
 * of TCP without options where DSCP marks INT.
 */
#ifndef INT_REPORT_H
#define INT_REPORT_H

#include "frame.h"
#include "prefilter_maps.h"

enum {
	/* All offsets of a report are below this: it begins at most 90 bytes into its frame. */
	REPORT_OFFSETS = 0x7ff,
	/* Report Length of 254 words. */
	REPORT_LONGEST = 12 + 4 * 254,
};

/* A report. Offsets count from the start of the frame. */
struct report {
	uint32_t stack;			/* of the first block, which is the last hop's */
	uint32_t block;			/* bytes of a block */
	uint32_t hops;			/* blocks, at most PREFILTER_HOPS */
	uint32_t bitmap;		/* instructions of a block */
	uint32_t own;			/* offset of the reporting node's words */
	uint32_t own_bits;		/* instructions of these; 0: it has none */
	uint32_t own_node;
	uint32_t addresses;		/* offset of source and destination address */
	uint32_t ports;			/* source << 16 | original destination */
	uint8_t protocol;
	uint8_t family;			/* 4 or 6 */
};

/* Words of the items of instruction bits: one each, of bits 4 to 6 two. Of two bitmaps at once. */
INLINE void count_words(uint32_t a, uint32_t b, uint32_t *words_a, uint32_t *words_b)
{
	/* Bits 4 to 6 once more, in the upper half of each word. */
	uint64_t bits = (uint64_t)(b | (b & 0x0e00) << 16) << 32 | a | (a & 0x0e00) << 16;

	bits -= bits >> 1 & 0x5555555555555555;
	bits = (bits & 0x3333333333333333) + (bits >> 2 & 0x3333333333333333);
	bits = (bits + (bits >> 4)) & 0x0f0f0f0f0f0f0f0f;
	bits += bits >> 8;
	bits += bits >> 16;
	*words_a = bits & 31;
	*words_b = bits >> 32 & 31;
}

INLINE int has_ports(uint32_t protocol)
{
	return protocol == PROTOCOL_UDP || protocol == PROTOCOL_TCP ||
	       protocol == PROTOCOL_SCTP || protocol == PROTOCOL_UDP_LITE;
}

INLINE int is_tunnel(uint32_t port)
{
	return port == 6081 || port == 4790 || port == 4789 || port == 54321;
}

/*
 * Reads the report of a datagram in the frame data[0..end - data). Returns 0 if
 * it is none of this shape. Reads nothing outside the frame.
 */
INLINE int parse_report(const volatile struct prefilter_config *set, const uint8_t *data,
			const uint8_t *end, const struct datagram *datagram,
			struct report *report)
{
	const uint8_t *udp = datagram->udp, *at = udp + 8, *ip, *l4, *shim_at;
	uint32_t payload = be16(udp + 4) - 8;
	uint32_t group, header, type, report_bits, own_words, inner, ip_bytes, tos;
	uint32_t ports, shim, kind, int_words, words, bitmap, hops, protocol, head;
	uint32_t own_needed, int_bytes;

	if (be16(udp + 4) != datagram->bytes || payload > REPORT_LONGEST ||
	    at + 20 > end || at + payload > end)
		return 0;

	/* Group header, individual report header, main contents. */
	group = be32(at);
	header = be32(at + 8);
	type = header >> 24;
	if (group >> 28 != 2 || type < 0x13 || type > 0x15 || !(header & 0x20) ||
	    (header >> 16 & 255) == 255 || 12 + 4 * (header >> 16 & 255) != payload ||
	    be16(at + 16))
		return 0;
	report_bits = be16(at + 12);
	own_words = header >> 8 & 255;
	if (report_bits & 0x8001)
		return 0;
	/* What is known is stored at once: what the compiler has to keep costs the verifier dear. */
	report->own = at + 20 - data;
	report->own_bits = report_bits;
	report->own_node = be32(at + 4);

	/* Monitored packet: [Ethernet] IP. */
	inner = 20 + 4 * own_words;
	ip = at + inner;
	if (type == 0x13) {
		inner += 14;
		ip += 14;
		if (ip > end)
			return 0;
		switch (be16(ip - 2)) {
		case ETHERTYPE_IPV4:
			type = 0x14;
			break;
		case ETHERTYPE_IPV6:
			type = 0x15;
			break;
		default:
			return 0;
		}
	}
	if (inner + 44 > payload || ip + 44 > end)
		return 0;
	if (type == 0x14) {
		if (ip[0] != 0x45 || be16(ip + 6) & 0x3fff)
			return 0;
		tos = ip[1];
		protocol = ip[9];
		ip_bytes = be16(ip + 2);
		report->addresses = ip + 12 - data;
		report->family = 4;
		l4 = ip + 20;
	} else {
		if (ip[0] >> 4 != 6)
			return 0;
		tos = be16(ip) >> 4 & 255;
		protocol = ip[6];
		ip_bytes = be16(ip + 4) + 40;
		report->addresses = ip + 8 - data;
		report->family = 6;
		inner += 20;
		l4 = ip + 40;
	}
	inner += 20;

	/* Ports, and the shim: type 1 (MD); next protocol by the kind of marking. */
	if (l4 + 24 > end)
		return 0;
	ports = be32(l4);
	if (protocol == PROTOCOL_UDP) {
		shim_at = l4 + 8;
		inner += 8;
	} else if (protocol == PROTOCOL_TCP && l4[12] >> 4 == 5) {
		shim_at = l4 + 20;
		inner += 20;
	} else {
		return 0;
	}
	if (shim_at + 16 > end)
		return 0;
	shim = be32(shim_at);
	kind = shim >> 26;
	if (protocol == PROTOCOL_UDP &&
	    ((ports & 0xffff) == set->int_port[0] || (ports & 0xffff) == set->int_port[1])) {
		/* The original destination port, or the original protocol. */
		if (kind == (1 << 2 | 1))
			ports = (ports & 0xffff0000) | (shim & 0xffff);
		else if (kind == (1 << 2 | 2))
			protocol = shim & 255;
		else
			return 0;
	} else if ((tos & set->tos_mask) != set->tos_value || kind != 1 << 2 ||
		   (protocol == PROTOCOL_UDP && is_tunnel(ports & 0xffff))) {
		return 0;
	}
	report->protocol = protocol;
	int_words = shim >> 16 & 255;
	int_bytes = 4 + 4 * int_words;
	if (kind == (1 << 2 | 2)) {
		/* UDP was inserted: behind the INT follows the original header. */
		ports = 0;
		if (has_ports(protocol)) {
			if (shim_at + int_bytes + 4 > end)
				return 0;
			ports = be32(shim_at + int_bytes);
			int_bytes += 4;
		}
	}
	report->ports = ports;
	report->stack = shim_at + 16 - data;
	/* Within the report, and within what IP says there is. */
	if (int_words < 3 || inner + int_bytes > payload ||
	    (uint32_t)(shim_at - ip) + int_bytes > ip_bytes)
		return 0;

	/* Metadata header: no domain of its own, as many words as its bits ask for. */
	head = be32(shim_at + 4);
	bitmap = be16(shim_at + 8);
	if (head >> 28 != 2 || be16(shim_at + 12))
		return 0;
	count_words(bitmap, report->own_bits, &words, &own_needed);
	if (own_needed != own_words || !words || (head >> 8 & 31) != words)
		return 0;
	hops = (int_words - 3) / words;
	if (hops * words != int_words - 3 || hops > PREFILTER_HOPS)
		return 0;

	report->block = words * 4;
	report->hops = hops;
	report->bitmap = bitmap;
	return 1;
}

#endif
