// SPDX-License-Identifier: Apache-2.0
/*
 * Sockets, batches and interfaces for JavaScript. What comes from src/socket.ts is right by construction, except the
 * contents of a batch's columns, its count, and whether the socket is still open: those are checked here.
 */
#include "batch.h"
#include "binding.h"
#include "waiter.h"

#include "../xsk/bpf.h"
#include "../xsk/interface.h"
#include "../xsk/socket.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#ifndef AF_XDP
#define AF_XDP 44
#endif

#define SOCKET_MAGIC 0x78736b31u
#define PAGE 4096u

/* Answers of the functions on batches: a count, or this for a socket that is closed, or a fault and its row. */
#define ANSWER_CLOSED (-1)
#define ANSWER_FAULT(problem) (-2.0 - (double)(problem).fault - 4.0 * (double)(problem).row)
/* Added to a count for every unit of an error number. */
#define ANSWER_ERRNO 4294967296.0

struct socket_handle {
	uint32_t magic;
	bool is_open;
	napi_env env;
	struct int_xsk_config config;
	struct int_xsk xsk;
	struct int_waiter *waiter;
	/* The caller's memory, or NULL: it may not be freed as long as the kernel writes to it. */
	napi_ref memory;
};

static void close_socket(struct socket_handle *handle)
{
	if (!handle->is_open)
		return;
	handle->is_open = false;
	/* At the end of the environment the waiter has been stopped already, by its own hook. */
	if (handle->waiter != NULL)
		int_waiter_stop(handle->waiter);
	int_xsk_close(&handle->xsk);
}

/* A worker that is terminated runs no JavaScript any more, but this. The environment takes its references down itself. */
static void clean_up(void *data)
{
	close_socket(data);
}

static void close_early(struct socket_handle *handle)
{
	if (!handle->is_open)
		return;
	napi_remove_env_cleanup_hook(handle->env, clean_up, handle);
	close_socket(handle);
	if (handle->memory != NULL)
		napi_delete_reference(handle->env, handle->memory);
	handle->memory = NULL;
}

static void finalize_socket(napi_env env, void *data, void *hint)
{
	struct socket_handle *handle = data;

	(void)env;
	(void)hint;
	close_early(handle);
	handle->magic = 0;
	free(handle);
}

static struct socket_handle *get_socket(napi_env env, napi_value value)
{
	void *data = NULL;

	if (napi_get_value_external(env, value, &data) != napi_ok || data == NULL ||
	    ((struct socket_handle *)data)->magic != SOCKET_MAGIC) {
		napi_throw_type_error(env, NULL, "a socket is needed");
		return NULL;
	}
	return data;
}

static int poll_socket(void *socket, int cancel_fd, double timeout_ms)
{
	return int_xsk_poll(socket, cancel_fd, timeout_ms);
}

/* The first page of the caller's memory, and how far inside it is. */
static void *align_memory(napi_env env, napi_value view, size_t bytes, uint32_t *base)
{
	size_t length;
	uint8_t *data = int_get_bytes(env, view, &length);

	if (data == NULL)
		return NULL;
	*base = (uint32_t)(-(uintptr_t)data & (PAGE - 1));
	if (length < bytes + *base) {
		int_throw_range(env, "the memory is too small: umemBytes() says how much is needed");
		return NULL;
	}
	return data + *base;
}

static bool is_power(uint32_t number)
{
	return number != 0 && (number & (number - 1)) == 0;
}

/*
 * socketOpen(ifindex, queue, frames, txFrames, frameSize, copies, memory)
 * copies: 0 as the driver likes, 1 always, 2 never; memory: a Uint8Array or null.
 * Returns { handle, buffer (null with memory) }.
 */
