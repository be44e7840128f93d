// SPDX-License-Identifier: Apache-2.0
/*
 * Telemetry report v2.0 with INT-MD: columnar decoder. See decode_report2.h.
 */
#include "decode_report2.h"

#include <string.h>

/* Columns of a report, in words. */
enum {
	COL_FRAME = 0,
	COL_FLAGS = 1,
	COL_NODE_ID = 2,
	COL_SEQUENCE = 3,
	COL_INSTRUCTIONS = 4,
	COL_HOP_START = 5,
	COL_PORTS = 6,
	COL_SOURCE0 = 7,
	COL_DESTINATION0 = 11,
	COL_DROP = 16,
	COL_ETHERNET = INT_COLUMN_ETHERNET,
};

/* Report v2.0, mode md, INT version 2, encapsulation udp, flow known. */
#define BASE_FLAGS (3u | 1u << 6 | 3u << 9 | 1u << 12 | 1u << 18)
#define FLAG_OWN (1u << 20)

/* IPv4 20, UDP 8, shim 4, metadata header 12. */
#define INNER_BYTES 44u
#define SHORTEST_PAYLOAD (20u + INNER_BYTES)

#define likely(x) __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

static inline uint32_t be32(const uint8_t *at)
{
	uint32_t value;

	memcpy(&value, at, sizeof(value));
	return __builtin_bswap32(value);
}

static inline uint32_t be16(const uint8_t *at)
{
	uint16_t value;

	memcpy(&value, at, sizeof(value));
	return __builtin_bswap16(value);
}

/* First column of each instruction bit; bits 4 to 6 take two words. */
static const uint8_t first_column[16] = {
	0, 1, 3, 4, 6, 8, 10, 12, 13, 19, 20, 21, 22, 23, 24, 15,
};

/* Bits of the lower part of an item that is one word and two columns. */
static const uint8_t split_bits[16] = { [1] = 16, [3] = 24, [8] = 24 };

/* Instruction bits 0 to 3: node id, interfaces, hop latency, queue. */
#define FIRST_FOUR 0xf000u

static void compile(struct int_plan *plan, uint32_t bitmap)
{
	unsigned int bit;

	plan->words = 0;
	plan->mask = 0;
	plan->splits = 0;
	for (bit = 0; bit < 16; bit++) {
		unsigned int words = bit >= 4 && bit <= 6 ? 2 : 1;
		unsigned int k;

		if (!(bitmap & 0x8000u >> bit))
			continue;
		for (k = 0; k < words; k++) {
			if (split_bits[bit]) {
				plan->splits |= 1u << plan->words;
				plan->mask |= 2u << first_column[bit];
			}
			plan->split[plan->words] = split_bits[bit];
			plan->column[plan->words++] = first_column[bit] + k;
			plan->mask |= 1u << (first_column[bit] + k);
		}
	}
	plan->compiled = 1;
}

static uint32_t stride_words(uint32_t rows)
{
	return ((rows + 15) / 16 | 1) * 16;
}

static size_t line(size_t bytes)
{
	return (bytes + 63) / 64 * 64;
}

size_t int_batch_size(uint32_t frames, uint32_t reports, uint32_t hops)
{
	return line(INT_STATE_WORDS * 4) + line(frames) + 3 * line(reports) +
	       (size_t)stride_words(reports) * INT_REPORT_WORD_COLUMNS * 4 +
	       (size_t)stride_words(hops) * INT_HOP_COLUMNS * 4 +
	       INT_FRAME_WORD_COLUMNS * line((size_t)frames * 4);
}

void int_batch_init(struct int_batch *batch, void *memory, uint32_t frames,
		    uint32_t reports, uint32_t hops)
{
	uint8_t *at = memory;

	batch->frames = frames;
	batch->reports = reports;
	batch->hops = hops;
	batch->report_stride = stride_words(reports);
	batch->hop_stride = stride_words(hops);
	batch->state = (int32_t *)at;
	at += line(INT_STATE_WORDS * 4);
	batch->frame_code = at;
	at += line(frames);
	batch->code = at;
	at += line(reports);
	batch->hop_count = at;
	at += line(reports);
	batch->protocol = at;
	at += line(reports);
	batch->report_words = (uint32_t *)at;
	at += (size_t)batch->report_stride * INT_REPORT_WORD_COLUMNS * 4;
	batch->hop_words = (uint32_t *)at;
}

