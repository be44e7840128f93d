import { type FrameSocket, SocketPort, type SocketRows } from '@int/p4switch';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const FRAME = 256;

class Rows implements SocketRows {
  readonly offsets: Uint32Array;
  readonly lengths: Uint32Array;
  count = 0;

  constructor(readonly capacity: number) {
    this.offsets = new Uint32Array(capacity);
    this.lengths = new Uint32Array(capacity);
  }
}

/** The socket of a queue in memory: takes as many frames at a time as `accepts` says, and has `frames` to send with. */
class TestSocket implements FrameSocket {
  readonly umem: Uint8Array;
  readonly frameSize = FRAME;
  readonly sent: Uint8Array[] = [];
  readonly arriving: Uint8Array[] = [];
  accepts = Number.POSITIVE_INFINITY;
  unsent = 0;
  readonly #free: number[];

  constructor(
    readonly queue: number | undefined,
    frames = 128,
  ) {
    this.umem = new Uint8Array((frames + 64) * FRAME);
    this.#free = Array.from({ length: frames }, (_, i) => (i + 64) * FRAME);
  }

  receive(rows: SocketRows): number {
    const frames = this.arriving.splice(0, rows.capacity);
    for (const [at, frame] of frames.entries()) {
      this.umem.set(frame, at * FRAME);
      rows.offsets[at] = at * FRAME;
      rows.lengths[at] = frame.length;
    }
    rows.count = frames.length;
    return frames.length;
  }

  release(rows: SocketRows): void {
    rows.count = 0;
  }

  acquire(rows: SocketRows, count: number): number {
    const found = this.#free.splice(0, count);
    rows.offsets.set(found);
    rows.count = found.length;
    return found.length;
  }

  transmit(rows: SocketRows): number {
    const count = Math.min(rows.count, this.accepts);
    for (let row = 0; row < count; row++) {
      const offset = rows.offsets[row]!;
      this.sent.push(this.umem.slice(offset, offset + rows.lengths[row]!));
      this.#free.push(offset);
    }
    rows.offsets.copyWithin(0, count, rows.count);
    rows.lengths.copyWithin(0, count, rows.count);
    rows.count -= count;
    return count;
  }

  async wait(): Promise<boolean> {
    return false;
  }

  async flush(): Promise<boolean> {
    return true;
  }

  stats() {
    return { unsent: this.unsent, kernel: { rxDropped: 0, rxRingFull: 0 } };
  }

  close(): void {}
}

function portOn(...sockets: TestSocket[]): SocketPort {
  return new SocketPort(sockets, { name: 'test', rows: (capacity) => new Rows(capacity) });
}

interface Flow {
  readonly version: 4 | 6;
  readonly tags: number;
  readonly addresses: readonly number[];
  readonly protocol: number;
  readonly ports: readonly number[];
}

/** A frame of a flow. What is not of the flow comes from `number`. */
function frameOf({ version, tags, addresses, protocol, ports }: Flow, number: number): Uint8Array {
  const head = version === 4 ? 20 : 40;
  const frame = new Uint8Array(14 + 4 * tags + head + 8).fill(number);
  let at = 12;
  for (let tag = 0; tag < tags; tag++) {
    frame.set([0x81, 0x00, number & 15, number], at);
    at += 4;
  }
  frame.set(version === 4 ? [0x08, 0x00, 0x45] : [0x86, 0xdd, 0x60], at);
  at += 2;
  if (version === 4) frame.set([0x40, 0], at + 6);
  frame[at + (version === 4 ? 9 : 6)] = protocol;
  frame.set(addresses.slice(0, version === 4 ? 8 : 32), at + (version === 4 ? 12 : 8));
  if (protocol === 6 || protocol === 17) frame.set(ports, at + head);
  return frame;
}

const byte = fc.integer({ min: 0, max: 255 });
const flow: fc.Arbitrary<Flow> = fc.record({
  version: fc.constantFrom(4 as const, 6 as const),
  tags: fc.integer({ min: 0, max: 2 }),
  addresses: fc.array(byte, { minLength: 32, maxLength: 32 }),
  protocol: fc.constantFrom(6, 17, 1, 47),
  ports: fc.array(byte, { minLength: 4, maxLength: 4 }),
});

