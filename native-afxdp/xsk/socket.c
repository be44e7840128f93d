// SPDX-License-Identifier: Apache-2.0
/*
 * AF_XDP socket: see socket.h. The rings' protocol is that of the kernel's Documentation/networking/af_xdp.rst: the
 * producer writes entries, then releases its index; the consumer acquires that index, reads the entries, then releases
 * its own.
 */
#include "socket.h"

#include "wait.h"

#include <errno.h>
#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_XDP
#define AF_XDP 44
#endif
#ifndef SOL_XDP
#define SOL_XDP 283
#endif

#define ETHERNET_HEADER 14u
/* Smallest ring: the kernel wants fill and completion rings even where nothing is sent. */
#define SMALLEST_RING 64u

enum chunk_owner {
	OWNER_FREE = 0,
	OWNER_FILL_RING = 1,
	OWNER_RECEIVED = 2,
	OWNER_ACQUIRED = 3,
	OWNER_SENT = 4,
};

static uint32_t load_acquire(const uint32_t *at)
{
	return __atomic_load_n(at, __ATOMIC_ACQUIRE);
}

static void store_release(uint32_t *at, uint32_t value)
{
	__atomic_store_n(at, value, __ATOMIC_RELEASE);
}

static bool needs_wakeup(const struct int_xsk_ring *ring)
{
	return (__atomic_load_n(ring->flags, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP) != 0;
}

/* Entries that the kernel has produced and we have not consumed. */
static uint32_t available(struct int_xsk_ring *ring)
{
	uint32_t entries = ring->seen - ring->own;

	if (entries != 0)
		return entries;
	ring->seen = load_acquire(ring->producer);
	entries = ring->seen - ring->own;
	/* No such number comes from the kernel. */
	return entries <= ring->size ? entries : 0;
}

/* Entries that we may produce, up to `wanted`. */
static uint32_t room(struct int_xsk_ring *ring, uint32_t wanted)
{
	uint32_t used = ring->own - ring->seen;

	if (used + wanted > ring->size) {
		ring->seen = load_acquire(ring->consumer);
		used = ring->own - ring->seen;
		/* No such number comes from the kernel. */
		if (used > ring->size)
			return 0;
	}
	return ring->size - used < wanted ? ring->size - used : wanted;
}

static uint32_t larger(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static int map_ring(struct int_xsk *xsk, struct int_xsk_ring *ring, uint32_t size, size_t entry_bytes,
		    const struct xdp_ring_offset *offset, uint64_t page_offset)
{
	size_t bytes = offset->desc + size * entry_bytes;
	uint8_t *map = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, xsk->fd, (off_t)page_offset);

	if (map == MAP_FAILED)
		return -errno;
	/* A child process that keeps the mapping would keep the queue. */
	madvise(map, bytes, MADV_DONTFORK);
	ring->map = map;
	ring->map_bytes = bytes;
	ring->producer = (uint32_t *)(void *)(map + offset->producer);
	ring->consumer = (uint32_t *)(void *)(map + offset->consumer);
	ring->flags = (uint32_t *)(void *)(map + offset->flags);
	ring->entries = map + offset->desc;
	ring->size = size;
	ring->mask = size - 1;
	return 0;
}

static int set_ring(struct int_xsk *xsk, int option, uint32_t size)
{
	int entries = (int)size;

	return setsockopt(xsk->fd, SOL_XDP, option, &entries, sizeof(entries)) == 0 ? 0 : -errno;
}

static int register_memory(struct int_xsk *xsk, const struct int_xsk_config *config)
{
	struct xdp_umem_reg reg = {
		.addr = (uint64_t)(uintptr_t)config->memory,
		.len = (uint64_t)(config->rx_chunks + config->tx_chunks) * config->chunk_size,
		.chunk_size = config->chunk_size,
	};

	return setsockopt(xsk->fd, SOL_XDP, XDP_UMEM_REG, &reg, sizeof(reg)) == 0 ? 0 : -errno;
}

static int map_rings(struct int_xsk *xsk, uint32_t tx_ring, const char **step)
{
	struct xdp_mmap_offsets offsets;
	socklen_t length = sizeof(offsets);
	int error;

	*step = "XDP_MMAP_OFFSETS";
	if (getsockopt(xsk->fd, SOL_XDP, XDP_MMAP_OFFSETS, &offsets, &length) != 0)
		return -errno;
	/* Kernels before 5.4 know no flags in the rings. */
	if (length != sizeof(offsets))
		return -ENOPROTOOPT;
	*step = "mmap of the rings";
	error = map_ring(xsk, &xsk->fill, larger(xsk->rx_chunks, SMALLEST_RING), sizeof(uint64_t), &offsets.fr,
			 XDP_UMEM_PGOFF_FILL_RING);
	if (error == 0)
		error = map_ring(xsk, &xsk->completion, larger(tx_ring, SMALLEST_RING), sizeof(uint64_t), &offsets.cr,
				 XDP_UMEM_PGOFF_COMPLETION_RING);
	if (error == 0)
		error = map_ring(xsk, &xsk->rx, larger(xsk->rx_chunks, SMALLEST_RING), sizeof(struct xdp_desc), &offsets.rx,
				 XDP_PGOFF_RX_RING);
	if (error == 0 && tx_ring != 0)
		error = map_ring(xsk, &xsk->tx, tx_ring, sizeof(struct xdp_desc), &offsets.tx, XDP_PGOFF_TX_RING);
	return error;
}

/* Moves chunks from the stack into the fill ring, as many as it has room for. */
static void refill(struct int_xsk *xsk)
{
	struct int_xsk_ring *fill = &xsk->fill;
	uint64_t *entries = fill->entries;
	uint32_t count = room(fill, xsk->rx_free_count);

	if (count == 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = xsk->rx_free[--xsk->rx_free_count];

		xsk->owner[chunk] = OWNER_FILL_RING;
		entries[fill->own++ & fill->mask] = (uint64_t)chunk << xsk->chunk_shift;
	}
	store_release(fill->producer, fill->own);
}

static int prepare(struct int_xsk *xsk, const struct int_xsk_config *config, const char **step)
{
	uint32_t tx_ring = config->tx_chunks == 0 ? 0 : larger(config->tx_chunks, SMALLEST_RING);
	uint32_t rx_ring = larger(config->rx_chunks, SMALLEST_RING);
	int error;

	*step = "socket(AF_XDP)";
	xsk->fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (xsk->fd < 0)
		return -errno;
	*step = "malloc";
	xsk->owner = calloc(config->rx_chunks + config->tx_chunks, 1);
	xsk->rx_free = calloc(config->rx_chunks, sizeof(uint32_t));
	xsk->tx_free = calloc(larger(config->tx_chunks, 1), sizeof(uint32_t));
	if (xsk->owner == NULL || xsk->rx_free == NULL || xsk->tx_free == NULL)
		return -ENOMEM;
	*step = "XDP_UMEM_REG";
	error = register_memory(xsk, config);
	if (error != 0)
		return error;
	*step = "XDP_UMEM_FILL_RING";
	error = set_ring(xsk, XDP_UMEM_FILL_RING, rx_ring);
	if (error != 0)
		return error;
	*step = "XDP_UMEM_COMPLETION_RING";
	error = set_ring(xsk, XDP_UMEM_COMPLETION_RING, larger(tx_ring, SMALLEST_RING));
	if (error != 0)
		return error;
	*step = "XDP_RX_RING";
	error = set_ring(xsk, XDP_RX_RING, rx_ring);
	if (error != 0)
		return error;
	*step = "XDP_TX_RING";
	error = tx_ring == 0 ? 0 : set_ring(xsk, XDP_TX_RING, tx_ring);
	if (error != 0)
		return error;
	return map_rings(xsk, tx_ring, step);
}

int int_xsk_open(struct int_xsk *xsk, const struct int_xsk_config *config, const char **step)
{
	int error;

	memset(xsk, 0, sizeof(*xsk));
	xsk->fd = -1;
	xsk->promiscuous_fd = -1;
	xsk->ifindex = config->ifindex;
	xsk->queue = config->queue;
	xsk->rx_chunks = config->rx_chunks;
	xsk->tx_chunks = config->tx_chunks;
	xsk->chunk_size = config->chunk_size;
	xsk->chunk_shift = (uint32_t)__builtin_ctz(config->chunk_size);
	xsk->base = config->base;
	error = prepare(xsk, config, step);
	if (error != 0) {
		int_xsk_close(xsk);
		return error;
	}
	/* Stacks: the lowest chunks are on top. */
	for (uint32_t i = config->rx_chunks; i > 0; i--)
		xsk->rx_free[xsk->rx_free_count++] = i - 1;
	for (uint32_t i = config->tx_chunks; i > 0; i--)
		xsk->tx_free[xsk->tx_free_count++] = config->rx_chunks + i - 1;
	refill(xsk);
	return 0;
}

int int_xsk_bind(struct int_xsk *xsk, const struct int_xsk_config *config)
{
	struct sockaddr_xdp address = {
		.sxdp_family = AF_XDP,
		.sxdp_flags = XDP_USE_NEED_WAKEUP,
		.sxdp_ifindex = config->ifindex,
		.sxdp_queue_id = config->queue,
	};
	struct xdp_options options = { 0 };
	socklen_t length = sizeof(options);

	if (config->copy)
		address.sxdp_flags |= XDP_COPY;
	if (config->zero_copy)
		address.sxdp_flags |= XDP_ZEROCOPY;
	if (bind(xsk->fd, (struct sockaddr *)&address, sizeof(address)) != 0)
		return -errno;
	/* Kernels before 5.3 do not say, and have no zero copy that one would not have insisted on. */
	if (getsockopt(xsk->fd, SOL_XDP, XDP_OPTIONS, &options, &length) == 0)
		xsk->zero_copy = (options.flags & XDP_OPTIONS_ZEROCOPY) != 0;
	return 0;
}

int int_xsk_promiscuous(struct int_xsk *xsk, const char **step)
{
	struct packet_mreq request = { .mr_ifindex = (int)xsk->ifindex, .mr_type = PACKET_MR_PROMISC };

	/* Protocol 0: the socket itself gets no frames. */
	*step = "socket(AF_PACKET)";
	xsk->promiscuous_fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
	if (xsk->promiscuous_fd < 0)
		return -errno;
	*step = "PACKET_ADD_MEMBERSHIP";
	if (setsockopt(xsk->promiscuous_fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) != 0)
		return -errno;
	return 0;
}

static void unmap_ring(struct int_xsk_ring *ring)
{
	if (ring->map != NULL)
		munmap(ring->map, ring->map_bytes);
	memset(ring, 0, sizeof(*ring));
}

void int_xsk_close(struct int_xsk *xsk)
{
	/* Before the socket: a mapped ring keeps it, and so the queue, for as long as the process lives. */
	unmap_ring(&xsk->fill);
	unmap_ring(&xsk->completion);
	unmap_ring(&xsk->rx);
	unmap_ring(&xsk->tx);
	if (xsk->fd >= 0)
		close(xsk->fd);
	if (xsk->promiscuous_fd >= 0)
		close(xsk->promiscuous_fd);
	xsk->fd = -1;
	xsk->promiscuous_fd = -1;
	free(xsk->owner);
	free(xsk->rx_free);
	free(xsk->tx_free);
	xsk->owner = NULL;
	xsk->rx_free = NULL;
	xsk->tx_free = NULL;
}

uint32_t int_xsk_receive(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t capacity)
{
	struct int_xsk_ring *rx = &xsk->rx;
	const struct xdp_desc *entries = rx->entries;
	uint32_t count, taken = 0;
	uint64_t bytes = 0;

	if (xsk->rx_free_count != 0)
		refill(xsk);
	count = available(rx);
	if (count == 0) {
		if (needs_wakeup(&xsk->fill))
			recvfrom(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
		return 0;
	}
	if (count > capacity)
		count = capacity;
	for (uint32_t i = 0; i < count; i++) {
		const struct xdp_desc *entry = &entries[rx->own++ & rx->mask];
		uint64_t chunk = entry->addr >> xsk->chunk_shift;

		if (chunk >= xsk->rx_chunks || xsk->owner[chunk] != OWNER_FILL_RING ||
		    (entry->addr & (xsk->chunk_size - 1)) + entry->len > xsk->chunk_size) {
			xsk->counters.foreign++;
			continue;
		}
		xsk->owner[chunk] = OWNER_RECEIVED;
		offsets[taken] = xsk->base + (uint32_t)entry->addr;
		lengths[taken] = entry->len;
		bytes += entry->len;
		taken++;
	}
	store_release(rx->consumer, rx->own);
	xsk->counters.received += taken;
	xsk->counters.received_bytes += bytes;
	return taken;
}

bool int_xsk_readable(struct int_xsk *xsk)
{
	return available(&xsk->rx) != 0;
}

/* Number of the chunk of an address from outside, or UINT32_MAX if it is none of chunks [first, first + count). */
static uint32_t chunk_of(const struct int_xsk *xsk, uint32_t offset, uint32_t first, uint32_t count)
{
	uint32_t chunk = (offset - xsk->base) >> xsk->chunk_shift;

	if (offset < xsk->base || chunk < first || chunk - first >= count)
		return UINT32_MAX;
	return chunk;
}

/*
 * Takes rows' chunks from `from` to free. All or none: a chunk that appears twice is the second time not the caller's
 * any more, and then what was done is undone.
 */
static int take_back(struct int_xsk *xsk, const uint32_t *offsets, uint32_t count, enum chunk_owner from,
		     struct int_xsk_problem *problem)
{
	uint32_t first = from == OWNER_RECEIVED ? 0 : xsk->rx_chunks;
	uint32_t chunks = from == OWNER_RECEIVED ? xsk->rx_chunks : xsk->tx_chunks;
	uint32_t *stack = from == OWNER_RECEIVED ? xsk->rx_free : xsk->tx_free;
	uint32_t *top = from == OWNER_RECEIVED ? &xsk->rx_free_count : &xsk->tx_free_count;

	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = chunk_of(xsk, offsets[i], first, chunks);

		if (chunk == UINT32_MAX || xsk->owner[chunk] != from) {
			problem->fault = chunk == UINT32_MAX ? INT_XSK_FAULT_RANGE : INT_XSK_FAULT_OWNER;
			problem->row = i;
			for (; i > 0; i--)
				xsk->owner[stack[--*top]] = (uint8_t)from;
			return -EINVAL;
		}
		xsk->owner[chunk] = OWNER_FREE;
		stack[(*top)++] = chunk;
	}
	return 0;
}

int int_xsk_release(struct int_xsk *xsk, const uint32_t *offsets, uint32_t count, struct int_xsk_problem *problem)
{
	int error = take_back(xsk, offsets, count, OWNER_RECEIVED, problem);

	if (error != 0)
		return error;
	xsk->counters.released += count;
	refill(xsk);
	return 0;
}

/* Takes frames that have been sent back into the pool. */
static void collect(struct int_xsk *xsk)
{
	struct int_xsk_ring *completion = &xsk->completion;
	const uint64_t *entries = completion->entries;
	uint32_t count = available(completion);

	if (count == 0)
		return;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t chunk = entries[completion->own++ & completion->mask] >> xsk->chunk_shift;

		if (chunk < xsk->rx_chunks || chunk >= xsk->rx_chunks + xsk->tx_chunks || xsk->owner[chunk] != OWNER_SENT) {
			xsk->counters.foreign++;
			continue;
		}
		xsk->owner[chunk] = OWNER_FREE;
		xsk->tx_free[xsk->tx_free_count++] = (uint32_t)chunk;
		xsk->counters.completed++;
	}
	store_release(completion->consumer, completion->own);
}

