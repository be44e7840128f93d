/* SPDX-License-Identifier: Apache-2.0 */
/*
 * From the start of an Ethernet frame to the payload of a UDP datagram. Compiles
 * for XDP and for the host.
 */
#ifndef INT_FRAME_H
#define INT_FRAME_H

#include <stdint.h>

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)
#endif

enum {
	ETHERTYPE_IPV4 = 0x0800,
	ETHERTYPE_IPV6 = 0x86dd,
	ETHERTYPE_VLAN = 0x8100,
	ETHERTYPE_SERVICE_VLAN = 0x88a8,
	PROTOCOL_TCP = 6,
	PROTOCOL_UDP = 17,
	PROTOCOL_SCTP = 132,
	PROTOCOL_UDP_LITE = 136,
};

#ifdef __bpf__
/* Whole words also where they are not aligned, which the compiler would take byte by byte. */
INLINE uint32_t load16(const uint8_t *at)
{
	return *(const uint16_t *)at;
}

INLINE uint32_t load32(const uint8_t *at)
{
	return *(const uint32_t *)at;
}
#else
INLINE uint32_t load16(const uint8_t *at)
{
	uint16_t value;

	__builtin_memcpy(&value, at, sizeof(value));
	return value;
}

INLINE uint32_t load32(const uint8_t *at)
{
	uint32_t value;

	__builtin_memcpy(&value, at, sizeof(value));
	return value;
}
#endif

INLINE uint32_t be16(const uint8_t *at)
{
	return __builtin_bswap16(load16(at));
}

INLINE uint32_t be32(const uint8_t *at)
{
	return __builtin_bswap32(load32(at));
}

/* A UDP datagram in a frame. */
struct datagram {
	const uint8_t *udp;		/* its header, 8 bytes of which lie in the frame */
	uint32_t port;			/* destination port */
	const uint8_t *source;		/* address of the sender, which lies in the frame */
	uint32_t family;		/* of that address: 4 or 6 */
	uint32_t bytes;			/* of it as IP says, header included; below 8 or huge: impossible */
};

/*
 * Finds the UDP datagram of an Ethernet frame with up to two VLAN tags: over
 * IPv4 with or without options but not in fragments, which only the network stack
 * can put together, or over IPv6 without extension headers. Returns 0 if there is
 * none.
 */
INLINE int find_datagram(const uint8_t *data, const uint8_t *end, struct datagram *datagram)
{
	const uint8_t *at = data + 14;
	uint32_t type, tag, head, options;

	if (at + 20 > end)
		return 0;
	type = be16(data + 12);
#pragma GCC unroll 2
	for (tag = 0; tag < 2; tag++) {
		if (type != ETHERTYPE_VLAN && type != ETHERTYPE_SERVICE_VLAN)
			break;
		if (at + 4 > end)
			return 0;
		type = be16(at + 2);
		at += 4;
	}
	if (type == ETHERTYPE_IPV4) {
		if (at + 28 > end)
			return 0;
		head = at[0];
		if (head >> 4 != 4 || at[9] != PROTOCOL_UDP || be16(at + 6) & 0x3fff)
			return 0;
		datagram->bytes = be16(at + 2) - (head & 15) * 4;
		datagram->source = at + 12;
		datagram->family = 4;
		at += 20;
		if (unlikely(head != 0x45)) {
			if (head < 0x45)
				return 0;
			/* Constants only: a sum of pointer and variable would want a further capability. */
#pragma GCC unroll 10
			for (options = 0x45; options < 0x4f; options++) {
				if (options == head)
					break;
				at += 4;
				asm volatile("" : "+r"(at));
			}
			if (at + 8 > end)
				return 0;
		}
	} else if (type == ETHERTYPE_IPV6) {
		if (at + 48 > end)
			return 0;
		if (at[0] >> 4 != 6 || at[6] != PROTOCOL_UDP)
			return 0;
		datagram->bytes = be16(at + 4);
		datagram->source = at + 8;
		datagram->family = 6;
		at += 40;
	} else {
		return 0;
	}
	datagram->udp = at;
	datagram->port = be16(at + 2);
	return 1;
}

#endif
