/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One AF_XDP socket with its frame memory (UMEM) and its four rings. libc only.
 *
 * Functions that can fail return 0 or a negative error number. A socket belongs to one thread at a time; only
 * int_xsk_poll may run in another thread meanwhile.
 *
 * The memory is cut into chunks: the first rx_chunks are for receiving, the tx_chunks after them for sending. The owner
 * of every chunk is written down, because addresses come back from code that may have changed them: one that its caller
 * does not own is refused before anything is done.
 */
#ifndef INT_XSK_SOCKET_H
#define INT_XSK_SOCKET_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What the kernel keeps free in front of a received frame. */
#define INT_XSK_HEADROOM 256u

struct int_xsk_config {
	uint32_t ifindex;
	uint32_t queue;
	/* Powers of two; tx_chunks may be 0. */
	uint32_t rx_chunks;
	uint32_t tx_chunks;
	/* 2048 or 4096. */
	uint32_t chunk_size;
	/* Insist on copies, or on none; neither: the driver decides. */
	bool copy;
	bool zero_copy;
	/* Page-aligned, (rx_chunks + tx_chunks) * chunk_size bytes; has to outlive the socket. */
	void *memory;
	/* Added to every address that goes out, taken off every address that comes in. */
	uint32_t base;
};

struct int_xsk_ring {
	void *map;
	size_t map_bytes;
	uint32_t *producer;
	uint32_t *consumer;
	uint32_t *flags;
	void *entries;
	uint32_t mask;
	uint32_t size;
	/* Our own index, and what we last saw of the kernel's. */
	uint32_t own;
	uint32_t seen;
};

/* All counted since the socket was opened. */
struct int_xsk_counters {
	uint64_t received;
	uint64_t received_bytes;
	uint64_t released;
	uint64_t sent;
	uint64_t sent_bytes;
	uint64_t completed;
	/* Of these, frames that the kernel says it has not sent. In zero-copy mode it does not say. */
	uint64_t unsent;
	/* Descriptors of the kernel that made no sense; always 0 unless something writes into the rings. */
	uint64_t foreign;
};

struct int_xsk {
	int fd;
	/* -1, or the packet socket that keeps the interface promiscuous. */
	int promiscuous_fd;
	uint32_t ifindex;
	uint32_t queue;
	uint32_t rx_chunks;
	uint32_t tx_chunks;
	uint32_t chunk_size;
	uint32_t chunk_shift;
	uint32_t base;
	bool zero_copy;
	/* What SO_ERROR said: reading it clears it, and two threads ask. */
	atomic_int error;
	/* An owner (enum chunk_owner) for every chunk. */
	uint8_t *owner;
	/* Numbers of chunks that wait for room in the fill ring, and that are free for sending. */
	uint32_t *rx_free;
	uint32_t *tx_free;
	uint32_t rx_free_count;
	uint32_t tx_free_count;
	struct int_xsk_ring fill;
	struct int_xsk_ring completion;
	struct int_xsk_ring rx;
	struct int_xsk_ring tx;
	struct int_xsk_counters counters;
};

struct int_xsk_kernel_counters {
	uint64_t rx_dropped;
	uint64_t rx_invalid;
	uint64_t rx_ring_full;
	uint64_t fill_ring_empty;
	uint64_t tx_invalid;
	uint64_t tx_ring_empty;
};

/* What is wrong with a row that the caller handed in. */
enum int_xsk_fault {
	/* The address is in no chunk of the kind in question. */
	INT_XSK_FAULT_RANGE = 1,
	/* The caller does not own the chunk: released twice, never received, or already sent. */
	INT_XSK_FAULT_OWNER = 2,
	/* The frame is shorter than an Ethernet header or leaves its chunk. */
	INT_XSK_FAULT_LENGTH = 3,
};

struct int_xsk_problem {
	enum int_xsk_fault fault;
	uint32_t row;
};

/*
 * Makes the socket and everything but the binding to the queue, and fills the fill ring. `step` gets the name of the
 * call that failed. After a failure there is nothing to close.
 */
int int_xsk_open(struct int_xsk *xsk, const struct int_xsk_config *config, const char **step);
/* Binds to the queue. May be tried again after -EBUSY: a closed socket's queue becomes free a little later. */
int int_xsk_bind(struct int_xsk *xsk, const struct int_xsk_config *config);
/* Takes all frames of the network, not only those for the interface's address, until the socket is closed. */
int int_xsk_promiscuous(struct int_xsk *xsk, const char **step);
/* Unmaps the rings and closes the socket; the memory is the caller's. May be called twice. */
void int_xsk_close(struct int_xsk *xsk);

/* Takes up to `capacity` received frames. Returns how many. */
uint32_t int_xsk_receive(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t capacity);
/* Whether a frame is there to be received. */
bool int_xsk_readable(struct int_xsk *xsk);
/* Gives received frames back, all or, if one is not the caller's, none (-EINVAL and `problem`). */
int int_xsk_release(struct int_xsk *xsk, const uint32_t *offsets, uint32_t count, struct int_xsk_problem *problem);

/* Takes up to `count` free frames to send. Returns how many. */
uint32_t int_xsk_acquire(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t count);
/* Gives acquired frames back unsent, all or none. */
int int_xsk_discard(struct int_xsk *xsk, const uint32_t *offsets, uint32_t count, struct int_xsk_problem *problem);
/*
 * Hands acquired frames to the kernel: all that have room in the ring, in order, and none if a row is wrong (-EINVAL).
 * The rows that had no room move to the front of both arrays. `accepted` gets the number of rows that had room, also
 * when the kernel could not be told to send them (another negative error number).
 */
int int_xsk_transmit(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t count, uint32_t *accepted,
		     struct int_xsk_problem *problem);
/* Collects completed frames and tells the kernel of those it has not taken yet. `pending` gets what is left. */
int int_xsk_pending(struct int_xsk *xsk, uint32_t *pending);

/*
 * Waits for a frame to receive, at most timeout_ms (-1: for ever), or until `cancel_fd` (-1: none) is readable.
 * Returns 1, 0 (time out or cancelled), or the socket's error: poll(2) alone never tells of a removed interface.
 */
int int_xsk_poll(struct int_xsk *xsk, int cancel_fd, double timeout_ms);
/* 0, or the error that the socket has got since it was opened, such as -ENETDOWN. */
int int_xsk_error(struct int_xsk *xsk);
int int_xsk_kernel_counters(struct int_xsk *xsk, struct int_xsk_kernel_counters *counters);

#endif
