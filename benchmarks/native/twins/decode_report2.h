/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Telemetry report v2.0 that carries INT-MD over UDP over IPv4, decoded into
 * columns: the C twin of the fast path of @int/codec. Same predicate, same
 * memory layout, so that either can fill a batch for the other.
 */
#ifndef INT_DECODE_REPORT2_H
#define INT_DECODE_REPORT2_H

#include <stddef.h>
#include <stdint.h>

/* Words of the state block at the start of a batch. */
enum {
	INT_STATE_FRAMES = 0,
	INT_STATE_REPORTS = 1,
	INT_STATE_HOPS = 2,
	INT_STATE_WRITTEN = 3,
	INT_STATE_DROPS = 4,
	INT_STATE_WORDS = 16,
};

enum {
	INT_REPORT_WORD_COLUMNS = 18,
	INT_HOP_COLUMNS = 27,
	/* Behind the hop columns: offset, length and time of each frame, for TypeScript alone. */
	INT_FRAME_WORD_COLUMNS = 4,
};

/*
 * Report column: offset in the input of the Ethernet header of the packet that
 * the report is about, or all ones.
 */
enum {
	INT_COLUMN_ETHERNET = 17,
};

/* A value that no 16-bit port equals. */
#define INT_NO_PORT 0x10000u

/* What marks a report and an INT packet. */
struct int_settings {
	uint32_t ethernet;	/* 1: frames are Ethernet frames, 0: UDP payloads */
	uint32_t report_port;	/* UDP port of reports if ethernet, else INT_NO_PORT */
	uint32_t int_port[2];	/* ports of NPT 1, or INT_NO_PORT */
	uint32_t tos_mask;	/* DSCP marking over the TOS byte; none: 0 and 1 */
	uint32_t tos_value;
};

/* A batch: pointers into one block of memory, see int_batch_init(). */
struct int_batch {
	int32_t *state;
	uint8_t *frame_code;
	uint8_t *code;
	uint8_t *hop_count;
	uint8_t *protocol;
	uint32_t *report_words;	/* column c at c * report_stride */
	uint32_t *hop_words;	/* column c at c * hop_stride */
	uint32_t report_stride;
	uint32_t hop_stride;
	uint32_t frames;
	uint32_t reports;
	uint32_t hops;
};

/* Where the words of one block go. */
struct int_plan {
	uint32_t mask;		/* bit c: column c is written */
	uint8_t words;
	uint8_t compiled;
	uint8_t column[26];	/* of a word that goes to two, the first */
	uint8_t split[26];	/* bits of the lower part of such a word, else 0 */
	uint32_t splits;	/* bit w: word w goes to two columns */
};

/* Plans of all bitmaps, filled on first use. 2 x 4 MB, so keep one. */
struct int_plans {
	struct int_plan stack[0x10000];
	struct int_plan own[0x10000];
};

/* Bytes that int_batch_init() needs for this capacity. */
size_t int_batch_size(uint32_t frames, uint32_t reports, uint32_t hops);

/*
 * Lays a batch out in memory (64-byte aligned, int_batch_size() bytes). Does
 * not touch the memory; int_batch_reset() does, once, before first use.
 */
void int_batch_init(struct int_batch *batch, void *memory, uint32_t frames,
		    uint32_t reports, uint32_t hops);
void int_batch_reset(struct int_batch *batch);

/* Forgets all rows. */
void int_batch_clear(struct int_batch *batch);

/*
 * Decodes frames from..to-1 of bytes[0..size), frame i being
 * bytes[offsets[i] .. offsets[i] + lengths[i]). Returns the index of the first
 * frame that is not of the shape, or for which rows are missing; or to. Such a
 * frame leaves no trace. Reads nothing outside a frame.
 */
uint32_t int_decode_report2(const struct int_settings *settings,
			    struct int_plans *plans, struct int_batch *batch,
			    const uint8_t *bytes, size_t size,
			    const uint32_t *offsets, const uint32_t *lengths,
			    uint32_t from, uint32_t to);

#endif
