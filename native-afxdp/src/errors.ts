import { readFileSync } from 'node:fs';
import { getSystemErrorMap } from 'node:util';

const BRAND: unique symbol = /* @__PURE__ */ Symbol.for('@int/afxdp.XdpError') as never;

/** Codes of {@link XdpError}; appended to, never renamed. */
export type XdpErrorCode =
  /** Not Linux. */
  | 'ERR_XDP_PLATFORM'
  /** The addon is missing for this architecture. */
  | 'ERR_XDP_NOT_BUILT'
  /** A capability is missing; the message names it. */
  | 'ERR_XDP_PERMISSION'
  /** The frames are larger than the process may lock in memory. */
  | 'ERR_XDP_MEMLOCK'
  /** There is no interface of that name, or it has been removed. */
  | 'ERR_XDP_NO_DEVICE'
  /** The interface has no such queue. */
  | 'ERR_XDP_QUEUE'
  /** Another socket has the queue, or another program the interface. */
  | 'ERR_XDP_BUSY'
  /** The interface's driver cannot do what was insisted on. */
  | 'ERR_XDP_NO_DRIVER_SUPPORT'
  /** The interface's MTU is too large for driver mode. */
  | 'ERR_XDP_MTU'
  /** The kernel has no AF_XDP, or is too old. */
  | 'ERR_XDP_KERNEL'
  /** The interface went down under the socket. */
  | 'ERR_XDP_DOWN'
  /** The socket or program has been closed. */
  | 'ERR_XDP_CLOSED'
  /** The kernel's verifier refused the program. */
  | 'ERR_XDP_VERIFIER'
  /** Any other failure of a system call: see `syscall` and `errno`. */
  | 'ERR_XDP_SYSTEM';

/** Where an {@link XdpError} comes from. */
export interface XdpErrorDetails {
  /** The step that failed, such as `bind` or `BPF_LINK_CREATE`. */
  readonly syscall?: string | null;
  /** Name of the error number, such as `EBUSY`. */
  readonly errno?: string | null;
  /** What to do about it: one sentence. */
  readonly hint: string;
  readonly cause?: unknown;
}

/** A socket or program could not be opened, or does not work any more. The message says what failed and what to do. */
export class XdpError extends Error {
  override readonly name = 'XdpError';
  readonly code: XdpErrorCode;
  /** The step that failed, such as `bind` or `BPF_LINK_CREATE`; null if it was no call of the kernel. */
  readonly syscall: string | null;
  /** Name of the error number, such as `EBUSY`; null if there was none. */
  readonly errno: string | null;
  /** What to do about it: one sentence, also at the end of the message. */
  readonly hint: string;

  /**
   * @param code the class of failure
   * @param message what failed, without a full stop
   * @param details the step, the error number's name and what to do
   */
  constructor(code: XdpErrorCode, message: string, details: XdpErrorDetails) {
    super(`${message}. ${details.hint}`, details.cause === undefined ? undefined : { cause: details.cause });
    this.code = code;
    this.syscall = details.syscall ?? null;
    this.errno = details.errno ?? null;
    this.hint = details.hint;
    Object.defineProperty(this, BRAND, { value: true });
  }

  /** Works across the ESM and the CommonJS copy of this package, where `instanceof` does not. */
  static is(value: unknown): value is XdpError {
    return typeof value === 'object' && value !== null && BRAND in value;
  }
}

/** What the addon throws when a call of the kernel fails: the step, the (positive) error number, perhaps a log. */
export interface NativeFailure extends Error {
  readonly syscall: string;
  readonly errno: number;
  readonly log?: string;
}

/** Whether a value is a failure from the addon. */
export function isNativeFailure(value: unknown): value is NativeFailure {
  return (
    value instanceof Error &&
    'syscall' in value &&
    typeof value.syscall === 'string' &&
    'errno' in value &&
    typeof value.errno === 'number'
  );
}

