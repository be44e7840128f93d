/* SPDX-License-Identifier: Apache-2.0 */
/* CRC-32 as zlib computes it, of 12 or 13 bytes at once: a table for each place. */
#ifndef INT_CRC_H
#define INT_CRC_H

#include "crc_tables.h"

#ifndef INLINE
#define INLINE static inline __attribute__((always_inline))
#endif

/* Four bytes as they lie in memory, `behind` bytes before the end. */
#define CRC_WORD(word, behind) \
	(crc_tables[(behind) + 3][(word) & 255] ^ crc_tables[(behind) + 2][(word) >> 8 & 255] ^ \
	 crc_tables[(behind) + 1][(word) >> 16 & 255] ^ crc_tables[behind][(word) >> 24])

/* Three words as they lie in memory. */
INLINE uint32_t crc_12(uint32_t crc, uint32_t a, uint32_t b, uint32_t c)
{
	a ^= crc;
	return CRC_WORD(a, 8) ^ CRC_WORD(b, 4) ^ CRC_WORD(c, 0);
}

/* Two words as they lie in memory, a byte, and a number that is to be big-endian. */
INLINE uint32_t crc_13(uint32_t crc, uint32_t a, uint32_t b, uint32_t byte, uint32_t number)
{
	const uint32_t c = __builtin_bswap32(number);

	a ^= crc;
	return CRC_WORD(a, 9) ^ CRC_WORD(b, 5) ^ crc_tables[4][byte & 255] ^ CRC_WORD(c, 0);
}

#endif