/* Tells the kernel to send what is in the ring, until it has taken all or takes no more for now. */
static int kick(struct int_xsk *xsk)
{
	struct int_xsk_ring *tx = &xsk->tx;

	for (;;) {
		uint32_t before = load_acquire(tx->consumer);

		/* In copy mode nothing is sent but by this call. */
		if (before == tx->own || (xsk->zero_copy && !needs_wakeup(tx)))
			return 0;
		if (sendto(xsk->fd, NULL, 0, MSG_DONTWAIT, NULL, 0) != 0) {
			/* It took as many as it takes at a time, has no memory for more right now, or the queue is full. */
			if (errno != EAGAIN && errno != EBUSY && errno != ENOBUFS && errno != EINTR)
				return -errno;
			/*
			 * The frame taken last was dropped, and is completed as though it had been sent (NET_XMIT_DROP in
			 * xsk_generic_xmit): the interface is going down, or its other end has no room. The ring's consumer
			 * tells of it with the next frame that is sent.
			 */
			if (errno == EBUSY && !xsk->zero_copy)
				xsk->counters.unsent++;
		}
		if (load_acquire(tx->consumer) == before)
			return 0;
	}
}

uint32_t int_xsk_acquire(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t count)
{
	if (xsk->tx_chunks == 0)
		return 0;
	collect(xsk);
	if (xsk->tx_free_count < count) {
		/* Frames may be waiting for a second call; an error comes up again where frames are sent. */
		kick(xsk);
		collect(xsk);
	}
	if (count > xsk->tx_free_count)
		count = xsk->tx_free_count;
	for (uint32_t i = 0; i < count; i++) {
		uint32_t chunk = xsk->tx_free[--xsk->tx_free_count];

		xsk->owner[chunk] = OWNER_ACQUIRED;
		offsets[i] = xsk->base + (chunk << xsk->chunk_shift);
		lengths[i] = 0;
	}
	return count;
}