static napi_value socket_open(napi_env env, napi_callback_info info)
{
	napi_value arguments[7], result, external, buffer;
	struct int_xsk_config config = { 0 };
	struct socket_handle *handle;
	const char *step = "";
	napi_valuetype type;
	uint32_t copies;
	size_t bytes;
	int error;

	if (int_arguments(env, info, 7, arguments) != 0 || int_get_u32(env, arguments[0], &config.ifindex) != 0 ||
	    int_get_u32(env, arguments[1], &config.queue) != 0 || int_get_u32(env, arguments[2], &config.rx_chunks) != 0 ||
	    int_get_u32(env, arguments[3], &config.tx_chunks) != 0 ||
	    int_get_u32(env, arguments[4], &config.chunk_size) != 0 || int_get_u32(env, arguments[5], &copies) != 0 ||
	    napi_typeof(env, arguments[6], &type) != napi_ok)
		return NULL;
	bytes = ((size_t)config.rx_chunks + config.tx_chunks) * config.chunk_size;
	if ((config.chunk_size != 2048 && config.chunk_size != 4096) || !is_power(config.rx_chunks) ||
	    (config.tx_chunks != 0 && !is_power(config.tx_chunks)) || bytes > UINT32_MAX - PAGE)
		return int_throw_range(env, "frames out of range");
	config.copy = copies == 1;
	config.zero_copy = copies == 2;
	if (type == napi_object) {
		config.memory = align_memory(env, arguments[6], bytes, &config.base);
		if (napi_get_null(env, &buffer) != napi_ok)
			return NULL;
	} else {
		config.memory = int_map_memory(env, bytes, &buffer);
	}
	if (config.memory == NULL)
		return NULL;
	handle = calloc(1, sizeof(*handle));
	if (handle == NULL)
		return int_throw_errno(env, "malloc", ENOMEM, NULL);
	handle->magic = SOCKET_MAGIC;
	handle->env = env;
	handle->config = config;
	error = int_xsk_open(&handle->xsk, &config, &step);
	if (error != 0) {
		free(handle);
		return int_throw_errno(env, step, error, NULL);
	}
	handle->is_open = true;
	if ((type == napi_object && napi_create_reference(env, arguments[6], 1, &handle->memory) != napi_ok) ||
	    napi_create_external(env, handle, finalize_socket, NULL, &external) != napi_ok) {
		close_socket(handle);
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

/* The handle of a socket that must be open; NULL and an exception if it is not. */
static struct socket_handle *open_socket(napi_env env, napi_value value)
{
	struct socket_handle *handle = get_socket(env, value);

	if (handle != NULL && !handle->is_open) {
		int_throw_errno(env, "close", EBADF, NULL);
		return NULL;
	}
	return handle;
}

/* socketBind(handle): whether it is a zero-copy socket now. Throws EBUSY if the queue is not free (yet). */
static napi_value socket_bind(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument, result;
	int error;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = open_socket(env, argument)) == NULL)
		return NULL;
	error = int_xsk_bind(&handle->xsk, &handle->config);
	if (error != 0)
		return int_throw_errno(env, "bind", error, NULL);
	return napi_get_boolean(env, handle->xsk.zero_copy, &result) == napi_ok ? result : NULL;
}

/* socketPromiscuous(handle) */
static napi_value socket_promiscuous(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	const char *step = "";
	napi_value argument;
	int error;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = open_socket(env, argument)) == NULL)
		return NULL;
	error = int_xsk_promiscuous(&handle->xsk, &step);
	return error == 0 ? NULL : int_throw_errno(env, step, error, NULL);
}

/* socketRegister(handle, map): puts the socket into a map of sockets, at the number of its queue. */
static napi_value socket_register(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value arguments[2];
	int32_t map;
	int error;

	if (int_arguments(env, info, 2, arguments) != 0 || (handle = open_socket(env, arguments[0])) == NULL ||
	    int_get_i32(env, arguments[1], &map) != 0)
		return NULL;
	error = xsk_bpf_map_update(map, &handle->xsk.queue, &handle->xsk.fd, BPF_ANY);
	return error == 0 ? NULL : int_throw_errno(env, "BPF_MAP_UPDATE_ELEM", error, NULL);
}

