/* SPDX-License-Identifier: Apache-2.0 */
/* What the steering program shares with user space. Map `sockets`: XSKMAP[1024], by RX queue. */
#ifndef INT_STEER_MAPS_H
#define INT_STEER_MAPS_H

#include <stdint.h>

/* Map `ports`, ARRAY[1]. Size 8200. */
struct steer_ports {
	uint64_t bits[1024];	/* UDP destination port p: bit p % 64 of bits[p / 64] */
	uint64_t all;		/* 1: every frame, UDP or not */
};

/* Map `totals`, PERCPU_ARRAY[1]: frames. */
struct steer_totals {
	uint64_t steered;	/* to a socket */
	uint64_t passed;	/* not asked for: to the network stack */
	uint64_t no_socket;	/* asked for, but no socket at this queue: to the network stack */
};

#endif
