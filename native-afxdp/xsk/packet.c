// SPDX-License-Identifier: Apache-2.0
/*
 * AF_PACKET socket: see packet.h and packet(7). Every frame comes and goes with a header of virtio_net (PACKET_VNET_HDR):
 * it tells which checksums a sender on this machine has left to a card that does not exist.
 */
#define _GNU_SOURCE
#include "packet.h"

#include "wait.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#ifndef PACKET_IGNORE_OUTGOING
#define PACKET_IGNORE_OUTGOING 23
#endif

#define ADDRESSES 12u
#define VLAN_TYPE 0x8100u
#define MOST_TRIES 16

static int set_option(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof(value)) == 0 ? 0 : -errno;
}

static int prepare(struct int_packet *packet, uint32_t buffer_bytes, const char **step)
{
	struct packet_mreq request = { .mr_ifindex = (int)packet->ifindex, .mr_type = PACKET_MR_PROMISC };
	struct sockaddr_ll address = {
		.sll_family = AF_PACKET,
		.sll_protocol = htons(ETH_P_ALL),
		.sll_ifindex = (int)packet->ifindex,
	};
	int fd;

	/* Protocol 0: nothing arrives from other interfaces before it is bound. */
	*step = "socket(AF_PACKET)";
	fd = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -errno;
	packet->fd = fd;
	*step = "PACKET_VNET_HDR";
	if (set_option(fd, SOL_PACKET, PACKET_VNET_HDR, 1) != 0)
		return -errno;
	*step = "PACKET_AUXDATA";
	if (set_option(fd, SOL_PACKET, PACKET_AUXDATA, 1) != 0)
		return -errno;
	*step = "PACKET_IGNORE_OUTGOING";
	if (set_option(fd, SOL_PACKET, PACKET_IGNORE_OUTGOING, 1) != 0)
		return -errno;
	/* Without the right to more, the kernel gives as much as it may. */
	if (set_option(fd, SOL_SOCKET, SO_RCVBUFFORCE, (int)buffer_bytes) != 0)
		set_option(fd, SOL_SOCKET, SO_RCVBUF, (int)buffer_bytes);
	*step = "PACKET_ADD_MEMBERSHIP";
	if (setsockopt(fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &request, sizeof(request)) != 0)
		return -errno;
	*step = "bind";
	return bind(fd, (struct sockaddr *)&address, sizeof(address)) == 0 ? 0 : -errno;
}

int int_packet_open(struct int_packet *packet, uint32_t ifindex, uint32_t slot_bytes, uint32_t buffer_bytes,
		    uint8_t *memory, const char **step)
{
	int error;

	memset(packet, 0, sizeof(*packet));
	packet->fd = -1;
	packet->ifindex = ifindex;
	packet->slot_bytes = slot_bytes;
	packet->memory = memory;
	error = prepare(packet, buffer_bytes, step);
	if (error != 0)
		int_packet_close(packet);
	return error;
}

void int_packet_close(struct int_packet *packet)
{
	if (packet->fd >= 0)
		close(packet->fd);
	packet->fd = -1;
}

/* The sum of RFC 1071 over the bytes from `start`, which already hold that of the pseudo header, goes to `at`. */
static bool complete_checksum(uint8_t *frame, uint32_t length, uint32_t start, uint32_t at)
{
	uint64_t sum = 0;
	uint32_t i;
	uint16_t folded;

	if (start > length || at > length - start || length - start - at < 2)
		return false;
	for (i = start; i + 1 < length; i += 2)
		sum += (uint32_t)frame[i] << 8 | frame[i + 1];
	if (i < length)
		sum += (uint32_t)frame[i] << 8;
	while (sum >> 16 != 0)
		sum = (sum & 0xffff) + (sum >> 16);
	folded = (uint16_t)~sum;
	/* A sum of 0 would say that there is none, in UDP; the other form means the same everywhere. */
	if (folded == 0)
		folded = 0xffff;
	frame[start + at] = (uint8_t)(folded >> 8);
	frame[start + at + 1] = (uint8_t)folded;
	return true;
}

static const struct tpacket_auxdata *auxiliary(struct msghdr *message)
{
	for (struct cmsghdr *part = CMSG_FIRSTHDR(message); part != NULL; part = CMSG_NXTHDR(message, part))
		if (part->cmsg_level == SOL_PACKET && part->cmsg_type == PACKET_AUXDATA)
			return (const struct tpacket_auxdata *)CMSG_DATA(part);
	return NULL;
}

/* Writes a tag that the kernel has taken out back into the frame, which begins 4 bytes earlier then. */
static uint8_t *put_tag(uint8_t *frame, const struct tpacket_auxdata *data)
{
	uint8_t *start = frame - INT_PACKET_TAG;
	uint16_t type = (data->tp_status & TP_STATUS_VLAN_TPID_VALID) != 0 ? data->tp_vlan_tpid : VLAN_TYPE;

	memmove(start, frame, ADDRESSES);
	start[ADDRESSES] = (uint8_t)(type >> 8);
	start[ADDRESSES + 1] = (uint8_t)type;
	start[ADDRESSES + 2] = (uint8_t)(data->tp_vlan_tci >> 8);
	start[ADDRESSES + 3] = (uint8_t)data->tp_vlan_tci;
	return start;
}

union control {
	struct cmsghdr align;
	uint8_t bytes[CMSG_SPACE(sizeof(struct tpacket_auxdata))];
};

