/** The output queues of a switch's port, with priorities and a finite rate. */
import type { InFlightPacket } from './in-flight.js';

/** Counters of one queue's packets. */
export interface QueueCounters {
  readonly enqueued: number;
  /** Dropped because the queue was full. */
  readonly dropped: number;
  /** Packets that wait now. */
  readonly depth: number;
  /** Largest number of packets that waited at once. */
  readonly maxDepth: number;
}

/** Entries that have left are removed from a queue's arrays once there are so many of them. */
const COMPACT_AT = 1024;

/** One queue. */
class OutputQueue implements QueueCounters {
  readonly #packets: InFlightPacket[] = [];
  /** Arrival of each packet, in nanoseconds. */
  readonly #arrivals: number[] = [];
  #head = 0;
  enqueued = 0;
  dropped = 0;
  maxDepth = 0;
  /** Least time between two packets, from a rate in packets per second. */
  spacingNs = 0;
  /** Earliest time of the next packet. */
  nextNs = 0;

  constructor(public limit: number) {}

  get depth(): number {
    return this.#packets.length - this.#head;
  }

  push(packet: InFlightPacket, nowNs: number): void {
    this.#packets.push(packet);
    this.#arrivals.push(nowNs);
    this.enqueued++;
    if (this.depth > this.maxDepth) this.maxDepth = this.depth;
  }

  /** Time at which the first packet may leave; only for a queue that is not empty. */
  get dueNs(): number {
    return Math.max(this.#arrivals[this.#head]!, this.nextNs);
  }

  /** Takes the first packet; only from a queue that is not empty. */
  take(): InFlightPacket {
    const packet = this.#packets[this.#head++]!;
    if (this.#head === this.#packets.length) this.clear();
    else if (this.#head >= COMPACT_AT && 2 * this.#head >= this.#packets.length) {
      this.#packets.splice(0, this.#head);
      this.#arrivals.splice(0, this.#head);
      this.#head = 0;
    }
    return packet;
  }

  clear(): void {
    if (this.#packets.length > 0) {
      this.#packets.length = 0;
      this.#arrivals.length = 0;
    }
    this.#head = 0;
  }
}

/**
 * The queues of a port, one per priority, the highest served first. A packet leaves its queue when the wire is free; its
 * length after egress determines its time on the wire. Whoever has the clock calls `take` at the times that `dueNs` gives.
 * A late call loses no rate: packets then leave as if it had been made in time.
 */
export class PortQueues {
  readonly #queues: readonly OutputQueue[];
  readonly #nsPerByte: number;
  /** Time when the wire becomes free. */
  #freeNs = 0;
  /** Time at which the packet taken last began to leave. */
  #startNs = 0;
  #waiting = 0;

  /**
   * @param priorities number of queues
   * @param queuePackets capacity of each queue, without the packet on the wire
   * @param nsPerByte time of a byte on the wire; 0: none
   */
  constructor(priorities: number, queuePackets: number, nsPerByte: number) {
    this.#queues = Array.from({ length: priorities }, () => new OutputQueue(queuePackets));
    this.#nsPerByte = nsPerByte;
  }

  /** Packets that wait in all queues. */
  get waiting(): number {
    return this.#waiting;
  }

  /** Adds a packet to the queue of its priority and sets its `enqueueDepth`. @returns false if the queue is full */
  enqueue(packet: InFlightPacket, nowNs: number): boolean {
    const queue = this.#queues[packet.priority];
    if (queue === undefined) return false;
    if (queue.depth >= queue.limit) {
      queue.dropped++;
      return false;
    }
    packet.enqueueDepth = queue.depth;
    queue.push(packet, nowNs);
    this.#waiting++;
    return true;
  }

  /**
   * Lets a packet leave without waiting in a queue, if the wire is free and nothing waits. The caller then calls `sent`.
   * @returns false if it must wait
   */
  pass(priority: number, nowNs: number): boolean {
    if (this.#waiting > 0 || this.#freeNs > nowNs) return false;
    const queue = this.#queues[priority];
    if (queue === undefined || queue.nextNs > nowNs || queue.limit < 1) return false;
    queue.enqueued++;
    if (queue.spacingNs > 0) queue.nextNs = nowNs + queue.spacingNs;
    this.#startNs = nowNs;
    return true;
  }

  /** The next time at which a packet may leave; Infinity if none waits. */
  get dueNs(): number {
    if (this.#waiting === 0) return Number.POSITIVE_INFINITY;
    let due = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues) if (queue.depth > 0) due = Math.min(due, queue.dueNs);
    return Math.max(due, this.#freeNs);
  }

  /**
   * Takes the next packet that may leave by now and sets its `dequeueDepth`. After its egress the caller calls `sent`.
   * @returns undefined if none may
   */
  take(nowNs: number): InFlightPacket | undefined {
    if (this.#waiting === 0 || this.#freeNs > nowNs) return undefined;
    const startNs = this.dueNs;
    if (startNs > nowNs) return undefined;
    for (let priority = this.#queues.length - 1; priority >= 0; priority--) {
      const queue = this.#queues[priority]!;
      if (queue.depth === 0 || queue.dueNs > startNs) continue;
      const packet = queue.take();
      this.#waiting--;
      packet.dequeueDepth = queue.depth;
      if (queue.spacingNs > 0) queue.nextNs = startNs + queue.spacingNs;
      this.#startNs = startNs;
      return packet;
    }
    return undefined;
  }

  /** The packet that left last takes `bytes` bytes on the wire; 0: it was dropped in egress, or recirculated. */
  sent(bytes: number): void {
    if (bytes > 0 && this.#nsPerByte > 0)
      this.#freeNs = this.#startNs + Math.max(1, Math.round(bytes * this.#nsPerByte));
  }

  counters(priority: number): QueueCounters | undefined {
    return this.#queues[priority];
  }

  setDepth(packets: number, priority?: number): void {
    for (const queue of this.#chosen(priority)) queue.limit = packets;
  }

  /** @param rate packets per second; 0: no limit */
  setRate(rate: number, priority?: number): void {
    for (const queue of this.#chosen(priority)) queue.spacingNs = rate > 0 ? Math.round(1e9 / rate) : 0;
  }

  /** Discards all waiting packets. */
  clear(): void {
    for (const queue of this.#queues) {
      queue.clear();
      queue.nextNs = 0;
    }
    this.#waiting = 0;
    this.#freeNs = 0;
    this.#startNs = 0;
  }

  #chosen(priority: number | undefined): readonly OutputQueue[] {
    return priority === undefined ? this.#queues : this.#queues.slice(priority, priority + 1);
  }
}