/** Name of a positive error number, such as `EBUSY`. */
export function errnoName(errno: number): string {
  // One number with two names, where libuv knows the rarer one; and a number of drivers without a name outside the kernel.
  if (errno === 95) return 'EOPNOTSUPP';
  if (errno === 524) return 'ENOTSUPP';
  return getSystemErrorMap().get(-errno)?.[0] ?? `E${errno}`;
}

/** What was being opened or used, for messages. */
export interface FailureContext {
  readonly interface?: string;
  readonly queue?: number;
  /** Queues that the interface has, if that is known. */
  readonly queues?: number;
  /** What was insisted on: driver mode or zero copy. */
  readonly insists?: string;
}

/** Turns a failure from the addon into an {@link XdpError}; any other value is returned as it is. */
export function toXdpError(failure: unknown, context: FailureContext = {}): unknown {
  return isNativeFailure(failure) ? systemError(failure.syscall, failure.errno, context, failure.log) : failure;
}

/**
 * The error of a failed call of the kernel.
 *
 * @param syscall the step, such as `bind`
 * @param errno its error number, positive
 * @param log what the kernel's verifier said
 */
export function systemError(syscall: string, errno: number, context: FailureContext = {}, log = ''): XdpError {
  const name = errnoName(errno);
  const at = context.interface === undefined ? '' : ` on ${context.interface}`;
  const queue = context.queue === undefined ? '' : ` queue ${context.queue}`;
  const [code, what, hint] = classify(syscall, name, context, log.trim());
  return new XdpError(code, `${what}: ${syscall}${at}${queue} failed with ${name}`, { syscall, errno: name, hint });
}

/**
 * The error for what the kernel says of a socket's interface.
 *
 * @param isThere whether the interface still exists
 */
export function lostInterface(syscall: string, errno: number, context: FailureContext, isThere: boolean): XdpError {
  const error = systemError(syscall, errno, context);
  const isGone = error.code === 'ERR_XDP_DOWN' || error.code === 'ERR_XDP_NO_DEVICE';
  if (!isGone || isThere) return error;
  const { errno: name } = error;
  return new XdpError(
    'ERR_XDP_NO_DEVICE',
    `${context.interface ?? 'the interface'} has been removed: ${syscall} says ${name}`,
    {
      syscall,
      errno: name,
      hint: 'Close the socket, and open another one when the interface is back.',
    },
  );
}

type Class = readonly [code: XdpErrorCode, what: string, hint: string];

