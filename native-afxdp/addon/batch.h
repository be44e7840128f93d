/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Batches: two columns of JavaScript's that the functions of sockets fill and read.
 */
#ifndef INT_BATCH_H
#define INT_BATCH_H

#include <node_api.h>

#include <stdint.h>

struct int_batch {
	uint32_t magic;
	uint32_t capacity;
	uint32_t *offsets;
	uint32_t *lengths;
};

/* The batch of a handle; NULL and a TypeError for anything else. */
struct int_batch *int_get_batch(napi_env env, napi_value value);

#endif
