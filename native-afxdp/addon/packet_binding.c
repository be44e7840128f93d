// SPDX-License-Identifier: Apache-2.0
/*
 * AF_PACKET sockets for JavaScript. What comes from src/packet-socket.ts is right by construction, except the contents
 * of a batch's columns and whether the socket is still open: those are checked here.
 */
#include "batch.h"
#include "binding.h"
#include "waiter.h"

#include "../xsk/packet.h"

#include <errno.h>
#include <stdlib.h>

#define PACKET_MAGIC 0x70616b31u
#define ETHERNET_HEADER 14u
/* Answers beside counts: a closed socket, a wrong row. */
#define ANSWER_CLOSED (-1)
#define ANSWER_FAULT (-2)
/* Added to a count for every unit of an error number. */
#define ANSWER_ERRNO 4294967296.0

struct packet_handle {
	uint32_t magic;
	bool is_open;
	napi_env env;
	struct int_packet packet;
	struct int_waiter *waiter;
	/* Keeps the memory as long as the socket. */
	napi_ref memory;
};

static void close_packet(struct packet_handle *handle)
{
	if (!handle->is_open)
		return;
	handle->is_open = false;
	if (handle->waiter != NULL)
		int_waiter_stop(handle->waiter);
	int_packet_close(&handle->packet);
}

static void clean_up(void *data)
{
	close_packet(data);
}

static void close_early(struct packet_handle *handle)
{
	if (!handle->is_open)
		return;
	napi_remove_env_cleanup_hook(handle->env, clean_up, handle);
	close_packet(handle);
	if (handle->memory != NULL)
		napi_delete_reference(handle->env, handle->memory);
	handle->memory = NULL;
}

static void finalize_packet(napi_env env, void *data, void *hint)
{
	struct packet_handle *handle = data;

	(void)env;
	(void)hint;
	close_early(handle);
	handle->magic = 0;
	free(handle);
}

static struct packet_handle *get_packet(napi_env env, napi_value value)
{
	void *data = NULL;

	if (napi_get_value_external(env, value, &data) != napi_ok || data == NULL ||
	    ((struct packet_handle *)data)->magic != PACKET_MAGIC) {
		napi_throw_type_error(env, NULL, "a packet socket is needed");
		return NULL;
	}
	return data;
}

/* packetOpen(ifindex, slotBytes, bufferBytes): { handle, buffer } */
static napi_value packet_open(napi_env env, napi_callback_info info)
{
	napi_value arguments[3], result, external, buffer;
	uint32_t ifindex, slot_bytes, buffer_bytes;
	struct packet_handle *handle;
	const char *step = "";
	void *memory;
	int error;

	if (int_arguments(env, info, 3, arguments) != 0 || int_get_u32(env, arguments[0], &ifindex) != 0 ||
	    int_get_u32(env, arguments[1], &slot_bytes) != 0 || int_get_u32(env, arguments[2], &buffer_bytes) != 0)
		return NULL;
	if (slot_bytes < 64 || slot_bytes > 65536 || buffer_bytes > INT32_MAX)
		return int_throw_range(env, "sizes out of range");
	memory = int_map_memory(env, (size_t)2 * INT_PACKET_SLOTS * slot_bytes, &buffer);
	if (memory == NULL)
		return NULL;
	handle = calloc(1, sizeof(*handle));
	if (handle == NULL)
		return int_throw_errno(env, "malloc", ENOMEM, NULL);
	handle->magic = PACKET_MAGIC;
	handle->env = env;
	error = int_packet_open(&handle->packet, ifindex, slot_bytes, buffer_bytes, memory, &step);
	if (error != 0) {
		free(handle);
		return int_throw_errno(env, step, error, NULL);
	}
	handle->is_open = true;
	if (napi_create_reference(env, buffer, 1, &handle->memory) != napi_ok ||
	    napi_create_external(env, handle, finalize_packet, NULL, &external) != napi_ok) {
		close_packet(handle);
		free(handle);
		return NULL;
	}
	napi_add_env_cleanup_hook(env, clean_up, handle);
	if (napi_create_object(env, &result) != napi_ok ||
	    napi_set_named_property(env, result, "handle", external) != napi_ok ||
	    napi_set_named_property(env, result, "buffer", buffer) != napi_ok)
		return NULL;
	return result;
}

/* packetClose(handle) */
static napi_value packet_close(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	napi_value argument;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_packet(env, argument)) == NULL)
		return NULL;
	close_early(handle);
	return NULL;
}

/* Socket, batch and a number of rows that is not more than the batch has. */
static bool get_rows(napi_env env, napi_callback_info info, struct packet_handle **handle, struct int_batch **batch,
		     uint32_t *count)
{
	napi_value arguments[3];

	if (int_arguments(env, info, 3, arguments) != 0 || (*handle = get_packet(env, arguments[0])) == NULL ||
	    (*batch = int_get_batch(env, arguments[1])) == NULL || int_get_u32(env, arguments[2], count) != 0)
		return false;
	if (*count > (*batch)->capacity)
		*count = (*batch)->capacity;
	return true;
}

