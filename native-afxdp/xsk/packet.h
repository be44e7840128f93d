/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One AF_PACKET socket on an interface: frames of a network, in batches, by recvmmsg(2) and sendmmsg(2). libc only.
 *
 * Functions that can fail return 0 or a negative error number. A socket belongs to one thread at a time; only
 * int_packet_poll may run in another thread meanwhile.
 *
 * The memory has INT_PACKET_SLOTS slots for receiving and as many behind them for sending.
 */
#ifndef INT_XSK_PACKET_H
#define INT_XSK_PACKET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Frames of one call of the kernel. */
#define INT_PACKET_SLOTS 64u
/* Bytes of a slot in front of a received frame, for a VLAN tag that the kernel has taken out. */
#define INT_PACKET_TAG 4u

/* All counted since the socket was opened. */
struct int_packet_counters {
	uint64_t received;
	uint64_t received_bytes;
	uint64_t sent;
	uint64_t sent_bytes;
	/* Received frames that are longer than a slot, or segments that a card was to cut. */
	uint64_t too_long;
	/* Frames that the kernel refused to send, such as those beyond the MTU. */
	uint64_t refused;
	/* Received frames whose checksum the sender had left to a card; it has been computed. */
	uint64_t completed;
	/* The kernel had no room. */
	uint64_t dropped;
};

struct int_packet {
	int fd;
	uint32_t ifindex;
	uint32_t slot_bytes;
	uint8_t *memory;
	struct int_packet_counters counters;
};

/*
 * Opens a socket for all frames of an interface but those that leave by it, also those for other stations.
 * `memory`: 2 * INT_PACKET_SLOTS * slot_bytes bytes, to outlive the socket. `step` gets the name of the call that failed.
 */
int int_packet_open(struct int_packet *packet, uint32_t ifindex, uint32_t slot_bytes, uint32_t buffer_bytes,
		    uint8_t *memory, const char **step);
void int_packet_close(struct int_packet *packet);

/*
 * Takes up to `most` (at most INT_PACKET_SLOTS) frames into the slots for receiving, which it overwrites. Returns their
 * number or a negative error number; 0: none is there.
 */
int int_packet_receive(struct int_packet *packet, uint32_t *offsets, uint32_t *lengths, uint32_t most);

/*
 * Sends frames that lie in slots for sending: row i in slot i, or a later one. Rows for which the kernel has no room
 * move to the front of both arrays, and `left` gets their number. Returns 0 or the error of the interface.
 */
int int_packet_transmit(struct int_packet *packet, uint32_t *offsets, uint32_t *lengths, uint32_t count, uint32_t *left);

/* As int_xsk_poll, but an error is told once: that of an interface that was down for a time. */
int int_packet_poll(struct int_packet *packet, int cancel_fd, double timeout_ms);
int int_packet_error(struct int_packet *packet);
/* Adds what the kernel has dropped to the counters. */
int int_packet_count(struct int_packet *packet);

#endif