void int_batch_reset(struct int_batch *batch)
{
	memset(batch->state, 0, INT_STATE_WORDS * 4);
	memset(batch->report_words + (size_t)COL_DROP * batch->report_stride,
	       0xff, (size_t)batch->report_stride * 4);
	memset(batch->hop_words, 0xff,
	       (size_t)batch->hop_stride * INT_HOP_COLUMNS * 4);
}

void int_batch_clear(struct int_batch *batch)
{
	batch->state[INT_STATE_FRAMES] = 0;
	batch->state[INT_STATE_REPORTS] = 0;
	batch->state[INT_STATE_HOPS] = 0;
}

static void blank(uint32_t *hop_words, size_t stride, uint32_t columns,
		  size_t row, size_t rows)
{
	while (columns) {
		unsigned int column = __builtin_ctz(columns);

		columns &= columns - 1;
		memset(hop_words + column * stride + row, 0xff, rows * 4);
	}
}

static inline uint32_t min32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline int is_tunnel(uint32_t port)
{
	return port == 6081 || port == 4790 || port == 4789 || port == 54321;
}

/*
 * Frames mostly lie one behind the other, and a report is up to a few lines
 * long: ask for what will be decoded in 10 to 20 reports' time. The hardware
 * does so too, but not across pages.
 */
static inline void fetch_ahead(const uint8_t *at)
{
	uintptr_t ahead = (uintptr_t)at + 2048;

	__builtin_prefetch((const void *)ahead);
	__builtin_prefetch((const void *)(ahead + 64));
	__builtin_prefetch((const void *)(ahead + 128));
	__builtin_prefetch((const void *)(ahead + 192));
}

/* Writes a word to two columns: what is above its lower bits, and those. */
static inline void split(uint32_t *cell, size_t stride, uint32_t value,
			 unsigned int bits)
{
	cell[0] = value >> bits;
	cell[stride] = value & ((1u << bits) - 1);
	if (unlikely(value == ~0u))
		cell[0] = cell[stride] = ~0u;
}

/*
 * A hop's words go to as many columns as there are words, or one more for
 * each that has two parts. Four columns are written per pass, so that their
 * addresses stay in registers.
 */
static inline void scatter(uint32_t *restrict last, size_t stride,
			   const struct int_plan *plan, uint32_t bitmap,
			   const uint8_t *restrict stack,
			   const uint8_t *restrict end)
{
	unsigned int words = plan->words;
	size_t block = (size_t)words * 4;
	unsigned int word = 0;

	if ((bitmap & FIRST_FOUR) == FIRST_FOUR) {
		/* What most stacks begin with, in columns that are known. */
		uint32_t *cell = last;
		const uint8_t *at;

		for (at = stack; at < end; at += block, cell--) {
			cell[0] = be32(at);
			split(cell + stride, stride, be32(at + 4), 16);
			cell[3 * stride] = be32(at + 8);
			split(cell + 4 * stride, stride, be32(at + 12), 24);
		}
		word = 4;
	}
	for (; word + 4 <= words && !(plan->splits >> word & 15); word += 4) {
		uint32_t *c0 = last + plan->column[word] * stride;
		uint32_t *c1 = last + plan->column[word + 1] * stride;
		uint32_t *c2 = last + plan->column[word + 2] * stride;
		uint32_t *c3 = last + plan->column[word + 3] * stride;
		const uint8_t *at;

		for (at = stack + word * 4; at < end; at += block) {
			*c0-- = be32(at);
			*c1-- = be32(at + 4);
			*c2-- = be32(at + 8);
			*c3-- = be32(at + 12);
		}
	}
	for (; word < words; word++) {
		uint32_t *cell = last + plan->column[word] * stride;
		const uint8_t *at;

		if (plan->split[word]) {
			for (at = stack + word * 4; at < end; at += block)
				split(cell--, stride, be32(at), plan->split[word]);
		} else {
			for (at = stack + word * 4; at < end; at += block)
				*cell-- = be32(at);
		}
	}
}

