// SPDX-License-Identifier: Apache-2.0
/*
 * The waiting thread of a socket: see waiter.h.
 */
#include "waiter.h"

#include "binding.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

#define STACK_BYTES (256u * 1024)

enum request {
	REQUEST_NONE,
	REQUEST_WAIT,
	REQUEST_STOP,
};

struct int_waiter {
	napi_env env;
	napi_threadsafe_function tell;
	int_waiter_poll poll;
	void *socket;
	/* Where the owner has the waiter. */
	struct int_waiter **slot;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t changed;
	int cancel_fd;
	/* Under the lock. */
	enum request request;
	double timeout_ms;
	int result;
	/* Of the JavaScript thread only: a result has been asked for and not been told. */
	bool is_busy;
};

static void *run(void *argument)
{
	struct int_waiter *waiter = argument;

	pthread_mutex_lock(&waiter->lock);
	for (;;) {
		double timeout_ms;
		int result;

		while (waiter->request == REQUEST_NONE)
			pthread_cond_wait(&waiter->changed, &waiter->lock);
		if (waiter->request == REQUEST_STOP)
			break;
		timeout_ms = waiter->timeout_ms;
		pthread_mutex_unlock(&waiter->lock);
		result = waiter->poll(waiter->socket, waiter->cancel_fd, timeout_ms);
		pthread_mutex_lock(&waiter->lock);
		if (waiter->request == REQUEST_STOP)
			break;
		waiter->request = REQUEST_NONE;
		waiter->result = result;
		pthread_mutex_unlock(&waiter->lock);
		/* Never blocks, and fails only when the environment is going down: then nobody waits any more. */
		napi_call_threadsafe_function(waiter->tell, NULL, napi_tsfn_nonblocking);
		pthread_mutex_lock(&waiter->lock);
	}
	pthread_mutex_unlock(&waiter->lock);
	return NULL;
}

/* On the JavaScript thread. */
static void tell_result(napi_env env, napi_value callback, void *context, void *data)
{
	struct int_waiter *waiter = context;
	napi_value receiver, argument;
	int result;

	(void)data;
	/* Without an environment it is called for what is left in the queue after the end. */
	if (env == NULL || callback == NULL)
		return;
	pthread_mutex_lock(&waiter->lock);
	result = waiter->result;
	pthread_mutex_unlock(&waiter->lock);
	waiter->is_busy = false;
	napi_unref_threadsafe_function(env, waiter->tell);
	argument = int_number(env, result);
	if (argument != NULL && napi_get_undefined(env, &receiver) == napi_ok)
		napi_call_function(env, receiver, callback, 1, &argument, NULL);
}

static void destroy(struct int_waiter *waiter)
{
	close(waiter->cancel_fd);
	pthread_cond_destroy(&waiter->changed);
	pthread_mutex_destroy(&waiter->lock);
	free(waiter);
}

/* When the last result has been told or dropped. */
static void finalize(napi_env env, void *data, void *hint)
{
	(void)env;
	(void)hint;
	destroy(data);
}

static void end_thread(struct int_waiter *waiter)
{
	pthread_mutex_lock(&waiter->lock);
	waiter->request = REQUEST_STOP;
	pthread_cond_signal(&waiter->changed);
	pthread_mutex_unlock(&waiter->lock);
	int_waiter_cancel(waiter);
	pthread_join(waiter->thread, NULL);
}

static void clean_up(void *data)
{
	struct int_waiter *waiter = data;

	end_thread(waiter);
	/* From here on the waiter is the function's, which frees it: the owner's own hook, which runs later, must not. */
	*waiter->slot = NULL;
	napi_release_threadsafe_function(waiter->tell, napi_tsfn_abort);
}

static int start_thread(struct int_waiter *waiter)
{
	pthread_attr_t attributes;
	sigset_t all, before;
	int error;

	pthread_attr_init(&attributes);
	pthread_attr_setstacksize(&attributes, STACK_BYTES);
	/* Signals are for the threads of Node. */
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	error = pthread_create(&waiter->thread, &attributes, run, waiter);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	return error;
}

int int_waiter_start(napi_env env, int_waiter_poll poll, void *socket, napi_value callback, struct int_waiter **slot)
{
	struct int_waiter *waiter = calloc(1, sizeof(*waiter));
	napi_value name;
	int error;

	if (waiter == NULL) {
		int_throw_errno(env, "malloc", ENOMEM, NULL);
		return -1;
	}
	waiter->env = env;
	waiter->poll = poll;
	waiter->socket = socket;
	waiter->slot = slot;
	pthread_mutex_init(&waiter->lock, NULL);
	pthread_cond_init(&waiter->changed, NULL);
	waiter->cancel_fd = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
	if (waiter->cancel_fd < 0) {
		int_throw_errno(env, "eventfd", errno, NULL);
		destroy(waiter);
		return -1;
	}
	if (napi_create_string_utf8(env, "@int/afxdp wait", NAPI_AUTO_LENGTH, &name) != napi_ok ||
	    napi_create_threadsafe_function(env, callback, NULL, name, 0, 1, waiter, finalize, waiter, tell_result,
					    &waiter->tell) != napi_ok) {
		int_throw_type(env, "a function is needed");
		destroy(waiter);
		return -1;
	}
	napi_unref_threadsafe_function(env, waiter->tell);
	error = start_thread(waiter);
	if (error != 0) {
		napi_release_threadsafe_function(waiter->tell, napi_tsfn_abort);
		int_throw_errno(env, "pthread_create", error, NULL);
		return -1;
	}
	/*
	 * Hooks run last first: after that of the thread-safe function this one is called before it, while the function can
	 * still be used.
	 */
	napi_add_env_cleanup_hook(env, clean_up, waiter);
	*slot = waiter;
	return 0;
}

bool int_waiter_wait(struct int_waiter *waiter, double timeout_ms)
{
	eventfd_t count;

	if (waiter->is_busy)
		return false;
	/* A cancellation that came too late for the last wait is not for this one. */
	eventfd_read(waiter->cancel_fd, &count);
	waiter->is_busy = true;
	napi_ref_threadsafe_function(waiter->env, waiter->tell);
	pthread_mutex_lock(&waiter->lock);
	waiter->timeout_ms = timeout_ms;
	waiter->request = REQUEST_WAIT;
	pthread_cond_signal(&waiter->changed);
	pthread_mutex_unlock(&waiter->lock);
	return true;
}

void int_waiter_cancel(struct int_waiter *waiter)
{
	eventfd_write(waiter->cancel_fd, 1);
}

void int_waiter_stop(struct int_waiter *waiter)
{
	napi_remove_env_cleanup_hook(waiter->env, clean_up, waiter);
	clean_up(waiter);
}
