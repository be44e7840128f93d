/** The output queues of a switch's port, served in the network's virtual time. */
import type { InFlightPacket } from '@int/p4vm';
import { PortQueues, type QueueCounters } from '@int/p4vm/internals';
import type { Wakeable } from '../event-queue.js';
import type { Node } from '../network-node.js';

export type { QueueCounters };

/** The switch of a port, as the port uses it. */
export interface PortOwner {
  readonly node: Node;
  /** Runs egress for a packet. Returns the bytes sent on the wire: 0 if the packet was dropped or recirculated. */
  depart(packet: InFlightPacket): number;
}

/** A port with one queue per priority, which wakes up when a packet may leave. */
export class OutputPort implements Wakeable {
  readonly #owner: PortOwner;
  readonly #queues: PortQueues;
  /** Time of the next service of the queues; Infinity: when a packet arrives. */
  #wakeNs = Number.POSITIVE_INFINITY;
  #generation = 0;

  constructor(owner: PortOwner, priorities: number, queuePackets: number, nsPerByte: number) {
    this.#owner = owner;
    this.#queues = new PortQueues(priorities, queuePackets, nsPerByte);
  }

  /** @returns false if the queue is full */
  enqueue(packet: InFlightPacket): boolean {
    if (!this.#queues.enqueue(packet, this.#owner.node.nowNs)) return false;
    this.#schedule();
    return true;
  }

  counters(priority: number): QueueCounters | undefined {
    return this.#queues.counters(priority);
  }

  setDepth(packets: number, priority?: number): void {
    this.#queues.setDepth(packets, priority);
  }

  /** @param rate packets per second; 0: no limit */
  setRate(rate: number, priority?: number): void {
    this.#queues.setRate(rate, priority);
  }

  /** Discards all waiting packets. @returns their number */
  clear(): number {
    const { waiting } = this.#queues;
    this.#queues.clear();
    this.#generation = (this.#generation + 1) | 0;
    this.#wakeNs = Number.POSITIVE_INFINITY;
    return waiting;
  }

  wake(generation: number): void {
    if (generation !== this.#generation) return;
    this.#wakeNs = Number.POSITIVE_INFINITY;
    const { nowNs } = this.#owner.node;
    for (let packet = this.#queues.take(nowNs); packet !== undefined; packet = this.#queues.take(nowNs)) {
      this.#queues.sent(this.#owner.depart(packet));
    }
    this.#schedule();
  }

  #schedule(): void {
    const { node } = this.#owner;
    const due = this.#queues.dueNs;
    if (due === Number.POSITIVE_INFINITY || due >= this.#wakeNs) return;
    // A later event that is already scheduled will have no effect.
    this.#generation = (this.#generation + 1) | 0;
    this.#wakeNs = Math.max(due, node.nowNs);
    node.network.schedule(this.#wakeNs, this, this.#generation);
  }
}
