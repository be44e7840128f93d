// SPDX-License-Identifier: Apache-2.0
/*
 * Hashes of flow keys held as columns: XXH32 over the 13 or 37 bytes of the
 * key, or CRC-32. All rows are first hashed as IPv4, in a loop that compilers
 * turn into vector instructions; those of IPv6 flows then again.
 */
#include "detect_crc.h"
#include "flowcache.h"

enum { COL_FLAGS = 1, COL_PORTS = 6, COL_SOURCE0 = 7, COL_DESTINATION0 = 11 };

#define FLAG_IPV6 (1u << 19)

#define P1 0x9e3779b1u
#define P2 0x85ebca77u
#define P3 0xc2b2ae3du
#define P4 0x27d4eb2fu
#define P5 0x165667b1u

static inline uint32_t rotl(uint32_t word, int by)
{
	return word << by | word >> (32 - by);
}

static inline uint32_t mix_lane(uint32_t hash, uint32_t lane)
{
	return rotl(hash + lane * P3, 17) * P4;
}

/* The last five bytes of a key: the protocol, and the ports across a lane. */
static inline uint32_t finish(uint32_t hash, uint32_t protocol, uint32_t ports)
{
	hash = mix_lane(hash, __builtin_bswap32(ports) << 8 | protocol);
	hash = rotl(hash + (ports & 0xff) * P5, 11) * P1;
	hash = (hash ^ hash >> 15) * P2;
	hash = (hash ^ hash >> 13) * P3;
	return hash ^ hash >> 16;
}

static inline uint32_t round_word(uint32_t accumulator, uint32_t word)
{
	return rotl(accumulator + __builtin_bswap32(word) * P2, 13) * P1;
}

static uint32_t xxh32_ipv6(const uint32_t *source, const uint32_t *destination,
			   size_t stride, uint32_t protocol, uint32_t ports, uint32_t seed)
{
	uint32_t a = round_word(seed + P1 + P2, source[0]);
	uint32_t b = round_word(seed + P2, source[stride]);
	uint32_t c = round_word(seed, source[2 * stride]);
	uint32_t d = round_word(seed - P1, source[3 * stride]);

	a = round_word(a, destination[0]);
	b = round_word(b, destination[stride]);
	c = round_word(c, destination[2 * stride]);
	d = round_word(d, destination[3 * stride]);
	return finish(rotl(a, 1) + rotl(b, 7) + rotl(c, 12) + rotl(d, 18) + 37, protocol, ports);
}

static uint32_t crc32_ipv6(const uint32_t *source, const uint32_t *destination,
			   size_t stride, uint8_t protocol, uint32_t ports)
{
	uint32_t crc = ~0u;

	crc = detect_crc_12(crc, source[0], source[stride], source[2 * stride]);
	crc = detect_crc_12(crc, source[3 * stride], destination[0], destination[stride]);
	crc = detect_crc_13(crc, destination[2 * stride], destination[3 * stride], protocol, ports);
	return ~crc;
}

void flowcache_hash(const struct flowcache *cache, const struct int_batch *batch,
		    uint32_t from, uint32_t to, uint32_t *restrict out)
{
	const size_t stride = batch->report_stride;
	const uint32_t *flags = batch->report_words + COL_FLAGS * stride + from;
	const uint32_t *ports = batch->report_words + COL_PORTS * stride + from;
	const uint32_t *source = batch->report_words + COL_SOURCE0 * stride + from;
	const uint32_t *destination = batch->report_words + COL_DESTINATION0 * stride + from;
	const uint8_t *protocol = batch->protocol + from;
	const uint32_t count = to - from, seed = cache->seed;
	uint32_t any = 0, k;

	if (cache->crc) {
		for (k = 0; k < count; k++) {
			out[k] = ~detect_crc_13(~0u, source[k], destination[k], protocol[k], ports[k]);
			any |= flags[k];
		}
	} else {
		for (k = 0; k < count; k++) {
			uint32_t hash = seed + P5 + 13;

			hash = mix_lane(hash, __builtin_bswap32(source[k]));
			hash = mix_lane(hash, __builtin_bswap32(destination[k]));
			out[k] = finish(hash, protocol[k], ports[k]);
			any |= flags[k];
		}
	}
	if (!(any & FLAG_IPV6))
		return;
	for (k = 0; k < count; k++) {
		if (!(flags[k] & FLAG_IPV6))
			continue;
		out[k] = cache->crc ?
			 crc32_ipv6(source + k, destination + k, stride, protocol[k], ports[k]) :
			 xxh32_ipv6(source + k, destination + k, stride, protocol[k], ports[k], seed);
	}
}