/* socketClose(handle) */
static napi_value socket_close(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_socket(env, argument)) == NULL)
		return NULL;
	close_early(handle);
	return NULL;
}

/* Socket, batch and a count of rows that is not more than it has. */
struct rows {
	struct socket_handle *socket;
	struct int_batch *batch;
	uint32_t count;
};

static int get_rows(napi_env env, napi_callback_info info, struct rows *rows)
{
	napi_value arguments[3];

	if (int_arguments(env, info, 3, arguments) != 0 || (rows->socket = get_socket(env, arguments[0])) == NULL ||
	    (rows->batch = int_get_batch(env, arguments[1])) == NULL || int_get_u32(env, arguments[2], &rows->count) != 0)
		return -1;
	if (rows->count > rows->batch->capacity) {
		int_throw_range(env, "count exceeds the batch");
		return -1;
	}
	return 0;
}

/* receive(socket, batch, most): rows received */
static napi_value receive(napi_env env, napi_callback_info info)
{
	struct rows rows;

	if (get_rows(env, info, &rows) != 0)
		return NULL;
	if (!rows.socket->is_open)
		return int_number(env, ANSWER_CLOSED);
	return int_number(env,
			  int_xsk_receive(&rows.socket->xsk, rows.batch->offsets, rows.batch->lengths, rows.count));
}

/* release(socket, batch, count): 0 or a fault */
static napi_value release(napi_env env, napi_callback_info info)
{
	struct int_xsk_problem problem;
	struct rows rows;

	if (get_rows(env, info, &rows) != 0)
		return NULL;
	if (!rows.socket->is_open)
		return int_number(env, ANSWER_CLOSED);
	if (int_xsk_release(&rows.socket->xsk, rows.batch->offsets, rows.count, &problem) != 0)
		return int_number(env, ANSWER_FAULT(problem));
	return int_number(env, 0);
}

/* acquire(socket, batch, count): rows acquired */
static napi_value acquire(napi_env env, napi_callback_info info)
{
	struct rows rows;

	if (get_rows(env, info, &rows) != 0)
		return NULL;
	if (!rows.socket->is_open)
		return int_number(env, ANSWER_CLOSED);
	return int_number(env,
			  int_xsk_acquire(&rows.socket->xsk, rows.batch->offsets, rows.batch->lengths, rows.count));
}

/* discard(socket, batch, end, start): rows [start, end) go back unsent; 0 or a fault */
static napi_value discard(napi_env env, napi_callback_info info)
{
	struct int_xsk_problem problem;
	napi_value arguments[4];
	uint32_t start;
	struct rows rows;

	if (get_rows(env, info, &rows) != 0 || int_arguments(env, info, 4, arguments) != 0 ||
	    int_get_u32(env, arguments[3], &start) != 0)
		return NULL;
	if (start > rows.count)
		return int_throw_range(env, "start exceeds the end");
	if (!rows.socket->is_open)
		return int_number(env, ANSWER_CLOSED);
	if (int_xsk_discard(&rows.socket->xsk, rows.batch->offsets + start, rows.count - start, &problem) != 0) {
		problem.row += start;
		return int_number(env, ANSWER_FAULT(problem));
	}
	return int_number(env, 0);
}

/* transmit(socket, batch, count): rows accepted, plus ANSWER_ERRNO times the error number of sendto, or a fault */
static napi_value transmit(napi_env env, napi_callback_info info)
{
	struct int_xsk_problem problem = { 0 };
	uint32_t accepted;
	struct rows rows;
	int error;

	if (get_rows(env, info, &rows) != 0)
		return NULL;
	if (!rows.socket->is_open)
		return int_number(env, ANSWER_CLOSED);
	error = int_xsk_transmit(&rows.socket->xsk, rows.batch->offsets, rows.batch->lengths, rows.count, &accepted,
				 &problem);
	if (problem.fault != 0)
		return int_number(env, ANSWER_FAULT(problem));
	return int_number(env, accepted - error * ANSWER_ERRNO);
}