int int_xsk_discard(struct int_xsk *xsk, const uint32_t *offsets, uint32_t count, struct int_xsk_problem *problem)
{
	return take_back(xsk, offsets, count, OWNER_ACQUIRED, problem);
}

int int_xsk_transmit(struct int_xsk *xsk, uint32_t *offsets, uint32_t *lengths, uint32_t count, uint32_t *accepted,
		     struct int_xsk_problem *problem)
{
	struct int_xsk_ring *tx = &xsk->tx;
	struct xdp_desc *entries = tx->entries;
	uint32_t i, fits, left;

	*accepted = 0;
	/* Every row is looked at before the first is sent; a chunk in two rows is marked by the first and so found. */
	for (i = 0; i < count; i++) {
		uint32_t chunk = chunk_of(xsk, offsets[i], xsk->rx_chunks, xsk->tx_chunks);
		uint32_t within = (offsets[i] - xsk->base) & (xsk->chunk_size - 1);

		if (chunk == UINT32_MAX)
			problem->fault = INT_XSK_FAULT_RANGE;
		else if (xsk->owner[chunk] != OWNER_ACQUIRED)
			problem->fault = INT_XSK_FAULT_OWNER;
		else if (lengths[i] < ETHERNET_HEADER || lengths[i] > xsk->chunk_size - within)
			problem->fault = INT_XSK_FAULT_LENGTH;
		else {
			xsk->owner[chunk] = OWNER_SENT;
			continue;
		}
		problem->row = i;
		while (i-- > 0)
			xsk->owner[(offsets[i] - xsk->base) >> xsk->chunk_shift] = OWNER_ACQUIRED;
		return -EINVAL;
	}
	if (count == 0)
		return 0;
	collect(xsk);
	fits = room(tx, count);
	for (i = 0; i < fits; i++) {
		struct xdp_desc *entry = &entries[tx->own++ & tx->mask];

		entry->addr = offsets[i] - xsk->base;
		entry->len = lengths[i];
		entry->options = 0;
		xsk->counters.sent_bytes += lengths[i];
	}
	store_release(tx->producer, tx->own);
	xsk->counters.sent += fits;
	left = count - fits;
	for (i = 0; i < left; i++) {
		offsets[i] = offsets[fits + i];
		lengths[i] = lengths[fits + i];
		xsk->owner[(offsets[i] - xsk->base) >> xsk->chunk_shift] = OWNER_ACQUIRED;
	}
	*accepted = fits;
	return kick(xsk);
}