function classify(syscall: string, errno: string, context: FailureContext, log: string): Class {
  const name = context.interface ?? 'the interface';
  if (syscall === 'BPF_PROG_LOAD' && log !== '') {
    // Without it the verifier is stricter: it forbids comparing and subtracting pointers, as the prefilter does.
    if (!mayUsePointers()) return permissionFor(['CAP_PERFMON']);
    return [
      'ERR_XDP_VERIFIER',
      `the kernel refused the program (${log})`,
      'Report this, with the version of the kernel: the program is meant to load.',
    ];
  }
  switch (errno) {
    case 'EPERM':
    case 'EACCES':
      return permission(syscall);
    case 'ENODEV':
    case 'ENXIO':
      return [
        'ERR_XDP_NO_DEVICE',
        context.interface === undefined ? 'no such interface' : `there is no interface ${name}`,
        'See `ip link` for the interfaces of this network namespace.',
      ];
    case 'ENETDOWN':
      return ['ERR_XDP_DOWN', `${name} is down`, `Bring it up with \`ip link set ${name} up\`.`];
    case 'EAFNOSUPPORT':
    case 'ENOPROTOOPT':
    case 'ENOSYS':
      return [
        'ERR_XDP_KERNEL',
        'this kernel is too old, or has no AF_XDP or no BPF',
        'Linux 5.9 or later with CONFIG_XDP_SOCKETS and CONFIG_BPF_SYSCALL is needed.',
      ];
    case 'EBUSY':
    case 'EEXIST':
      return syscall === 'bind'
        ? [
            'ERR_XDP_BUSY',
            'another socket has the queue',
            'Close that socket, which may be of another process, or choose another queue.',
          ]
        : [
            'ERR_XDP_BUSY',
            'another XDP program is attached',
            `End the process that attached it, or detach it with \`ip link set ${name} xdp off\`.`,
          ];
    case 'ERANGE':
      return [
        'ERR_XDP_MTU',
        `the MTU of ${name} is too large for XDP in the driver`,
        `Lower it, such as with \`ip link set ${name} mtu 1500\`, or use the mode 'generic'.`,
      ];
    case 'EOPNOTSUPP':
    case 'ENOTSUPP':
      return [
        'ERR_XDP_NO_DRIVER_SUPPORT',
        `the driver of ${name} does not support ${context.insists ?? 'this'}`,
        "Use the mode 'auto' or 'generic', and leave `zeroCopy` out.",
      ];
    case 'ENOBUFS':
      if (syscall !== 'XDP_UMEM_REG') break;
      return [
        'ERR_XDP_MEMLOCK',
        'the frames are more memory than this process may lock',
        'Raise that limit (`ulimit -l`, LimitMEMLOCK= of systemd), grant CAP_IPC_LOCK, or use fewer frames.',
      ];
    case 'EINVAL':
      if (syscall !== 'bind' || (context.queue ?? 0) < (context.queues ?? 0)) break;
      return [
        'ERR_XDP_QUEUE',
        `${name} has no such queue`,
        `It has ${context.queues ?? 'fewer'}; \`ethtool -L ${name}\` changes that where the driver can.`,
      ];
  }
  return ['ERR_XDP_SYSTEM', 'the kernel refused', `${errno} is explained in the manual pages errno(3) and bpf(2).`];
}

const CAPABILITIES = { CAP_NET_ADMIN: 12, CAP_NET_RAW: 13, CAP_SYS_ADMIN: 21, CAP_PERFMON: 38, CAP_BPF: 39 } as const;
type Capability = keyof typeof CAPABILITIES;

function permission(syscall: string): Class {
  if (syscall.startsWith('BPF_LINK')) return permissionFor(['CAP_NET_ADMIN']);
  return permissionFor(syscall.startsWith('BPF_') ? ['CAP_BPF', 'CAP_NET_ADMIN'] : ['CAP_NET_RAW']);
}

function mayUsePointers(): boolean {
  const effective = effectiveCapabilities();
  return effective[CAPABILITIES.CAP_PERFMON] === true || effective[CAPABILITIES.CAP_SYS_ADMIN] === true;
}

function permissionFor(needed: readonly Capability[]): Class {
  const effective = effectiveCapabilities();
  const missing = needed.filter((name) => effective[CAPABILITIES[name]] === undefined);
  const names = (missing.length === 0 ? needed : missing).join(' and ');
  return [
    'ERR_XDP_PERMISSION',
    missing.length === 0 ? `${names} of the initial user namespace needed` : `${names} missing`,
    'Run as root, or grant CAP_NET_RAW, CAP_NET_ADMIN and CAP_BPF (as with AmbientCapabilities= of systemd), and CAP_PERFMON for the pre-filter.',
  ];
}

/** The capabilities that this process has, by number: those without are holes. */
function effectiveCapabilities(): readonly (true | undefined)[] {
  let mask = 0n;
  try {
    mask = BigInt(`0x${/^CapEff:\s*([0-9a-f]+)$/m.exec(readFileSync('/proc/self/status', 'utf8'))?.[1] ?? '0'}`);
  } catch {
    // No /proc: all that are needed are named.
  }
  return Array.from({ length: 64 }, (_, bit) => ((mask >> BigInt(bit)) & 1n) === 1n || undefined);
}

/** The error of a call on something closed. */
export function closed(what: string): XdpError {
  return new XdpError('ERR_XDP_CLOSED', `${what} is closed`, { hint: 'Open a new one.' });
}
