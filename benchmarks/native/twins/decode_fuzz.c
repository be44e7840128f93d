// SPDX-License-Identifier: Apache-2.0
/*
 * Feeds the decoder valid, mutated, cut and random frames, each in a block of
 * its own exact size, for the sanitizers to watch; checks that counts stay
 * within capacity, that refused frames leave no trace, and that columns never
 * written stay all ones.
 *
 * decode_fuzz [SEED [FRAMES]]
 */
#include "decode_report2.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 64, REPORTS = 48, HOPS = 300 };

static uint64_t random_state;

static uint32_t next(void)
{
	random_state ^= random_state << 13;
	random_state ^= random_state >> 7;
	random_state ^= random_state << 17;
	return random_state >> 16;
}

static void put16(uint8_t *at, uint32_t value)
{
	at[0] = value >> 8;
	at[1] = value;
}

static unsigned int block_words(uint32_t bitmap)
{
	unsigned int words = __builtin_popcount(bitmap);

	return words + __builtin_popcount(bitmap & 0x0e00);
}

/* A valid report of one to a few hops; returns its length. */
static size_t build(uint8_t *out)
{
	static const uint16_t bitmaps[] = { 0x8000, 0xf000, 0xf1c1, 0xffff, 0x9c00 };
	uint32_t bitmap = next() & 1 ? bitmaps[next() % 5] : (next() & 0xffff) | 1;
	uint32_t bits = next() & 3 ? 0 : next() & 0x7ffe;
	unsigned int words = block_words(bitmap);
	unsigned int own = block_words(bits);
	unsigned int hops = next() % 6;
	unsigned int type = 3 + (next() & 1);
	size_t ip = 20 + 4 * own + (type == 3 ? 14 : 0);
	size_t end = ip + 44 + 4 * words * hops;
	size_t size = 12 + (end - 12 + 3) / 4 * 4;
	size_t k;

	for (k = 0; k < size; k++)
		out[k] = next();
	out[0] = 0x20 | (out[0] & 15);
	out[8] = 0x10 | type;
	out[9] = (size - 12) / 4;
	out[10] = own;
	out[11] |= 0x20;
	put16(out + 12, bits);
	put16(out + 16, 0);
	if (type == 3)
		put16(out + ip - 2, 0x0800);
	out[ip] = 0x45;
	put16(out + ip + 2, end - ip);
	put16(out + ip + 6, 0x4000);
	out[ip + 9] = 17;
	put16(out + ip + 22, 5000);
	out[ip + 28] = 0x14;
	out[ip + 29] = 3 + words * hops;
	out[ip + 32] = 0x20 | (out[ip + 32] & 15);
	out[ip + 34] = words;
	put16(out + ip + 36, bitmap);
	put16(out + ip + 40, 0);
	return size;
}

static void fail(const char *what, uint32_t number)
{
	fprintf(stderr, "frame %u: %s\n", number, what);
	exit(1);
}

/* The last report's Ethernet header lies in the frame and carries IPv4. */
static void check_ethernet(const struct int_batch *batch, const uint8_t *frame,
			   uint32_t length, uint32_t number)
{
	uint32_t at = batch->report_words[batch->state[INT_STATE_REPORTS] - 1 +
					  (size_t)INT_COLUMN_ETHERNET *
						  batch->report_stride];

	if (at == 0xffffffff)
		return;
	if (at > length - 14 || frame[at + 12] != 8 || frame[at + 13])
		fail("the Ethernet header is elsewhere", number);
}

int main(int argc, char **argv)
{
	static const uint32_t zero;
	struct int_settings settings = { 0, 32766, { 5000, INT_NO_PORT }, 0, 1 };
	size_t size = int_batch_size(FRAMES, REPORTS, HOPS);
	struct int_plans *plans = calloc(1, sizeof(*plans));
	uint32_t frames = argc > 2 ? strtoul(argv[2], NULL, 10) : 60000;
	uint8_t *memory = aligned_alloc(64, size);
	uint8_t *before = malloc(size);
	struct int_batch batch;
	uint32_t accepted = 0;
	uint32_t number;

	random_state = argc > 1 ? strtoull(argv[1], NULL, 10) : 0x243f6a8885a308d3;
	if (!plans || !memory || !before || !random_state)
		return 1;
	int_batch_init(&batch, memory, FRAMES, REPORTS, HOPS);
	memset(memory, 0, size);
	int_batch_reset(&batch);
	for (number = 0; number < frames; number++) {
		uint8_t report[4096];
		uint32_t length;
		uint8_t *frame;
		uint32_t kind = next() % 8;
		uint32_t column;

		settings.ethernet = next() & 1;
		memset(report, 0, 42);
		length = build(report + 42);
		if (length > 12 + 4 * 254)
			continue;
		if (settings.ethernet) {
			put16(report + 12, 0x0800);
			report[14] = 0x45;
			put16(report + 16, 28 + length);
			report[23] = 17;
			put16(report + 36, 32766);
			put16(report + 38, 8 + length);
			length += 42;
		} else {
			memmove(report, report + 42, length);
		}
		while (kind < 4 && kind--)
			report[next() % length] ^= 1u << next() % 8;
		if (kind == 4)
			length = next() % (length + 1);
		if (kind == 5) {
			length = next() % 200;
			for (column = 0; column < length; column++)
				report[column] = next();
		}
		frame = malloc(length ? length : 1);
		if (!frame)
			return 1;
		memcpy(frame, report, length);
		memcpy(before, memory, size);
		if (int_decode_report2(&settings, plans, &batch, frame, length,
				       &zero, &length, 0, 1)) {
			accepted++;
			check_ethernet(&batch, frame, length, number);
		} else if (memcmp(before, memory, size))
			fail("refused, but the batch changed", number);
		free(frame);
		if (batch.state[INT_STATE_FRAMES] > FRAMES ||
		    batch.state[INT_STATE_REPORTS] > REPORTS ||
		    batch.state[INT_STATE_HOPS] > HOPS)
			fail("more rows than capacity", number);
		for (column = 0; column < INT_HOP_COLUMNS; column++) {
			uint32_t *words = batch.hop_words + column * batch.hop_stride;
			uint32_t row;

			if ((uint32_t)batch.state[INT_STATE_WRITTEN] >> column & 1)
				continue;
			for (row = 0; row < batch.hop_stride; row++)
				if (words[row] != 0xffffffff)
					fail("a column never written changed", number);
		}
		/* Fill some batches up, and forget written columns now and then. */
		if (next() % 60 == 0)
			int_batch_clear(&batch);
		if (next() % 300 == 0)
			int_batch_reset(&batch);
	}
	/* Offsets and lengths that point outside the input. */
	for (number = 0; number < 1000; number++) {
		uint8_t bytes[64] = { 0 };
		uint32_t offset = next() * 2654435761u;
		uint32_t length = number & 1 ? next() * 2654435761u : 64;

		if ((uint64_t)offset + length <= sizeof(bytes))
			continue;
		if (int_decode_report2(&settings, plans, &batch, bytes,
				       sizeof(bytes), &offset, &length, 0, 1))
			fail("accepted from outside the input", number);
	}
	printf("%u frames, %u accepted\n", frames, accepted);
	if (accepted < frames / 20)
		fail("too few accepted: the generator is at fault", frames);
	free(before);
	free(memory);
	free(plans);
	return 0;
}