int int_xsk_pending(struct int_xsk *xsk, uint32_t *pending)
{
	int error = 0;

	if (xsk->tx_chunks != 0) {
		error = kick(xsk);
		collect(xsk);
	}
	*pending = (uint32_t)(xsk->counters.sent - xsk->counters.completed);
	return error;
}

static int socket_error(void *argument)
{
	return int_xsk_error(argument);
}

int int_xsk_poll(struct int_xsk *xsk, int cancel_fd, double timeout_ms)
{
	return int_wait(xsk->fd, cancel_fd, timeout_ms, socket_error, xsk);
}

int int_xsk_error(struct int_xsk *xsk)
{
	int error = 0;
	socklen_t length = sizeof(error);

	if (getsockopt(xsk->fd, SOL_SOCKET, SO_ERROR, &error, &length) != 0)
		return -errno;
	if (error != 0)
		atomic_store(&xsk->error, error);
	return -atomic_load(&xsk->error);
}

int int_xsk_kernel_counters(struct int_xsk *xsk, struct int_xsk_kernel_counters *counters)
{
	struct xdp_statistics statistics;
	socklen_t length = sizeof(statistics);

	/* Kernels before 5.9 know the first three only. */
	memset(&statistics, 0, sizeof(statistics));
	if (getsockopt(xsk->fd, SOL_XDP, XDP_STATISTICS, &statistics, &length) != 0)
		return -errno;
	counters->rx_dropped = statistics.rx_dropped;
	counters->rx_invalid = statistics.rx_invalid_descs;
	counters->rx_ring_full = statistics.rx_ring_full;
	counters->fill_ring_empty = statistics.rx_fill_ring_empty_descs;
	counters->tx_invalid = statistics.tx_invalid_descs;
	counters->tx_ring_empty = statistics.tx_ring_empty_descs;
	return 0;
}
