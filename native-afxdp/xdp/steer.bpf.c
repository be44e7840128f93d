// SPDX-License-Identifier: Apache-2.0
/*
 * Hands UDP datagrams to some ports, or all frames, to the AF_XDP socket of
 * their queue. Everything else goes on to the network stack, untouched.
 */
#include "bpf.h"
#include "frame.h"
#include "steer_maps.h"

SECTION("maps") struct bpf_map_def sockets = {
	.type = BPF_MAP_TYPE_XSKMAP, .key_size = 4, .value_size = 4, .max_entries = 1024,
};

SECTION("maps") struct bpf_map_def totals = {
	.type = BPF_MAP_TYPE_PERCPU_ARRAY, .key_size = 4,
	.value_size = sizeof(struct steer_totals), .max_entries = 1,
};

SECTION(".data.ports") volatile struct steer_ports ports;

INLINE int is_wanted(const uint8_t *data, const uint8_t *end)
{
	struct datagram datagram;

	if (ports.all)
		return 1;
	if (!find_datagram(data, end, &datagram))
		return 0;
	return ports.bits[datagram.port >> 6] >> (datagram.port & 63) & 1;
}

SECTION("xdp") int steer(struct xdp_md *ctx)
{
	const uint8_t *data = (const uint8_t *)(long)ctx->data;
	const uint8_t *end = (const uint8_t *)(long)ctx->data_end;
	const uint32_t zero = 0;
	struct steer_totals *total = bpf_map_lookup_elem(&totals, &zero);
	int action;

	if (!total)
		return XDP_PASS;
	if (!is_wanted(data, end)) {
		total->passed++;
		return XDP_PASS;
	}
	action = bpf_redirect_map(&sockets, ctx->rx_queue_index, XDP_PASS);
	if (action == XDP_REDIRECT)
		total->steered++;
	else
		total->no_socket++;
	return action;
}
