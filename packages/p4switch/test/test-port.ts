import type { FrameTaker, Port } from '@int/p4switch';
import { PortCounts } from '@int/p4switch/internals';

/** A port in memory: what is in `arriving` comes in, what leaves is in `sent`. */
export class TestPort implements Port {
  readonly name = 'test';
  isUp = true;
  readonly arriving: Uint8Array[] = [];
  readonly sent: Uint8Array[] = [];
  capacity = Number.POSITIVE_INFINITY;
  flushes = 0;
  isClosed = false;
  readonly #counts = new PortCounts();

  counts(): PortCounts {
    return this.#counts;
  }

  poll(most: number, take: FrameTaker): number {
    const frames = this.arriving.splice(0, most);
    for (const bytes of frames) {
      this.#counts.received++;
      this.#counts.receivedBytes += bytes.length;
      take(bytes, 0, bytes.length);
    }
    return frames.length;
  }

  room(): number {
    return this.capacity - this.sent.length;
  }

  send(bytes: Uint8Array, offset: number, length: number): void {
    this.#counts.sent++;
    this.#counts.sentBytes += length;
    this.sent.push(bytes.slice(offset, offset + length));
  }

  flush(): void {
    this.flushes++;
  }

  onReady(wake: () => void): void {
    if (this.arriving.length > 0) wake();
  }

  async close(): Promise<void> {
    this.isClosed = true;
  }
}
