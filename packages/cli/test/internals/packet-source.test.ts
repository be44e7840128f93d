import type { Push, SourceFrames } from '@int/collector';
import type { P4RuntimeConnection } from '@int/control';
import { describe, expect, it } from 'vitest';
import { until } from '../../../../.ci/test/until.js';
import { PacketSource } from '../../src/control/packet-source.js';

type Packet = { readonly payload: Uint8Array; readonly metadata: Readonly<Record<string, bigint>> };

/** Packets of a switch that a test sends. */
class Packets {
  readonly #waiting: Packet[] = [];
  #wake = (): void => {};
  #isClosed = false;
  dropped = 0;

  push(reason: number, ...bytes: number[]): void {
    this.#waiting.push({ payload: Uint8Array.from(bytes), metadata: { reason: BigInt(reason) } });
    this.#wake();
  }

  close(): void {
    this.#isClosed = true;
    this.#wake();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<Packet> {
    for (;;) {
      const packet = this.#waiting.shift();
      if (packet !== undefined) yield packet;
      else if (this.#isClosed) return;
      else await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }
}

function sourceOf(...streams: readonly Packets[]): PacketSource {
  return new PacketSource(
    streams.map((stream) => ({ client: { packets: () => stream } }) as unknown as P4RuntimeConnection),
  );
}

const REPORT = 127;

describe('packets of switches, as a source', () => {
  it('are the reports alone, whole and in order, also while the pipeline is busy or fails', async () => {
    const [one, other] = [new Packets(), new Packets()];
    const source = sourceOf(one, other);
    const seen: number[][] = [];
    const busy: ((isDone: boolean) => void)[] = [];
    const push: Push = (frames) => {
      const { bytes, offsets, lengths, count, linkType } = frames as SourceFrames;
      expect(linkType).toBe('ethernet');
      for (let row = 0; row < count; row++)
        seen.push([...bytes.subarray(offsets[row]!, offsets[row]! + lengths[row]!)]);
      return busy.length === 0
        ? new Promise<void>((resolve, reject) => busy.push((isDone) => (isDone ? resolve() : reject(new Error('no')))))
        : undefined;
    };
    await source.start(push);
    one.push(REPORT, 1, 1);
    one.push(3, 9);
    await until('the first', () => busy.length === 1);
    // They wait for the pipeline; those of another switch need not.
    one.push(REPORT, 1, 2);
    other.push(REPORT, 2, 1);
    await until('the other', () => seen.length === 2);
    expect(seen).toEqual([
      [1, 1],
      [2, 1],
    ]);
    busy[0]!(false);
    one.push(REPORT, 1, 3);
    await until('the rest', () => seen.length === 4);
    expect(seen.slice(2)).toEqual([
      [1, 2],
      [1, 3],
    ]);
    one.push(REPORT, 1, 4);
    await source.stop();
    await source.finished;
    expect(seen.at(-1)).toEqual([1, 4]);
    one.dropped = 2;
    other.dropped = 1;
    expect(source.overrun).toBe(3);
    expect(source.lowTimeMs()).toBeLessThanOrEqual(Date.now() + 1000);
  });
});
