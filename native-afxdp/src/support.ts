import { toXdpError, XdpError } from './errors.js';
import { native } from './native.js';
import { checkInterfaceName } from './options.js';

interface SupportFunctions {
  trySupport(): void;
  interfaceIndex(name: string): number;
  interfaceQueues(name: string): number;
}

/** Whether AF_XDP can be used; if not, why. */
export type XdpSupport = { readonly ok: true } | { readonly ok: false; readonly error: XdpError };

/**
 * Number of receive queues that an interface uses, so many sockets it takes to get all frames.
 *
 * @throws XdpError ERR_XDP_PLATFORM, ERR_XDP_NOT_BUILT, ERR_XDP_NO_DEVICE; TypeError
 */
export function queueCount(interfaceName: string): number {
  checkInterfaceName(interfaceName);
  try {
    return native<SupportFunctions>().interfaceQueues(interfaceName);
  } catch (failure) {
    throw toXdpError(failure, { interface: interfaceName });
  }
}

/**
 * Tries whether this process can open sockets and load programs: whether it is Linux, the addon is there, the kernel can
 * do it and the rights suffice. Attaches nothing.
 *
 * @param interfaceName looked up too if it is given
 */
export function xdpSupport(interfaceName?: string): XdpSupport {
  try {
    const functions = native<SupportFunctions>();
    functions.trySupport();
    if (interfaceName !== undefined) functions.interfaceIndex(interfaceName);
    return { ok: true };
  } catch (failure) {
    const error = toXdpError(failure, interfaceName === undefined ? {} : { interface: interfaceName });
    if (XdpError.is(error)) return { ok: false, error };
    throw error;
  }
}
