/** What a switch's port is: where frames come from, and where they go. */

/** Takes a frame: `length` bytes of `bytes` from `offset`, valid only during the call. */
export type FrameTaker = (bytes: Uint8Array, offset: number, length: number) => void;

/** Frames that did not come in, or did not leave, by reason. */
export class PortDrops {
  /** Came in while there was no room to keep them: in the kernel, in rings, in the port. */
  rxFull = 0;
  /** Came in longer than the port's memory for a frame. */
  rxTooLong = 0;
  /** Came in by something that is no frame of the port: an empty datagram, damage in a capture. */
  rxDamaged = 0;
  /** To be sent while there was no room. The switch waits for room, so only its last frames are lost in this way. */
  txFull = 0;
  /** To be sent, and longer than the port can send. */
  txTooLong = 0;
  /** To be sent by a port that sends the payload of frames, and without one. */
  txNoPayload = 0;
  /** To be sent while the port was down. */
  down = 0;
  /** Refused by the system, or by the other side. */
  failed = 0;
}

export type PortDropReason = keyof PortDrops;

/** Frames of one queue of a network interface. */
export class QueueCounts {
  /** @param queue its number at the interface, from 0 */
  constructor(readonly queue: number) {}

  received = 0;
  receivedBytes = 0;
  sent = 0;
  sentBytes = 0;
}

/** What a port has counted since it was opened. */
export class PortCounts {
  received = 0;
  receivedBytes = 0;
  sent = 0;
  sentBytes = 0;
  /** Times that the port went down. */
  outages = 0;
  readonly dropped: PortDrops = new PortDrops();
  /** The same by queue of an interface, in the order of its sockets; empty for ports without such queues. */
  queues: readonly Readonly<QueueCounts>[] = [];
}

/**
 * A port of a switch. The switch polls it; nothing happens between two polls. All calls come from one thread.
 */
export interface Port {
  /** What it is, such as `xdp:eth0`. */
  readonly name: string;
  /** Whether frames can come and go. */
  readonly isUp: boolean;
  /** Counts of everything so far. */
  counts(): PortCounts;
  /**
   * Hands over frames that have arrived, at most about `most`.
   * @returns number of frames
   */
  poll(most: number, take: FrameTaker): number;
  /** Number of frames that can be sent at once now; may be less than there really is room for. */
  room(): number;
  /** Sends a frame, which is copied. What cannot be sent is counted. Frames may leave only at `flush`. */
  send(bytes: Uint8Array, offset: number, length: number): void;
  /** Lets all frames leave. */
  flush(): void;
  /**
   * Calls `wake` once as soon as there may be something to poll, or room again. A second call before that has no effect.
   */
  onReady(wake: () => void): void;
  /**
   * Time at which something may be polled although nothing wakes the switch, in milliseconds of `performance.now()`;
   * Infinity if there is none.
   */
  readonly dueMs?: number;
  /** Sends what is left, within a limited time, and gives everything back. */
  close(): Promise<void>;
}

/** Copies bytes. `set(subarray)` makes an object, so short frames are copied byte by byte. */
export function copyBytes(from: Uint8Array, start: number, length: number, to: Uint8Array, at: number): void {
  if (length > 64) to.set(from.subarray(start, start + length), at);
  else for (let i = 0; i < length; i++) to[at + i] = from[start + i]!;
}