/* pending(socket): frames not completed, plus ANSWER_ERRNO times an error number */
static napi_value pending(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument;
	uint32_t count;
	int error;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_socket(env, argument)) == NULL)
		return NULL;
	if (!handle->is_open)
		return int_number(env, 0);
	error = int_xsk_pending(&handle->xsk, &count);
	return int_number(env, count - error * ANSWER_ERRNO);
}

/* readable(socket): whether there is a frame to receive */
static napi_value readable(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument, result;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_socket(env, argument)) == NULL)
		return NULL;
	return napi_get_boolean(env, handle->is_open && int_xsk_readable(&handle->xsk), &result) == napi_ok ? result : NULL;
}

/* waitSync(socket, milliseconds): 1, 0 or a negative error number */
static napi_value wait_sync(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value arguments[2];
	double timeout_ms;

	if (int_arguments(env, info, 2, arguments) != 0 || (handle = open_socket(env, arguments[0])) == NULL)
		return NULL;
	if (napi_get_value_double(env, arguments[1], &timeout_ms) != napi_ok)
		return int_throw_type(env, "a number is needed");
	return int_number(env, int_xsk_poll(&handle->xsk, -1, timeout_ms));
}

/* waitStart(socket, milliseconds, callback): the callback is that of the first call; it gets what waitSync returns */
static napi_value wait_start(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value arguments[3];
	double timeout_ms;

	if (int_arguments(env, info, 3, arguments) != 0 || (handle = open_socket(env, arguments[0])) == NULL)
		return NULL;
	if (napi_get_value_double(env, arguments[1], &timeout_ms) != napi_ok)
		return int_throw_type(env, "a number is needed");
	if (handle->waiter == NULL && int_waiter_start(env, poll_socket, &handle->xsk, arguments[2], &handle->waiter) != 0)
		return NULL;
	if (!int_waiter_wait(handle->waiter, timeout_ms))
		return int_throw_errno(env, "wait", EALREADY, NULL);
	return NULL;
}

/* waitCancel(socket) */
static napi_value wait_cancel(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = get_socket(env, argument)) == NULL)
		return NULL;
	if (handle->waiter != NULL)
		int_waiter_cancel(handle->waiter);
	return NULL;
}

/* socketError(socket): a positive error number, or 0 */
static napi_value socket_error(napi_env env, napi_callback_info info)
{
	struct socket_handle *handle;
	napi_value argument;

	if (int_arguments(env, info, 1, &argument) != 0 || (handle = open_socket(env, argument)) == NULL)
		return NULL;
	return int_number(env, -int_xsk_error(&handle->xsk));
}

/* socketStats(socket, numbers): fills a Float64Array of 14 */
static napi_value socket_stats(napi_env env, napi_callback_info info)
{
	struct int_xsk_kernel_counters kernel;
	const struct int_xsk_counters *ours;
	struct socket_handle *handle;
	napi_value arguments[2];
	double *numbers;
	size_t bytes;
	int error;

	if (int_arguments(env, info, 2, arguments) != 0 || (handle = open_socket(env, arguments[0])) == NULL ||
	    (numbers = int_get_bytes(env, arguments[1], &bytes)) == NULL)
		return NULL;
	if (bytes < 14 * sizeof(double))
		return int_throw_range(env, "14 numbers are needed");
	error = int_xsk_kernel_counters(&handle->xsk, &kernel);
	if (error != 0)
		return int_throw_errno(env, "XDP_STATISTICS", error, NULL);
	ours = &handle->xsk.counters;
	numbers[0] = (double)ours->received;
	numbers[1] = (double)ours->received_bytes;
	numbers[2] = (double)ours->released;
	numbers[3] = (double)ours->sent;
	numbers[4] = (double)ours->sent_bytes;
	numbers[5] = (double)ours->completed;
	numbers[6] = (double)ours->foreign;
	numbers[7] = (double)kernel.rx_dropped;
	numbers[8] = (double)kernel.rx_invalid;
	numbers[9] = (double)kernel.rx_ring_full;
	numbers[10] = (double)kernel.fill_ring_empty;
	numbers[11] = (double)kernel.tx_invalid;
	numbers[12] = (double)kernel.tx_ring_empty;
	numbers[13] = (double)ours->unsent;
	return NULL;
}

