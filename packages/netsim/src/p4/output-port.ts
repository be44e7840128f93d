/** The output queues of a switch's port, with priorities and a finite rate. */
import type { InFlightPacket } from '@int/p4vm';
import type { Wakeable } from '../event-queue.js';
import type { Node } from '../network-node.js';

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

/** One queue. */
class OutputQueue implements QueueCounters {
  readonly packets: InFlightPacket[] = [];
  enqueued = 0;
  dropped = 0;
  maxDepth = 0;
  /** Least time between two packets, from a rate in packets per second. */
  spacingNs = 0;
  /** Earliest time of the next packet. */
  nextNs = 0;

  constructor(public limit: number) {}

  get depth(): number {
    return this.packets.length;
  }
}

/** The switch of a port, as the port uses it. */
export interface PortOwner {
  readonly node: Node;
  /** Runs egress for a packet. Returns the bytes sent on the wire: 0 if the packet was dropped or recirculated. */
  depart(packet: InFlightPacket): number;
}

/**
 * A port with one queue per priority, the highest served first. A packet leaves its queue when the wire is free. Its
 * length after egress determines its time on the wire.
 */
export class OutputPort implements Wakeable {
  readonly #owner: PortOwner;
  readonly #queues: readonly OutputQueue[];
  readonly #nsPerByte: number;
  /** Time when the wire becomes free. */
  #freeNs = 0;
  /** Time of the next service of the queues; Infinity: when a packet arrives. */
  #wakeNs = Number.POSITIVE_INFINITY;
  #generation = 0;

  constructor(owner: PortOwner, priorities: number, queuePackets: number, nsPerByte: number) {
    this.#owner = owner;
    this.#queues = Array.from({ length: priorities }, () => new OutputQueue(queuePackets));
    this.#nsPerByte = nsPerByte;
  }

  /** @returns false if the queue is full */
  enqueue(packet: InFlightPacket): boolean {
    const queue = this.#queues[packet.priority];
    if (queue === undefined) return false;
    if (queue.packets.length >= queue.limit) {
      queue.dropped++;
      return false;
    }
    packet.enqueueDepth = queue.packets.length;
    queue.packets.push(packet);
    queue.enqueued++;
    if (queue.packets.length > queue.maxDepth) queue.maxDepth = queue.packets.length;
    this.#schedule();
    return true;
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

  /** Discards all waiting packets, because the node has failed. */
  clear(): void {
    for (const queue of this.#queues) {
      queue.packets.length = 0;
      queue.nextNs = 0;
    }
    this.#generation = (this.#generation + 1) | 0;
    this.#freeNs = 0;
    this.#wakeNs = Number.POSITIVE_INFINITY;
  }

  wake(generation: number): void {
    if (generation !== this.#generation) return;
    this.#wakeNs = Number.POSITIVE_INFINITY;
    this.#serve();
  }

  #chosen(priority: number | undefined): readonly OutputQueue[] {
    return priority === undefined ? this.#queues : this.#queues.slice(priority, priority + 1);
  }

  /** The next time at which a packet may leave; Infinity if none waits. */
  #due(): number {
    let due = Number.POSITIVE_INFINITY;
    for (const queue of this.#queues) if (queue.packets.length > 0) due = Math.min(due, queue.nextNs);
    return Math.max(due, this.#freeNs);
  }

  #schedule(): void {
    const { node } = this.#owner;
    const due = this.#due();
    if (due === Number.POSITIVE_INFINITY || due >= this.#wakeNs) return;
    // A later event that is already scheduled will have no effect.
    this.#generation = (this.#generation + 1) | 0;
    this.#wakeNs = Math.max(due, node.nowNs);
    node.network.schedule(this.#wakeNs, this, this.#generation);
  }

  #serve(): void {
    const { nowNs } = this.#owner.node;
    while (this.#freeNs <= nowNs) {
      const queue = this.#next(nowNs);
      const packet = queue?.packets.shift();
      if (queue === undefined || packet === undefined) break;
      packet.dequeueDepth = queue.packets.length;
      if (queue.spacingNs > 0) queue.nextNs = nowNs + queue.spacingNs;
      const bytes = this.#owner.depart(packet);
      if (bytes > 0 && this.#nsPerByte > 0) this.#freeNs = nowNs + Math.max(1, Math.round(bytes * this.#nsPerByte));
    }
    this.#schedule();
  }

  #next(nowNs: number): OutputQueue | undefined {
    for (let priority = this.#queues.length - 1; priority >= 0; priority--) {
      const queue = this.#queues[priority];
      if (queue !== undefined && queue.packets.length > 0 && queue.nextNs <= nowNs) return queue;
    }
    return undefined;
  }
}