describe('a port on several queues', () => {
  it('sends every frame of a flow by one queue, in order, whatever the queues take at a time', () => {
    fc.assert(
      fc.property(
        fc.array(flow, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat(5), fc.integer({ min: 0, max: 3 })), { minLength: 1, maxLength: 300 }),
        fc.integer({ min: 2, max: 4 }),
        (flows, frames, queues) => {
          const sockets = Array.from({ length: queues }, (_, queue) => new TestSocket(queue, 70));
          const port = portOn(...sockets);
          const wanted = new Map<Flow, number[]>();
          let dropped = 0;
          for (const [number, [which, accepts]] of frames.entries()) {
            for (const socket of sockets) socket.accepts = accepts;
            const of = flows[which % flows.length]!;
            const frame = Uint8Array.of(...frameOf(of, number & 255), number >> 8, number & 255);
            const before = port.counts().dropped.txFull;
            if (port.room() === 0 || number % 50 === 0) port.flush();
            port.send(frame, 0, frame.length);
            if (port.counts().dropped.txFull > before) dropped++;
            else wanted.set(of, [...(wanted.get(of) ?? []), number]);
          }
          for (const socket of sockets) socket.accepts = Number.POSITIVE_INFINITY;
          port.flush();
          const { sent, dropped: drops, queues: counts } = port.counts();
          expect(sent + dropped).toBe(frames.length);
          expect(drops.txFull).toBe(dropped);
          expect(counts.map((each) => [each.queue, each.sent])).toEqual(
            sockets.map((each, i) => [i, each.sent.length]),
          );
          const numbers = sockets.map((each) => each.sent.map((bytes) => (bytes.at(-2)! << 8) | bytes.at(-1)!));
          for (const list of wanted.values()) {
            const by = numbers.filter((all) => all.includes(list[0]!));
            expect(by).toHaveLength(1);
            expect(by[0]!.filter((each) => list.includes(each))).toEqual(list);
          }
        },
      ),
      { numRuns: runs(60) },
    );
  });

  it('spreads flows over all queues, by ports alone too', () => {
    const sockets = [0, 1, 2, 3].map((queue) => new TestSocket(queue, 512));
    const port = portOn(...sockets);
    for (let number = 0; number < 400; number++) {
      const ports = [40_000 >> 8, number & 255, number >> 8, 80];
      const frame = frameOf({ version: 4, tags: 0, addresses: [10, 0, 0, 1, 10, 0, 0, 2], protocol: 6, ports }, 1);
      port.send(frame, 0, frame.length);
    }
    port.flush();
    for (const { sent } of sockets) expect(sent.length).toBeGreaterThan(60);
    expect(port.counts().sent).toBe(400);
  });

  it('keeps the fragments of a datagram together, and takes frames of any bytes', () => {
    const sockets = [0, 1, 2, 3].map((queue) => new TestSocket(queue, 4096));
    const port = portOn(...sockets);
    const place = (frame: Uint8Array): number => {
      const before = sockets.map(({ sent }) => sent.length);
      port.send(frame, 0, frame.length);
      port.flush();
      return sockets.findIndex(({ sent }, at) => sent.length > before[at]!);
    };
    const fragment = (flags: number, ports: readonly number[]): Uint8Array => {
      const frame = frameOf({ version: 4, tags: 0, addresses: [1, 2, 3, 4, 5, 6, 7, 8], protocol: 17, ports }, 7);
      frame.set([flags >> 8, flags & 255], 14 + 6);
      return frame;
    };
    const first = place(fragment(0x2000, [1, 2, 3, 4]));
    for (let number = 0; number < 40; number++) expect(place(fragment(100 + number, [9, number, 8, 7]))).toBe(first);
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 60 }), (bytes) => {
        expect(place(bytes)).toBeGreaterThanOrEqual(0);
      }),
      { numRuns: runs(200) },
    );
  });

  it('keeps its counts by queue when sockets are replaced, and takes back what never left', () => {
    const before = [new TestSocket(2), new TestSocket(3)];
    const port = portOn(...before);
    const take = (count: number): void => {
      for (let number = 0; number < count; number++) {
        const frame = frameOf({ version: 4, tags: 0, addresses: [number, 1, 1, 1], protocol: 1, ports: [] }, 1);
        port.send(frame, 0, frame.length);
      }
    };
    take(40);
    port.flush();
    const [left, right] = before.map(({ sent }) => sent.length) as [number, number];
    before[0]!.unsent = 3;
    expect(port.counts()).toMatchObject({ sent: 37, dropped: { failed: 3 } });
    port.replace([]);
    take(1);
    const after = [new TestSocket(2), new TestSocket(3)];
    port.replace(after);
    after[1]!.arriving.push(new Uint8Array(60), new Uint8Array(70));
    expect(port.poll(64, () => {})).toBe(2);
    expect(port.counts()).toMatchObject({
      received: 2,
      sent: 37,
      outages: 1,
      dropped: { down: 1, failed: 3 },
      queues: [
        { queue: 2, received: 0, sent: left - 3 },
        { queue: 3, received: 2, receivedBytes: 130, sent: right },
      ],
    });
  });

  it('has no room while one of them has none, and drops nothing of the others then', () => {
    const sockets = [new TestSocket(0, 64), new TestSocket(1, 64)];
    const port = portOn(...sockets);
    for (const socket of sockets) socket.accepts = 0;
    let sent = 0;
    for (let number = 0; port.room() > 0; number++, sent++) {
      const frame = frameOf({ version: 4, tags: 0, addresses: [number, 1, 1, 1], protocol: 1, ports: [] }, 1);
      port.send(frame, 0, frame.length);
    }
    expect(sent).toBeGreaterThan(64);
    expect(port.counts().dropped.txFull).toBe(0);
    for (const socket of sockets) socket.accepts = Number.POSITIVE_INFINITY;
    port.flush();
    expect(port.counts()).toMatchObject({ sent, dropped: { txFull: 0 } });
    expect(port.room()).toBeGreaterThan(0);
  });

  it('has no counts by queue on the socket of a whole interface', () => {
    const socket = new TestSocket(undefined);
    const port = portOn(socket);
    port.send(new Uint8Array(60), 0, 60);
    port.flush();
    expect(port.counts()).toMatchObject({ sent: 1, queues: [] });
  });
});