/* packetReceive(handle, batch, most): a count, ANSWER_CLOSED, or ANSWER_ERRNO times the error number */
static napi_value packet_receive(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	struct int_batch *batch;
	uint32_t most;
	int count;

	if (!get_rows(env, info, &handle, &batch, &most))
		return NULL;
	if (!handle->is_open)
		return int_number(env, ANSWER_CLOSED);
	count = int_packet_receive(&handle->packet, batch->offsets, batch->lengths, most);
	return int_number(env, count >= 0 ? count : -count * ANSWER_ERRNO);
}

/* packetAcquire(handle, batch, count): slots for sending, from the first */
static napi_value packet_acquire(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	struct int_batch *batch;
	uint32_t count;

	if (!get_rows(env, info, &handle, &batch, &count))
		return NULL;
	if (!handle->is_open)
		return int_number(env, ANSWER_CLOSED);
	if (count > INT_PACKET_SLOTS)
		count = INT_PACKET_SLOTS;
	for (uint32_t i = 0; i < count; i++) {
		batch->offsets[i] = (INT_PACKET_SLOTS + i) * handle->packet.slot_bytes;
		batch->lengths[i] = 0;
	}
	return int_number(env, count);
}

/*
 * packetTransmit(handle, batch, count): the number of rows that are left, in front, plus ANSWER_ERRNO times the error of
 * the interface; ANSWER_CLOSED; ANSWER_FAULT for a row that is no frame in a slot, and then nothing is sent
 */
static napi_value packet_transmit(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	struct int_batch *batch;
	uint32_t count, slot, left;
	int error;

	if (!get_rows(env, info, &handle, &batch, &count))
		return NULL;
	if (!handle->is_open)
		return int_number(env, ANSWER_CLOSED);
	slot = handle->packet.slot_bytes;
	if (count > INT_PACKET_SLOTS)
		return int_number(env, ANSWER_FAULT);
	for (uint32_t i = 0; i < count; i++) {
		uint32_t offset = batch->offsets[i], length = batch->lengths[i];

		if (offset < INT_PACKET_SLOTS * slot || offset >= 2 * INT_PACKET_SLOTS * slot || offset % slot != 0 ||
		    length < ETHERNET_HEADER || length > slot)
			return int_number(env, ANSWER_FAULT);
	}
	error = int_packet_transmit(&handle->packet, batch->offsets, batch->lengths, count, &left);
	return int_number(env, left + -error * ANSWER_ERRNO);
}

static int poll_packet(void *socket, int cancel_fd, double timeout_ms)
{
	return int_packet_poll(socket, cancel_fd, timeout_ms);
}

/* packetWaitStart(handle, timeoutMs, callback): see waiter.h */
static napi_value packet_wait_start(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	napi_value arguments[3];
	double timeout_ms;

	if (int_arguments(env, info, 3, arguments) != 0 || (handle = get_packet(env, arguments[0])) == NULL)
		return NULL;
	if (!handle->is_open)
		return int_throw_errno(env, "close", EBADF, NULL);
	if (napi_get_value_double(env, arguments[1], &timeout_ms) != napi_ok)
		return int_throw_type(env, "a number is needed");
	if (handle->waiter == NULL &&
	    int_waiter_start(env, poll_packet, &handle->packet, arguments[2], &handle->waiter) != 0)
		return NULL;
	if (!int_waiter_wait(handle->waiter, timeout_ms))
		return int_throw_errno(env, "wait", EALREADY, NULL);
	return NULL;
}

/* packetWaitCancel(handle) */
static napi_value packet_wait_cancel(napi_env env, napi_callback_info info)
{
	struct packet_handle *handle;
	napi_value argument;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_packet(env, argument)) == NULL)
		return NULL;
	if (handle->waiter != NULL)
		int_waiter_cancel(handle->waiter);
	return NULL;
}

/* packetStats(handle, numbers): fills a Float64Array of 8 */
static napi_value packet_stats(napi_env env, napi_callback_info info)
{
	const struct int_packet_counters *counters;
	struct packet_handle *handle;
	napi_value arguments[2];
	double *numbers;
	size_t bytes;

	if (int_arguments(env, info, 2, arguments) != 0 || (handle = get_packet(env, arguments[0])) == NULL ||
	    (numbers = int_get_bytes(env, arguments[1], &bytes)) == NULL)
		return NULL;
	if (bytes < 8 * sizeof(double))
		return int_throw_range(env, "8 numbers are needed");
	/* A removed interface has no counters any more: those so far stay. */
	if (handle->is_open)
		int_packet_count(&handle->packet);
	counters = &handle->packet.counters;
	numbers[0] = (double)counters->received;
	numbers[1] = (double)counters->received_bytes;
	numbers[2] = (double)counters->sent;
	numbers[3] = (double)counters->sent_bytes;
	numbers[4] = (double)counters->too_long;
	numbers[5] = (double)counters->refused;
	numbers[6] = (double)counters->completed;
	numbers[7] = (double)counters->dropped;
	return NULL;
}

napi_status int_packet_register(napi_env env, napi_value exports)
{
	static const struct int_function functions[] = {
		{ "packetOpen", packet_open },
		{ "packetClose", packet_close },
		{ "packetReceive", packet_receive },
		{ "packetAcquire", packet_acquire },
		{ "packetTransmit", packet_transmit },
		{ "packetWaitStart", packet_wait_start },
		{ "packetWaitCancel", packet_wait_cancel },
		{ "packetStats", packet_stats },
	};

	return int_define(env, exports, functions, sizeof(functions) / sizeof(functions[0]));
}
