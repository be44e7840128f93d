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
  /** Frames that were accepted and not pending any more, and have not left all the same. */
  readonly unsent: number;
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
  /** Frames accepted by {@link transmit} that have not left. */
  readonly pending: number;
  /** Fills rows with received frames, which stay as they are until they are released. @returns how many */
  receive(rows: FrameRows): number;
  /** Gives received frames back. */
  release(rows: FrameRows): void;
  /** Resolves when there is something to receive, or after the time. Rejects if the interface has gone. */
  wait(timeoutMs: number): Promise<boolean>;
  /** Takes free frames to send into empty rows, fewer if there are fewer. @returns how many */
  acquire(rows: FrameRows, count: number): number;
  /**
   * Sends all rows that are accepted; the others move to the front. Rows beyond `count`, if that has been lowered, go
   * back unsent. @returns how many were accepted
   * @throws Error if the interface is down or has gone: what has been accepted is {@link pending}
   */
  transmit(rows: FrameRows): number;
  /** Resolves with true when all that was sent has left, with false after the time. Rejects as {@link transmit} throws. */
  flush(timeoutMs?: number): Promise<boolean>;
  stats(): PortStats;
}

/** One side of a bridge: an interface, which may go down or away and come back. */
export interface BridgeSide {
  readonly interface: string;
  /** A port for each queue; none while they have to be opened anew. */
  readonly ports: readonly FramePort[];
  /** Why it does not carry frames; null: it does. */
  readonly problem: Error | null;
  /** Times that it was down or away, one that lasts included. */
  readonly outages: number;
  /** Looks at the interface. @returns false if its ports are to be {@link renew}ed */
  look(): boolean;
  /** Takes an error of a port. @returns whether the interface is the reason: it has a {@link problem} then */
  failed(error: unknown): boolean;
  /** Closes the ports, and opens others as soon as that can be. Resolves then, or when the signal comes. */
  renew(signal: AbortSignal): Promise<void>;
  /** Lets nothing more arrive; what has is still to be received. */
  detach(): void;
  close(): void;
}

/** Both sides of a bridge. */
export interface BridgeSides {
  /** Where INT comes in. */
  readonly inner: BridgeSide;
  /** Where packets go on. */
  readonly outer: BridgeSide;
  /** Rows as the ports take them. */
  rows(capacity: number): FrameRows;
}

/** What is to be opened. */
export interface OpenSidesOptions {
  readonly inner: string;
  readonly outer: string;
  readonly mode: 'auto' | 'driver' | 'generic';
  /** Nothing is received from `outer`. */
  readonly isOneWay: boolean;
  /** Told what happens to the interfaces. */
  readonly tell: (message: string) => void;
}

/** Opens both sides. @throws SourceError that names the interface, CliError */
export type OpenSides = (options: OpenSidesOptions) => Promise<BridgeSides>;

/** The shortest frame: an Ethernet header. */
export const SHORTEST_FRAME = 14;
