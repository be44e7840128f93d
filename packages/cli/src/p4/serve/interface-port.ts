/** Ports on network interfaces, which may go down or away and come back. */
import { readFileSync } from 'node:fs';
import type { PacketSocket, XdpLink } from '@int/afxdp';
import { type FrameSocket, SocketPort } from '@int/p4switch';
import { type Afxdp, loadAfxdp } from '../../afxdp.js';
import { type QueueSizes, XdpSide } from '../../bridge/xdp-sides.js';
import { linkWords } from '../../input/link-words.js';
import { CliError, EXIT } from '../../io.js';
import type { PortSpec } from './port-spec.js';

type InterfaceSpec = Extract<PortSpec, { readonly interface: string }>;

/** Where the XDP programs of ports run. */
export type PortMode = 'auto' | 'driver' | 'generic';

/** Time between two looks at an interface, in milliseconds. */
const LOOK_MS = 100;
/** Memory per frame of a packet socket: enough for an MTU of 9000 bytes. */
const PACKET_FRAME_BYTES = 9216;

/** Frames per queue that may wait while the process is busy, and that may wait to be sent. */
const FRAMES = { frames: 16_384, txFrames: 4096 } as const;
/** Bytes of a frame's memory that are not for the frame. */
const HEADROOM = 256;
/** Bytes of an Ethernet header with two VLAN tags. */
const ETHERNET = 22;

/** Short frames take half of the memory. */
function sizesOf(name: string): QueueSizes {
  let mtu = Number.POSITIVE_INFINITY;
  try {
    mtu = Number(readFileSync(`/sys/class/net/${name}/mtu`, 'latin1'));
  } catch {
    // Opening it tells what is wrong.
  }
  return { ...FRAMES, frameSize: mtu + ETHERNET > 2048 - HEADROOM ? 4096 : 2048 };
}

/** The sockets of an interface. */
interface Sockets {
  readonly ports: readonly FrameSocket[];
  /** Why the interface does not carry frames, or null. */
  readonly problem: Error | null;
  readonly outages: number;
  open(): Promise<void>;
  look(): boolean;
  failed(error: unknown): boolean;
  renew(signal: AbortSignal): Promise<void>;
  close(): void;
}

/** One packet socket for the whole interface. */
class PacketSide implements Sockets {
  readonly #afxdp: Afxdp;
  readonly #link: XdpLink;
  #socket: PacketSocket | null = null;

  constructor(afxdp: Afxdp, link: XdpLink) {
    this.#afxdp = afxdp;
    this.#link = link;
  }

  get ports(): readonly FrameSocket[] {
    return this.#socket === null ? [] : [this.#socket];
  }

  get problem(): Error | null {
    return this.#link.problem;
  }

  get outages(): number {
    return this.#link.outages;
  }

  async open(): Promise<void> {
    this.#link.follow();
    this.#socket = this.#afxdp.PacketSocket.open({
      interface: this.#link.interface,
      frameSize: PACKET_FRAME_BYTES,
    });
  }

  look(): boolean {
    return this.#link.look();
  }

  failed(error: unknown): boolean {
    return this.#link.failed(error);
  }

  async renew(signal: AbortSignal): Promise<void> {
    this.close();
    await this.#link.reopen(() => this.open(), signal);
    if (signal.aborted) this.close();
  }

  close(): void {
    this.#socket?.close();
    this.#socket = null;
  }
}

/** A port on an interface. */
export class InterfacePort extends SocketPort {
  readonly #side: Sockets;
  readonly #ending = new AbortController();
  readonly #looking: NodeJS.Timeout;
  #isRenewing = false;

  private constructor(name: string, side: Sockets, afxdp: Afxdp, onFault: (error: unknown) => void) {
    super(side.ports, {
      name,
      rows: (capacity) => new afxdp.XdpBatch(capacity),
      link: {
        get isUp() {
          return side.problem === null;
        },
        get outages() {
          return side.outages;
        },
      },
      onFailure: (error) => {
        if (!side.failed(error)) onFault(error);
      },
    });
    this.#side = side;
    this.#looking = setInterval(() => this.#look(onFault), LOOK_MS);
    this.#looking.unref();
  }

  /**
   * @param tell prints messages about changes of the interface
   * @param onFault called with an error that has nothing to do with the interface's state
   * @throws CliError (rejects) that names the interface
   */
  static async open(
    spec: InterfaceSpec,
    mode: PortMode,
    tell: (message: string) => void,
    onFault: (error: unknown) => void,
  ): Promise<InterfacePort> {
    const afxdp = await loadAfxdp(`a port ${spec.kind}:${spec.interface}`);
    const { XdpError, XdpLink } = afxdp;
    const name = `${spec.kind}:${spec.interface}`;
    try {
      const link = new XdpLink({ interface: spec.interface, ...linkWords(spec.interface, tell) });
      const side: Sockets =
        spec.kind === 'packet'
          ? new PacketSide(afxdp, link)
          : new XdpSide(afxdp, link, true, mode, new Uint8Array(0), spec.queue, sizesOf(spec.interface));
      await side.open();
      return new InterfacePort(name, side, afxdp, onFault);
    } catch (error) {
      if (XdpError.is(error)) throw new CliError(`cannot open ${name}: ${error.message}`, EXIT.OPEN, error);
      throw error;
    }
  }

  override async close(): Promise<void> {
    clearInterval(this.#looking);
    this.#ending.abort();
    await super.close();
    this.#side.close();
  }

  #look(onFault: (error: unknown) => void): void {
    if (this.#isRenewing || this.#side.look()) return;
    this.#isRenewing = true;
    this.replace([]);
    this.#side
      .renew(this.#ending.signal)
      .then(() => {
        if (!this.#ending.signal.aborted) this.replace(this.#side.ports);
      })
      .catch(onFault)
      .finally(() => {
        this.#isRenewing = false;
      });
  }
}
