import { XdpError } from './errors.js';
import type { SocketProgram, XdpMode } from './program.js';

/** Options of {@link XdpSocket.open}. */
export interface XdpSocketOptions {
  /** Name of the network interface, such as `eth0`, in the network namespace of this process. */
  readonly interface: string;
  /** Receive queue, from 0. Default 0. Every queue that telemetry arrives at needs a socket of its own. */
  readonly queue?: number;
  /** Default `auto`: in the driver if that can be, else (also where the MTU is too large for that) generic. */
  readonly mode?: 'auto' | XdpMode;
  /** Frames for receiving: a power of two from 2 on. Default 4096. */
  readonly frames?: number;
  /** Further frames for sending: a power of two from 2 on, or 0. Default 0. */
  readonly txFrames?: number;
  /** Bytes of memory per frame. Default 2048. A received frame has 256 bytes less; longer ones are dropped. */
  readonly frameSize?: 2048 | 4096;
  /**
   * UDP destination ports whose datagrams come to the socket; the network stack does not see them then. `all`: every
   * frame. None (`[]`): the socket only sends, and no program is attached. Default: 32766.
   */
  readonly ports?: readonly number[] | 'all';
  /**
   * A program that is attached already, for several sockets with one program; or the number of its socket map, in another
   * thread. `mode` and `ports` are the program's then: with a number, `mode` says which mode it is in.
   */
  readonly program?: SocketProgram | number;
  /**
   * Where the frames are to lie: {@link umemBytes} bytes of an ArrayBuffer, a SharedArrayBuffer or a WebAssembly memory.
   * Default: memory of the socket's own. An ArrayBuffer cannot be transferred to another thread any more afterwards.
   */
  readonly memory?: Uint8Array;
  /** false: insist on copies; true: insist on none. Default: whatever the driver does. */
  readonly zeroCopy?: boolean;
  /**
   * Whether to take frames that are addressed to other hosts too, as long as the socket is open. Default false: it is
   * left as it is.
   */
  readonly promiscuous?: boolean;
}

/** Options with defaults, checked. */
export type CheckedOptions = XdpSocketOptions &
  Required<Pick<XdpSocketOptions, 'queue' | 'mode' | 'frames' | 'txFrames' | 'frameSize' | 'ports'>>;

const PAGE = 4096;
const INT_PORT = 32766;
/** Bytes of an interface's name (IFNAMSIZ), less the zero byte that ends it. */
const LONGEST_NAME = 15;

/**
 * How many bytes `memory` must have: the frames, and what aligning them to a page may cost.
 *
 * @throws RangeError for numbers of frames that are out of range
 */
export function umemBytes(options: Pick<XdpSocketOptions, 'frames' | 'txFrames' | 'frameSize'> = {}): number {
  const { frames = 4096, txFrames = 0, frameSize = 2048 } = options;
  checkPower('frames', frames);
  if (txFrames !== 0) checkPower('txFrames', txFrames);
  if (frameSize !== 2048 && frameSize !== 4096) throw new RangeError(`frameSize is 2048 or 4096, not ${frameSize}`);
  const bytes = (frames + txFrames) * frameSize + PAGE;
  if (bytes > 0xffff_ffff) throw new RangeError(`${frames} + ${txFrames} frames are more than 4 GiB`);
  return bytes;
}

function checkPower(name: string, value: number): void {
  if (!(Number.isInteger(value) && value >= 2 && value <= 1 << 21 && (value & (value - 1)) === 0)) {
    throw new RangeError(`${name} must be a power of two from 2 on, not ${value}`);
  }
}

/** @throws TypeError, RangeError; XdpError ERR_XDP_NO_DEVICE for what can be no name */
export function checkOptions(options: XdpSocketOptions): CheckedOptions {
  const { queue = 0, mode = 'auto', frames = 4096, txFrames = 0, frameSize = 2048, ports = [INT_PORT] } = options;
  const { program, memory } = options;
  checkInterfaceName(options.interface);
  checkInteger('queue', queue, 0, 0xffff);
  if (mode !== 'auto' && mode !== 'driver' && mode !== 'generic') {
    throw new RangeError(`mode is 'auto', 'driver' or 'generic', not ${String(mode)}`);
  }
  const bytes = umemBytes(options);
  if (memory !== undefined) {
    if (!(memory instanceof Uint8Array)) throw new TypeError('memory must be a Uint8Array');
    if (memory.length < bytes) throw new RangeError(`memory has ${memory.length} bytes, and ${bytes} are needed`);
  }
  if (ports !== 'all' && !Array.isArray(ports)) throw new TypeError("ports must be an array or 'all'");
  if (typeof program === 'number') checkInteger('the number of a socket map', program, 0, 2 ** 31 - 1);
  else if (program !== undefined && program.interface !== options.interface) {
    throw new RangeError(`the program is attached to ${program.interface}, not to ${options.interface}`);
  }
  return { ...options, queue, mode, frames, txFrames, frameSize, ports };
}

/** @returns the value. @throws RangeError unless it is an integer in the range */
export function checkInteger(name: string, value: number, least: number, most: number): number {
  if (!Number.isInteger(value) || value < least || value > most) {
    throw new RangeError(`${name} must be an integer from ${least} to ${most}, not ${value}`);
  }
  return value;
}

/** @throws TypeError if it is no text; XdpError ERR_XDP_NO_DEVICE if no interface can have this name */
export function checkInterfaceName(name: string): void {
  if (typeof name !== 'string') throw new TypeError('interface must be the name of a network interface');
  if (name !== '' && Buffer.byteLength(name) <= LONGEST_NAME && !name.includes('\0')) return;
  throw new XdpError('ERR_XDP_NO_DEVICE', `there is no interface ${JSON.stringify(name)}`, {
    hint: 'See `ip link` for the interfaces of this network namespace.',
  });
}
