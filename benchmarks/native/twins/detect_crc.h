/* SPDX-License-Identifier: Apache-2.0 */
/*
 * CRC-32 (zlib's) of flow keys held as words, sliced: one table for each of the
 * 13 bytes of an IPv4 key, so that the look-ups do not wait for one another.
 */
#ifndef INT_DETECT_CRC_H
#define INT_DETECT_CRC_H

#include <stdint.h>

enum { DETECT_CRC_TABLES = 13 };

extern uint32_t detect_crc_table[DETECT_CRC_TABLES][256];

/* Fills the tables; call once. */
void detect_crc_init(void);

/*
 * One step over 12 bytes: a register (as it stands, xored with the first
 * little-endian word) and two words more. Words are big-endian numbers.
 */
static inline uint32_t detect_crc_12(uint32_t crc, uint32_t a, uint32_t b, uint32_t c)
{
	uint32_t first = crc ^ __builtin_bswap32(a);

	return detect_crc_table[11][first & 255] ^
	       detect_crc_table[10][first >> 8 & 255] ^
	       detect_crc_table[9][first >> 16 & 255] ^
	       detect_crc_table[8][first >> 24] ^
	       detect_crc_table[7][b >> 24] ^
	       detect_crc_table[6][b >> 16 & 255] ^
	       detect_crc_table[5][b >> 8 & 255] ^
	       detect_crc_table[4][b & 255] ^
	       detect_crc_table[3][c >> 24] ^
	       detect_crc_table[2][c >> 16 & 255] ^
	       detect_crc_table[1][c >> 8 & 255] ^
	       detect_crc_table[0][c & 255];
}

/* One step over 13 bytes: two words, a byte, a word. */
static inline uint32_t detect_crc_13(uint32_t crc, uint32_t a, uint32_t b,
				     uint8_t protocol, uint32_t ports)
{
	uint32_t first = crc ^ __builtin_bswap32(a);

	return detect_crc_table[12][first & 255] ^
	       detect_crc_table[11][first >> 8 & 255] ^
	       detect_crc_table[10][first >> 16 & 255] ^
	       detect_crc_table[9][first >> 24] ^
	       detect_crc_table[8][b >> 24] ^
	       detect_crc_table[7][b >> 16 & 255] ^
	       detect_crc_table[6][b >> 8 & 255] ^
	       detect_crc_table[5][b & 255] ^
	       detect_crc_table[4][protocol] ^
	       detect_crc_table[3][ports >> 24] ^
	       detect_crc_table[2][ports >> 16 & 255] ^
	       detect_crc_table[1][ports >> 8 & 255] ^
	       detect_crc_table[0][ports & 255];
}

#endif
