import type { InFlightPacket } from './in-flight.js';

/** Packets in order of arrival. */
export class PacketFifo {
  readonly #packets: InFlightPacket[] = [];
  #head = 0;

  get isEmpty(): boolean {
    return this.#head >= this.#packets.length;
  }

  push(packet: InFlightPacket): void {
    this.#packets.push(packet);
  }

  take(): InFlightPacket | undefined {
    const packet = this.#packets[this.#head];
    if (packet !== undefined && ++this.#head === this.#packets.length) this.clear();
    return packet;
  }

  /** Packets that wait for one port. */
  waiting(port: number): number {
    let count = 0;
    for (let at = this.#head; at < this.#packets.length; at++) if (this.#packets[at]?.port === port) count++;
    return count;
  }

  clear(): void {
    if (this.#packets.length > 0) this.#packets.length = 0;
    this.#head = 0;
  }
}
