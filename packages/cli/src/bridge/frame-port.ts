/** What the bridge needs of an interface: the frames of `@int/afxdp`'s sockets, as types alone. */

/** Places of frames in a port's memory. Rows from `count` on mean nothing. */
export interface FrameRows {
  readonly capacity: number;
  /** First byte of each frame in {@link FramePort.umem}. */
  readonly offsets: Uint32Array;
  /** Bytes of each frame. */
  readonly lengths: Uint32Array;
  count: number;
}

/** What the kernel says of a port, as far as the bridge tells. */
export interface PortStats {
  readonly kernel: {
    /** Frames for which there was no room, or which were too long. */
    readonly rxDropped: number;
    readonly rxRingFull: number;
  };
}

/** A port that frames arrive at and leave by; an `XdpSocket` is one. */
export interface FramePort {
  readonly interface: string;
  readonly queue: number;
  /** Where its program runs: `driver` or `generic`. */
  readonly mode: string;
  /** Memory of all frames, received ones and those to send. */
  readonly umem: Uint8Array;
  /** Fills rows with received frames, which stay as they are until they are released. @returns how many */
  receive(rows: FrameRows): number;
  /** Gives received frames back, and acquired ones unsent. */
  release(rows: FrameRows): void;
  /** Resolves when there is something to receive, or after the time. Rejects if the interface has gone. */
  wait(timeoutMs: number): Promise<boolean>;
  /** Takes free frames to send into empty rows, fewer if there are fewer. @returns how many */
  acquire(rows: FrameRows, count: number): number;
  /**
   * Sends all rows that are accepted; the others move to the front. Rows beyond `count`, if that has been lowered, go
   * back unsent. @returns how many were accepted
   */
  transmit(rows: FrameRows): number;
  /** Resolves with true when all that was sent has left, with false after the time. */
  flush(timeoutMs?: number): Promise<boolean>;
  /** @throws Error if the interface is down or has gone */
  checkInterface(): void;
  stats(): PortStats;
  close(): void;
}

/** Both sides of a bridge. */
export interface BridgePorts {
  /** Where INT comes in: a port for each queue. */
  readonly inner: readonly FramePort[];
  /** Where packets go on. */
  readonly outer: readonly FramePort[];
  /** Rows as the ports take them. */
  rows(capacity: number): FrameRows;
  /** Lets nothing more arrive; what has is still to be received. */
  detach(): void;
  close(): void;
}

/** What is to be opened. */
export interface OpenPortsOptions {
  readonly inner: string;
  readonly outer: string;
  readonly mode: 'auto' | 'driver' | 'generic';
  /** Nothing is received from `outer`. */
  readonly isOneWay: boolean;
}

/** Opens both sides. @throws SourceError that names the interface, CliError */
export type OpenPorts = (options: OpenPortsOptions) => Promise<BridgePorts>;

/** The shortest frame: an Ethernet header. */
export const SHORTEST_FRAME = 14;
