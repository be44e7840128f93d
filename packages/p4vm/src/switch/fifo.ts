import type { InFlightPacket } from './in-flight.js';

/** Most ports whose counters are kept while nothing waits. New counters for each packet would take longer. */
const MAX_IDLE_PORTS = 1024;

/** Packets in order of arrival. */
export class PacketFifo {
  readonly #packets: InFlightPacket[] = [];
  /** Number of waiting packets per port. */
  readonly #waiting = new Map<number, number>();
  #head = 0;

  get isEmpty(): boolean {
    return this.#head >= this.#packets.length;
  }

  push(packet: InFlightPacket): void {
    this.#packets.push(packet);
    this.#waiting.set(packet.port, this.waiting(packet.port) + 1);
  }

  take(): InFlightPacket | undefined {
    const packet = this.#packets[this.#head];
    if (packet === undefined) return undefined;
    this.#waiting.set(packet.port, this.waiting(packet.port) - 1);
    if (++this.#head === this.#packets.length) this.clear();
    return packet;
  }

  /** Number of packets that wait for one port. */
  waiting(port: number): number {
    return this.#waiting.get(port) ?? 0;
  }

  clear(): void {
    if (!this.isEmpty || this.#waiting.size > MAX_IDLE_PORTS) this.#waiting.clear();
    if (this.#packets.length > 0) this.#packets.length = 0;
    this.#head = 0;
  }
}
