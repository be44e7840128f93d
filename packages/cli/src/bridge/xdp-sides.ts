import type { XdpLink, XdpProgram, XdpSocket, XdpSocketOptions } from '@int/afxdp';
import { SourceError } from '@int/collector';
import { type Afxdp, loadAfxdp } from '../afxdp.js';
import { linkWords } from '../input/link-words.js';
import type { BridgeSide, BridgeSides, OpenSidesOptions } from './frame-port.js';

/** Memory per frame. 3840 bytes of it are usable, enough for an MTU of up to 3800 bytes. */
const FRAME_BYTES = 4096;
/** Frames per queue for receiving and for sending. */
const SIZES = { frames: 4096, txFrames: 4096, frameSize: FRAME_BYTES } as const;

/** The memory of a queue. */
export type QueueSizes = Required<Pick<XdpSocketOptions, 'frames' | 'txFrames' | 'frameSize'>>;

/** An interface with a socket per queue and, if it receives, a program that redirects all frames to them. */
export class XdpSide implements BridgeSide {
  readonly interface: string;
  readonly #afxdp: Afxdp;
  readonly #link: XdpLink;
  readonly #receives: boolean;
  readonly #mode: OpenSidesOptions['mode'];
  /** Memory of the sockets, a part per queue. */
  #memory: Uint8Array;
  #program: XdpProgram | null = null;
  #ports: XdpSocket[] = [];
  readonly #queue: number | undefined;
  readonly #sizes: QueueSizes;

  /**
   * @param memory replaced if it proves too small
   * @param queue the only queue to use; frames of others are left to this machine. Default: all
   * @param sizes memory of each queue
   */
  constructor(
    afxdp: Afxdp,
    link: XdpLink,
    receives: boolean,
    mode: OpenSidesOptions['mode'],
    memory: Uint8Array,
    queue?: number,
    sizes: QueueSizes = SIZES,
  ) {
    this.interface = link.interface;
    this.#afxdp = afxdp;
    this.#link = link;
    this.#receives = receives;
    this.#mode = mode;
    this.#memory = memory;
    this.#queue = queue;
    this.#sizes = sizes;
  }

  get ports(): readonly XdpSocket[] {
    return this.#ports;
  }

  get problem(): Error | null {
    return this.#link.problem;
  }

  get outages(): number {
    return this.#link.outages;
  }

  look(): boolean {
    return this.#link.look();
  }

  failed(error: unknown): boolean {
    return this.#link.failed(error);
  }

  async renew(signal: AbortSignal): Promise<void> {
    this.close();
    await this.#link.reopen(() => this.#open(), signal);
    if (signal.aborted) this.close();
  }

  /** @throws XdpError, after closing everything */
  async open(): Promise<void> {
    this.#link.follow();
    await this.#open();
  }

  async #open(): Promise<void> {
    const { XdpProgram, XdpSocket, queueCount, umemBytes } = this.#afxdp;
    const { interface: name } = this;
    const opened: XdpSocket[] = [];
    try {
      const queues =
        this.#queue === undefined ? Array.from({ length: queueCount(name) }, (_, number) => number) : [this.#queue];
      const portBytes = umemBytes(this.#sizes);
      if (this.#memory.length < queues.length * portBytes) this.#memory = new Uint8Array(queues.length * portBytes);
      const mode = this.#mode;
      if (this.#receives) this.#program = XdpProgram.steer({ interface: name, mode, ports: 'all' });
      for (const [at, queue] of queues.entries()) {
        const options: XdpSocketOptions = {
          ...this.#sizes,
          interface: name,
          queue,
          promiscuous: this.#receives,
          memory: this.#memory.subarray(at * portBytes, (at + 1) * portBytes),
          ...(this.#program === null ? { mode, ports: [] } : { program: this.#program }),
        };
        opened.push(await XdpSocket.open(options));
      }
      this.#ports = opened;
    } catch (error) {
      this.detach();
      for (const port of opened) port.close();
      throw error;
    }
  }

  detach(): void {
    this.#program?.close();
    this.#program = null;
  }

  close(): void {
    this.detach();
    for (const port of this.#ports.splice(0)) port.close();
  }
}

/**
 * Opens both interfaces. All frames are in one memory, unless an interface gets more queues. Copies from one interface
 * to the other then need no view.
 *
 * @throws SourceError that names the interface, CliError if the package is not installed
 */
export async function openXdpSides({ inner, outer, mode, isOneWay, tell }: OpenSidesOptions): Promise<BridgeSides> {
  const afxdp = await loadAfxdp('int bridge');
  const bytesOf = (name: string): number => afxdp.queueCount(name) * afxdp.umemBytes(SIZES);
  const [innerBytes, outerBytes] = [
    await naming(afxdp, inner, () => bytesOf(inner)),
    await naming(afxdp, outer, () => bytesOf(outer)),
  ];
  const memory = new Uint8Array(innerBytes + outerBytes);
  const side = (name: string, receives: boolean, part: Uint8Array): XdpSide => {
    const link = new afxdp.XdpLink({ interface: name, ...linkWords(name, tell) });
    return new XdpSide(afxdp, link, receives, mode, part);
  };
  const innerSide = side(inner, true, memory.subarray(0, innerBytes));
  const outerSide = side(outer, !isOneWay, memory.subarray(innerBytes));
  try {
    // Open OUT first: frames that arrive at IN are forwarded at once.
    for (const one of [outerSide, innerSide]) await naming(afxdp, one.interface, () => one.open());
  } catch (error) {
    for (const one of [outerSide, innerSide]) one.close();
    throw error;
  }
  return { inner: innerSide, outer: outerSide, rows: (capacity) => new afxdp.XdpBatch(capacity) };
}

/** @throws SourceError (rejects) that names the interface, instead of an XdpError */
async function naming<T>({ XdpError }: Afxdp, name: string, open: () => T | Promise<T>): Promise<T> {
  try {
    return await open();
  } catch (error) {
    if (XdpError.is(error)) throw new SourceError('ERR_SOURCE_OPEN', name, error.message, error);
    throw error;
  }
}