/* interfaceIndex(name): throws ENODEV */
static napi_value interface_index(napi_env env, napi_callback_info info)
{
	char name[256];
	napi_value argument;
	int index;

	if (int_arguments(env, info, 1, &argument) != 0 || int_get_string(env, argument, name, sizeof(name)) != 0)
		return NULL;
	index = int_interface_index(name);
	return index < 0 ? int_throw_errno(env, "SIOCGIFINDEX", index, NULL) : int_number(env, index);
}

/* interfaceIsUp(name): throws ENODEV */
static napi_value interface_is_up(napi_env env, napi_callback_info info)
{
	char name[256];
	napi_value argument, result;
	int is_up;

	if (int_arguments(env, info, 1, &argument) != 0 || int_get_string(env, argument, name, sizeof(name)) != 0)
		return NULL;
	is_up = int_interface_is_up(name);
	if (is_up < 0)
		return int_throw_errno(env, "SIOCGIFFLAGS", is_up, NULL);
	return napi_get_boolean(env, is_up != 0, &result) == napi_ok ? result : NULL;
}

/* interfaceExists(index) */
static napi_value interface_exists(napi_env env, napi_callback_info info)
{
	napi_value argument, result;
	uint32_t index;

	if (int_arguments(env, info, 1, &argument) != 0 || int_get_u32(env, argument, &index) != 0)
		return NULL;
	return napi_get_boolean(env, int_interface_exists(index) == 0, &result) == napi_ok ? result : NULL;
}

/* interfaceQueues(name): throws ENODEV */
static napi_value interface_queues(napi_env env, napi_callback_info info)
{
	char name[256];
	napi_value argument;
	int queues;

	if (int_arguments(env, info, 1, &argument) != 0 || int_get_string(env, argument, name, sizeof(name)) != 0)
		return NULL;
	queues = int_interface_queues(name);
	return queues < 0 ? int_throw_errno(env, "ETHTOOL_GCHANNELS", queues, NULL) : int_number(env, queues);
}

/* trySupport(): makes a socket and a map of sockets, and closes both; throws what fails */
static napi_value try_support(napi_env env, napi_callback_info info)
{
	int fd = socket(AF_XDP, SOCK_RAW | SOCK_CLOEXEC, 0);

	(void)info;
	if (fd < 0)
		return int_throw_errno(env, "socket(AF_XDP)", errno, NULL);
	close(fd);
	fd = xsk_bpf_map_create("try", BPF_MAP_TYPE_XSKMAP, 4, 4, 1, 0);
	if (fd < 0)
		return int_throw_errno(env, "BPF_MAP_CREATE", fd, NULL);
	close(fd);
	return NULL;
}

napi_status int_socket_register(napi_env env, napi_value exports)
{
	static const struct int_function functions[] = {
		{ "socketOpen", socket_open },
		{ "socketBind", socket_bind },
		{ "socketPromiscuous", socket_promiscuous },
		{ "socketRegister", socket_register },
		{ "socketClose", socket_close },
		{ "receive", receive },
		{ "release", release },
		{ "acquire", acquire },
		{ "discard", discard },
		{ "transmit", transmit },
		{ "pending", pending },
		{ "readable", readable },
		{ "waitSync", wait_sync },
		{ "waitStart", wait_start },
		{ "waitCancel", wait_cancel },
		{ "socketError", socket_error },
		{ "socketStats", socket_stats },
		{ "interfaceIndex", interface_index },
		{ "interfaceIsUp", interface_is_up },
		{ "interfaceExists", interface_exists },
		{ "interfaceQueues", interface_queues },
		{ "trySupport", try_support },
	};

	return int_define(env, exports, functions, sizeof(functions) / sizeof(functions[0]));
}
