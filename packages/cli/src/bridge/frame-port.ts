/** The bridge's view of an interface: types that the sockets of `@int/afxdp` implement. */

/** Positions of frames in a port's memory. Rows from `count` on are undefined. */
export interface FrameRows {
  readonly capacity: number;
  /** Offset of each frame in {@link FramePort.umem}. */
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  count: number;
}

/** The kernel's statistics of a port that the bridge reports. */
export interface PortStats {
  /** Frames that were accepted, are no longer pending, and did not leave. */
  readonly unsent: number;
  readonly kernel: {
    /** Received frames without room, or too long. */
    readonly rxDropped: number;
    readonly rxRingFull: number;
  };
}

/** A port that receives and sends frames; an `XdpSocket` is one. */
export interface FramePort {
  readonly interface: string;
  readonly queue: number;
  /** Mode of its program: `driver` or `generic`. */
  readonly mode: string;
  /** Memory of all frames, received ones and those to send. */
  readonly umem: Uint8Array;
  /** Frames accepted by {@link transmit} that have not left. */
  readonly pending: number;
  /** Fills rows with received frames, which stay unchanged until released. @returns their number */
  receive(rows: FrameRows): number;
  release(rows: FrameRows): void;
  /**
   * Resolves with true when there are frames to receive, with false after the time. Rejects if the interface is gone.
   */
  wait(timeoutMs: number): Promise<boolean>;
  /** Takes up to `count` free frames into empty rows. @returns their number */
  acquire(rows: FrameRows, count: number): number;
  /**
   * Sends rows, as many as are accepted; the others move to the front. Rows beyond a lowered `count` are returned
   * unsent.
   * @returns number of accepted rows
   * @throws Error if the interface is down or gone; accepted frames are then {@link pending}
   */
  transmit(rows: FrameRows): number;
  /**
   * Resolves with true when all sent frames have left, with false after the time. Rejects with the errors of
   * {@link transmit}.
   */
  flush(timeoutMs?: number): Promise<boolean>;
  stats(): PortStats;
}

/** One side of a bridge: an interface, which may go down or away and come back. */
export interface BridgeSide {
  readonly interface: string;
  /** A port per queue; empty while the ports must be reopened. */
  readonly ports: readonly FramePort[];
  /** The reason why it does not carry frames, or null. */
  readonly problem: Error | null;
  readonly outages: number;
  /** Checks the interface. @returns false if its ports must be renewed by {@link renew} */
  look(): boolean;
  /** Handles an error of a port. @returns whether the interface is the cause and now has a {@link problem} */
  failed(error: unknown): boolean;
  /** Closes the ports, and opens new ones as soon as possible. Resolves then, or when the signal is aborted. */
  renew(signal: AbortSignal): Promise<void>;
  /** Stops the arrival of frames. Frames that have arrived can still be received. */
  detach(): void;
  close(): void;
}

export interface BridgeSides {
  /** The side where INT arrives. */
  readonly inner: BridgeSide;
  /** The side where packets leave without INT. */
  readonly outer: BridgeSide;
  rows(capacity: number): FrameRows;
}

export interface OpenSidesOptions {
  readonly inner: string;
  readonly outer: string;
  readonly mode: 'auto' | 'driver' | 'generic';
  /** Whether nothing is received from `outer`. */
  readonly isOneWay: boolean;
  readonly tell: (message: string) => void;
}

/** Opens both sides. @throws SourceError that names the interface, CliError */
export type OpenSides = (options: OpenSidesOptions) => Promise<BridgeSides>;

/** The shortest frame: an Ethernet header. */
export const SHORTEST_FRAME = 14;