uint32_t int_decode_report2(const struct int_settings *settings,
			    struct int_plans *plans, struct int_batch *batch,
			    const uint8_t *bytes, size_t size,
			    const uint32_t *offsets, const uint32_t *lengths,
			    uint32_t from, uint32_t to)
{
	const struct int_settings set = *settings;
	uint8_t *restrict hop_count = batch->hop_count;
	uint32_t *restrict hop_words = batch->hop_words;
	const size_t rs = batch->report_stride;
	const size_t stride = batch->hop_stride;
	const uint32_t hop_capacity = batch->hops;
	const uint32_t frame = batch->state[INT_STATE_FRAMES];
	const uint32_t row0 = batch->state[INT_STATE_REPORTS];
	uint32_t row = row0;
	uint32_t hop_row = batch->state[INT_STATE_HOPS];
	uint32_t written = batch->state[INT_STATE_WRITTEN];
	const int drops = batch->state[INT_STATE_DROPS] != 0;
	const struct int_plan *plan = &plans->stack[0];
	uint32_t plan_bitmap = 0;
	uint32_t reciprocal = 0;
	uint32_t index = from;
	uint32_t stop = to;
	uint32_t count, k;

	if (from >= to || frame >= batch->frames || row >= batch->reports)
		return from;
	stop = from + min32(to - from, min32(batch->frames - frame,
					     batch->reports - row));

	for (; index < stop; index++) {
		const size_t offset = offsets[index];
		const size_t length = lengths[index];
		const uint8_t *at = bytes + offset;
		size_t payload = length;
		uint32_t group, header, type, report_bits, own_words, inner;
		uint32_t ip0, ports, shim, kind, shim_words, inner_bytes, head;
		uint32_t bitmap, stack_words, hops, rows, flags;
		const struct int_plan *own = NULL;
		const uint8_t *ip;
		uint32_t *report;

		fetch_ahead(at);
		if (unlikely(offset + length > size || length < SHORTEST_PAYLOAD))
			break;
		if (set.ethernet) {
			uint32_t total = be16(at + 16);

			if (be16(at + 12) != 0x0800 || at[14] != 0x45 ||
			    at[23] != 17 || be16(at + 20) & 0x3fff ||
			    be16(at + 36) != set.report_port ||
			    be16(at + 38) + 20 != total ||
			    total + 14 > length ||
			    total < 28 + SHORTEST_PAYLOAD)
				break;
			payload = total - 28;
			at += 42;
		}

		/* Group header, individual report header, main contents. */
		group = be32(at);
		header = be32(at + 8);
		type = header >> 24;
		if (unlikely(group >> 28 != 2 || (type != 0x13 && type != 0x14) ||
			     !(header & 0x20) || (header >> 16 & 255) == 255 ||
			     12 + 4 * (header >> 16 & 255) != payload ||
			     be16(at + 16)))
			break;
		report_bits = be16(at + 12);
		own_words = header >> 8 & 255;
		if (report_bits) {
			if (report_bits & 0x8001)
				break;
			own = &plans->own[report_bits];
			if (unlikely(!own->compiled))
				compile(&plans->own[report_bits], report_bits);
			if (own->words != own_words)
				break;
		} else if (own_words) {
			break;
		}

		/* Monitored packet: [Ethernet] IPv4 UDP. */
		inner = 20 + 4 * own_words;
		if (type == 0x13) {
			inner += 14;
			if (unlikely(inner + INNER_BYTES > payload ||
				     be16(at + inner - 2) != 0x0800))
				break;
		} else if (inner + INNER_BYTES > payload) {
			break;
		}
		ip = at + inner;
		ip0 = be32(ip);
		if (unlikely(ip0 >> 24 != 0x45 || ip[9] != 17 ||
			     (be16(ip + 6) & 0x3fff)))
			break;
		ports = be32(ip + 20);

		/* Shim: type 1 (MD); NPT by the kind of marking. */
		shim = be32(ip + 28);
		kind = shim >> 26;
		if (likely((ports & 0xffff) == set.int_port[0] ||
			   (ports & 0xffff) == set.int_port[1])) {
			if (unlikely(kind != (1 << 2 | 1)))
				break;
			ports = (ports & 0xffff0000) | (shim & 0xffff);
		} else if ((ip0 >> 16 & set.tos_mask) != set.tos_value ||
			   kind != 1 << 2 || is_tunnel(ports & 0xffff)) {
			break;
		}
		shim_words = shim >> 16 & 255;
		inner_bytes = 32 + 4 * shim_words;
		if (unlikely(shim_words < 3 || inner + inner_bytes > payload ||
			     inner_bytes > (ip0 & 0xffff)))
			break;

		/* Metadata header. */
		head = be32(ip + 32);
		bitmap = be16(ip + 36);
		if (unlikely(head >> 28 != 2 || be16(ip + 40)))
			break;
		if (unlikely(bitmap != plan_bitmap)) {
			plan = &plans->stack[bitmap];
			if (!plan->compiled)
				compile(&plans->stack[bitmap], bitmap);
			plan_bitmap = bitmap;
			/* Exact for dividends up to 252; 0 for bitmap 0. */
			reciprocal = bitmap ? 65535 / plan->words + 1 : 0;
		}
		/* Bitmap 0 never gets past a metadata length of 0. */
		if (unlikely((head >> 8 & 31) != plan->words || !bitmap))
			break;
		stack_words = shim_words - 3;
		hops = stack_words * reciprocal >> 16;
		if (unlikely(hops * plan->words != stack_words))
			break;
		rows = hops + (own_words != 0);
		if (unlikely(hop_row + rows > hop_capacity))
			break;

		/* Accepted. Some columns are filled behind the loop. */
		hop_count[row] = rows;
		flags = BASE_FLAGS | (header & 0xf0) >> 2 |
			(head >> 10 & 7u << 15) | (group << 2 & 0x3f000000);
		report = batch->report_words + row;
		report[COL_FLAGS * rs] = own_words ? flags | FLAG_OWN : flags;
		report[COL_NODE_ID * rs] = be32(at + 4);
		report[COL_SEQUENCE * rs] = group & 0x3fffff;
		report[COL_INSTRUCTIONS * rs] = bitmap << 16 | report_bits;
		report[COL_HOP_START * rs] = hop_row;
		report[COL_PORTS * rs] = ports;
		report[COL_SOURCE0 * rs] = be32(ip + 12);
		report[COL_DESTINATION0 * rs] = be32(ip + 16);
		report[COL_ETHERNET * rs] =
			type == 0x13 ? (uint32_t)(ip - 14 - bytes) : ~0u;

		/* Path order: the first block on the wire is the last hop. */
		if (unlikely(written & ~plan->mask))
			blank(hop_words, stride, written & ~plan->mask, hop_row,
			      hops);
		scatter(hop_words + hop_row + hops - 1, stride, plan, bitmap,
			ip + INNER_BYTES, ip + inner_bytes);
		hop_row += hops;
		written |= plan->mask;

		if (own_words) {
			uint32_t mask = own->mask | 1;
			uint32_t k;

			if (written & ~mask)
				blank(hop_words, stride, written & ~mask,
				      hop_row, 1);
			hop_words[hop_row] = be32(at + 4);
			for (k = 0; k < own_words; k++) {
				uint32_t *cell = hop_words + own->column[k] * stride + hop_row;
				uint32_t value = be32(at + 20 + 4 * k);

				if (own->split[k])
					split(cell, stride, value, own->split[k]);
				else
					*cell = value;
			}
			hop_row++;
			written |= mask;
		}
		row++;
	}

	/* Columns that are constant, or count up, over the run. */
	count = row - row0;
	memset(batch->frame_code + frame, 0, count);
	memset(batch->code + row0, 0, count);
	memset(batch->protocol + row0, 17, count);
	for (k = 0; k < count; k++)
		batch->report_words[COL_FRAME * rs + row0 + k] = frame + k;
	if (drops)
		memset(batch->report_words + COL_DROP * rs + row0, 0xff,
		       (size_t)count * 4);
	batch->state[INT_STATE_FRAMES] = frame + count;
	batch->state[INT_STATE_REPORTS] = row;
	batch->state[INT_STATE_HOPS] = hop_row;
	batch->state[INT_STATE_WRITTEN] = written;
	return index;
}