/* One call of the kernel. `came` gets the number of frames that it gave, also of those that are left out. */
static int receive_once(struct int_packet *packet, uint32_t *offsets, uint32_t *lengths, uint32_t most, int *came)
{
	struct virtio_net_hdr headers[INT_PACKET_SLOTS];
	struct mmsghdr messages[INT_PACKET_SLOTS];
	struct iovec parts[INT_PACKET_SLOTS][2];
	union control controls[INT_PACKET_SLOTS];
	uint32_t room = packet->slot_bytes - INT_PACKET_TAG;
	uint32_t taken = 0;
	int count;

	for (uint32_t i = 0; i < most; i++) {
		parts[i][0] = (struct iovec){ .iov_base = &headers[i], .iov_len = sizeof(headers[i]) };
		parts[i][1] = (struct iovec){
			.iov_base = packet->memory + (size_t)i * packet->slot_bytes + INT_PACKET_TAG,
			.iov_len = room,
		};
		messages[i].msg_hdr = (struct msghdr){
			.msg_iov = parts[i],
			.msg_iovlen = 2,
			.msg_control = &controls[i],
			.msg_controllen = sizeof(controls[i]),
		};
	}
	*came = 0;
	count = recvmmsg(packet->fd, messages, most, MSG_DONTWAIT, NULL);
	if (count < 0)
		return errno == EAGAIN || errno == EINTR ? 0 : -errno;
	*came = count;
	for (int i = 0; i < count; i++) {
		uint8_t *frame = parts[i][1].iov_base;
		const struct tpacket_auxdata *data = auxiliary(&messages[i].msg_hdr);
		uint32_t length = messages[i].msg_len - (uint32_t)sizeof(headers[i]);

		if (messages[i].msg_len <= sizeof(headers[i]))
			continue;
		if ((messages[i].msg_hdr.msg_flags & MSG_TRUNC) != 0 || headers[i].gso_type != VIRTIO_NET_HDR_GSO_NONE) {
			packet->counters.too_long++;
			continue;
		}
		if ((headers[i].flags & VIRTIO_NET_HDR_F_NEEDS_CSUM) != 0 &&
		    complete_checksum(frame, length, headers[i].csum_start, headers[i].csum_offset))
			packet->counters.completed++;
		if (data != NULL && (data->tp_status & TP_STATUS_VLAN_VALID) != 0 && length >= ADDRESSES) {
			frame = put_tag(frame, data);
			length += INT_PACKET_TAG;
		}
		offsets[taken] = (uint32_t)(frame - packet->memory);
		lengths[taken++] = length;
		packet->counters.received++;
		packet->counters.received_bytes += length;
	}
	return (int)taken;
}

int int_packet_receive(struct int_packet *packet, uint32_t *offsets, uint32_t *lengths, uint32_t most)
{
	int came = 0;
	int taken = 0;

	if (most > INT_PACKET_SLOTS)
		most = INT_PACKET_SLOTS;
	/* The caller would take 0 for the end, and it is not if all frames of a call were left out. */
	for (int tries = 0; tries < MOST_TRIES; tries++) {
		taken = receive_once(packet, offsets, lengths, most, &came);
		if (taken != 0 || came == 0)
			break;
	}
	return taken;
}

int int_packet_transmit(struct int_packet *packet, uint32_t *offsets, uint32_t *lengths, uint32_t count, uint32_t *left)
{
	struct virtio_net_hdr header = { 0 };
	struct mmsghdr messages[INT_PACKET_SLOTS];
	struct iovec parts[INT_PACKET_SLOTS][2];
	uint32_t done = 0;
	int error = 0;

	for (uint32_t i = 0; i < count; i++) {
		parts[i][0] = (struct iovec){ .iov_base = &header, .iov_len = sizeof(header) };
		parts[i][1] = (struct iovec){ .iov_base = packet->memory + offsets[i], .iov_len = lengths[i] };
		messages[i].msg_hdr = (struct msghdr){ .msg_iov = parts[i], .msg_iovlen = 2 };
	}
	while (done < count) {
		int sent = sendmmsg(packet->fd, messages + done, count - done, MSG_DONTWAIT);

		if (sent > 0) {
			for (uint32_t i = done; i < done + (uint32_t)sent; i++)
				packet->counters.sent_bytes += lengths[i];
			packet->counters.sent += (uint32_t)sent;
			done += (uint32_t)sent;
		} else if (errno == EAGAIN || errno == ENOBUFS) {
			break;
		} else if (errno == ENETDOWN || errno == ENXIO || errno == ENODEV) {
			error = -errno;
			break;
		} else if (errno != EINTR) {
			/* This frame cannot be sent; the next one may. */
			packet->counters.refused++;
			done++;
		}
	}
	*left = count - done;
	memmove(offsets, offsets + done, *left * sizeof(*offsets));
	memmove(lengths, lengths + done, *left * sizeof(*lengths));
	return error;
}

static int socket_error(void *argument)
{
	return int_packet_error(argument);
}

int int_packet_poll(struct int_packet *packet, int cancel_fd, double timeout_ms)
{
	return int_wait(packet->fd, cancel_fd, timeout_ms, socket_error, packet);
}

int int_packet_error(struct int_packet *packet)
{
	int error = 0;
	socklen_t length = sizeof(error);

	/* Reading it clears it, and an interface that is up again works again. */
	return getsockopt(packet->fd, SOL_SOCKET, SO_ERROR, &error, &length) == 0 ? -error : -errno;
}

int int_packet_count(struct int_packet *packet)
{
	struct tpacket_stats stats;
	socklen_t length = sizeof(stats);

	/* Reading them sets them to 0. */
	if (getsockopt(packet->fd, SOL_PACKET, PACKET_STATISTICS, &stats, &length) != 0)
		return -errno;
	packet->counters.dropped += stats.tp_drops;
	return 0;
}
