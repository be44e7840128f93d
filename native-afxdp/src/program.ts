import { LoadedProgram, type XdpMode } from './loaded-program.js';

export type { XdpMode };

/** A program that hands frames to sockets: what a socket needs to know of it. */
export interface SocketProgram {
  readonly mode: XdpMode;
  readonly interface: string;
  /** File descriptor of the map in which sockets are found by queue; valid in all threads of the process. */
  readonly socketMap: number;
}

/** Which frames {@link XdpProgram.steer} hands to sockets, and where. */
export interface XdpProgramOptions {
  readonly interface: string;
  /** Default `auto`: in the driver if that can be, else generic. */
  readonly mode?: 'auto' | XdpMode;
  /** UDP destination ports, 0 to 65535; or all frames, whatever they carry. */
  readonly ports: readonly number[] | 'all';
}

/** Frames that a program has seen, since it was attached. */
export interface XdpProgramCounters {
  /** Handed to a socket (which may have had no room: see its own statistics). */
  readonly steered: number;
  /** Not to one of the ports: left to the network stack. */
  readonly passed: number;
  /** To one of the ports, but with no socket at their queue: left to the network stack. */
  readonly noSocket: number;
}

/** Where `all` stands in the value of the map `ports` (xdp/steer_maps.h): a bit per port, then this. */
const ALL_WORD = 1024;
const WORDS = 1025;

/**
 * An XDP program that hands UDP datagrams to some ports (IPv4, also with options but not in fragments; IPv6 without
 * extension headers; up to two VLAN tags), or all frames, to the socket of their queue. What it does not hand over goes
 * on to the network stack. It is attached by a BPF link: when the process ends, however it does, the program goes.
 */
export class XdpProgram implements SocketProgram {
  readonly mode: XdpMode;
  readonly interface: string;
  readonly socketMap: number;
  readonly #program: LoadedProgram;

  private constructor(program: LoadedProgram, interfaceName: string, mode: XdpMode) {
    this.#program = program;
    this.interface = interfaceName;
    this.mode = mode;
    this.socketMap = program.map('sockets').fd;
  }

  /**
   * Loads the program and attaches it.
   *
   * @throws XdpError ERR_XDP_NO_DEVICE, ERR_XDP_BUSY (another XDP program is there), ERR_XDP_PERMISSION and others;
   *   RangeError for a port that is none
   */
  static steer({ interface: interfaceName, mode = 'auto', ports }: XdpProgramOptions): XdpProgram {
    const bits = steeredPorts(ports);
    const program = new LoadedProgram('steer');
    try {
      program.map('ports').update(0, bits);
      return new XdpProgram(program, interfaceName, program.attach(interfaceName, mode));
    } catch (failure) {
      program.close();
      throw failure;
    }
  }

  /**
   * Hands over other ports from now on.
   *
   * @throws XdpError ERR_XDP_CLOSED; RangeError for a port that is none
   */
  setPorts(ports: readonly number[] | 'all'): void {
    this.#program.map('ports').update(0, steeredPorts(ports));
  }

  /** @throws XdpError ERR_XDP_CLOSED */
  counters(): XdpProgramCounters {
    const [steered, passed, noSocket] = this.#program.map('totals').sum(0);
    return { steered: Number(steered), passed: Number(passed), noSocket: Number(noSocket) };
  }

  /** Detaches the program and frees it; again: nothing. Sockets stay open but receive nothing any more. */
  close(): void {
    this.#program.close();
  }
}

/**
 * The value of the map `ports` of the program `steer`.
 *
 * @throws RangeError for a port that is none
 */
export function steeredPorts(ports: readonly number[] | 'all'): BigUint64Array {
  const bits = new BigUint64Array(WORDS);
  if (ports === 'all') bits[ALL_WORD] = 1n;
  else setPortBits(bits, ports);
  return bits;
}

/**
 * Sets a bit for each port: that of port p is bit p % 64 of word p / 64.
 *
 * @throws RangeError for a port that is none
 */
export function setPortBits(bits: BigUint64Array, ports: readonly number[]): void {
  for (const port of ports) {
    if (!Number.isInteger(port) || port < 0 || port > 0xffff) {
      throw new RangeError(`${port} is no UDP port: ports are integers from 0 to 65535`);
    }
    const word = port >>> 6;
    bits[word] = bits[word]! | (1n << BigInt(port & 63));
  }
}
