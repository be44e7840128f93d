import { PassThrough, Readable } from 'node:stream';
import { encodeFrame } from '@int/codec';
import { CaptureBatch, CaptureReader, LinkType } from '@int/pcap';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../../.ci/test/length.js';
import type { Io } from '../../src/io.js';
import { loopCapture } from '../../src/replay/capture-loop.js';
import { ChunkMaker, type FrameChunk } from '../../src/replay/frame-chunk.js';
import { FrameSelection, PayloadSelection } from '../../src/replay/selection.js';
import { UdpPayload } from '../../src/replay/udp-payload.js';
import { coalescedFrame, pcap, plainFrame, record, reportFrame } from '../captures.js';
import { payload } from '../datagrams.js';
import { temporaryFolder } from '../run.js';
import { SEED } from '../seed.js';

const files = temporaryFolder();

/** The first batch of a capture. */
function batchOf(capture: Uint8Array): CaptureBatch {
  const reader = new CaptureReader();
  const batch = new CaptureBatch(16);
  reader.feed(capture);
  reader.readBatch(batch);
  return batch;
}

function framesOf(chunk: FrameChunk): Uint8Array[] {
  return Array.from({ length: chunk.count }, (_, row) => {
    const offset = chunk.offsets[row]!;
    return chunk.bytes.slice(offset, offset + chunk.lengths[row]!);
  });
}

function ioWith(input: Uint8Array = new Uint8Array(0)): { io: Io; said: () => string; stopping: AbortController } {
  const stderr = new PassThrough();
  const stopping = new AbortController();
  const io: Io = {
    stdin: Readable.from([input]),
    stdout: new PassThrough(),
    stderr,
    env: {},
    signal: stopping.signal,
  };
  return { io, said: () => String(stderr.read() ?? ''), stopping };
}

describe('the UDP payload of a frame', () => {
  const report = reportFrame();
  const tags = Uint8Array.of(0x88, 0xa8, 0, 5, 0x81, 0, 0, 6);
  const tagged = Buffer.concat([report.subarray(0, 12), tags, report.subarray(12)]);
  const labels = Uint8Array.of(0x88, 0x47, 0, 1, 0x20, 64, 0, 2, 0x21, 64);
  const labelled = Buffer.concat([report.subarray(0, 12), labels, report.subarray(14)]);
  const padded = Buffer.concat([report, Buffer.alloc(9, 0xaa)]);
  const options = Buffer.concat([report.subarray(0, 34), Buffer.from([1, 1, 1, 0]), report.subarray(34)]);
  options[14] = 0x46;
  options.writeUInt16BE(options.length - 14, 16);
  const udp = report.subarray(34);
  const ipv6 = Buffer.concat([
    report.subarray(0, 12),
    Buffer.from([0x86, 0xdd, 0x60, 0, 0, 0, 0, 0, 0, 64]),
    Buffer.alloc(32, 1),
    // Hop-by-hop, destination options of 16 bytes, a whole packet's fragment header, authentication of 12 bytes.
    Buffer.from([60, 0, 1, 4, 0, 0, 0, 0]),
    Buffer.from([44, 1, ...new Array<number>(14).fill(0)]),
    Buffer.from([51, 0, 0, 0, 0, 0, 0, 9]),
    Buffer.from([17, 1, ...new Array<number>(10).fill(0)]),
    udp,
  ]);
  ipv6.writeUInt16BE(ipv6.length - 54, 18);

  test.each([
    ['a plain frame', report],
    ['VLAN tags', tagged],
    ['MPLS labels', labelled],
    ['padding', padded],
    ['IPv4 options', options],
    ['IPv6 extension headers', ipv6],
  ])('is found with %s, at any offset, and only if all of it is there', (_, frame) => {
    const found = new UdpPayload();
    const memory = Buffer.concat([Buffer.alloc(7, 0xff), frame, Buffer.alloc(40, 0xff)]);
    expect(found.find(memory, 7, 7 + frame.length, 'ethernet')).toBeNull();
    expect(memory.subarray(found.offset, found.offset + found.length)).toEqual(Buffer.from(payload(report)));
    expect(found.destinationPort).toBe(32_766);
    const whole = frame === padded ? report.length : frame.length;
    for (let length = 0; length < whole; length++) {
      // An IP header that is cut inside its options may show another protocol.
      expect(found.find(memory, 7, 7 + length, 'ethernet')).toMatch(/^(truncated|malformed)$/);
    }
  });

  test('is not taken from a fragment, the first one included', () => {
    const found = new UdpPayload();
    for (const flags of [0x20, 0x01]) {
      const frame = reportFrame();
      frame[14 + 6] = flags;
      expect(found.find(frame, 0, frame.length, 'ethernet')).toBe('fragment');
    }
    const first = Buffer.from(ipv6);
    first[54 + 8 + 16 + 3]! |= 1;
    expect(found.find(first, 0, first.length, 'ethernet')).toBe('fragment');
  });

  test('may be empty', () => {
    const frame = encodeFrame(record(0)).slice(0, 42);
    frame.set([0, 28], 16);
    frame.set([0, 8], 38);
    const found = new UdpPayload();
    expect(found.find(frame, 0, frame.length, 'ethernet')).toBeNull();
    expect(found.length).toBe(0);
  });

  test('lies inside the frame, whatever the frame holds', () => {
    const links = fc.constantFrom('ethernet' as const, 'raw' as const, 'linux-sll' as const, 'linux-sll2' as const);
    const hostile = fc
      .tuple(
        fc.constantFrom(report, tagged, labelled, ipv6),
        fc.array(fc.tuple(fc.nat(120), fc.integer({ min: 0, max: 255 })), { maxLength: 6 }),
        fc.nat(400),
      )
      .map(([frame, changes, length]) => {
        const bytes = Uint8Array.from(frame);
        for (const [at, value] of changes) bytes[at % bytes.length] = value;
        return bytes.slice(0, length);
      });
    fc.assert(
      fc.property(fc.oneof(hostile, fc.uint8Array({ maxLength: 200 })), links, (frame, link) => {
        const memory = Buffer.concat([Buffer.alloc(5, 0x45), frame, Buffer.alloc(100, 0x45)]);
        const found = new UdpPayload();
        if (found.find(memory, 5, 5 + frame.length, link) !== null) return;
        expect(found.offset).toBeGreaterThanOrEqual(5 + 28);
        expect(found.offset + found.length).toBeLessThanOrEqual(5 + frame.length);
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });
});

describe('Ethernet frames', () => {
  test('keep their bytes but for the addresses that are given', () => {
    const to = Uint8Array.of(2, 0, 0, 0, 0, 1);
    const from = Uint8Array.of(2, 0, 0, 0, 0, 2);
    const frames = [reportFrame(), coalescedFrame(), plainFrame()];
    const batch = batchOf(pcap(frames));
    expect(framesOf(new ChunkMaker(new FrameSelection(1514)).make(batch))).toEqual(frames);
    const rewritten = framesOf(new ChunkMaker(new FrameSelection(1514, to, from)).make(batch));
    expect(rewritten).toEqual(frames.map((frame) => Uint8Array.of(...to, ...from, ...frame.subarray(12))));
    const half = framesOf(new ChunkMaker(new FrameSelection(1514, undefined, from)).make(batch));
    expect(half[0]!.slice(0, 12)).toEqual(Uint8Array.of(...frames[0]!.subarray(0, 6), ...from));
  });

  test('are left out if they are cut, too long or none', () => {
    const frames = [reportFrame(), new Uint8Array(13), new Uint8Array(1515)];
    const capture = pcap(frames);
    // The first frame had one byte more on the wire.
    capture.writeUInt32LE(frames[0]!.length + 1, 24 + 12);
    const chunk = new ChunkMaker(new FrameSelection(1514)).make(batchOf(capture));
    expect([...chunk.skipped]).toEqual([
      ['truncated', 2],
      ['too-long', 1],
    ]);
    const raw = new ChunkMaker(new FrameSelection(1514)).make(batchOf(pcap([reportFrame()], LinkType.RAW)));
    expect([...raw.skipped]).toEqual([['link-type', 1]]);
  });
});

describe('times of frames', () => {
  test('count from the first one that is sent, and never go back', () => {
    const capture = pcap([plainFrame(), reportFrame(), reportFrame(), reportFrame()]);
    const batch = batchOf(capture);
    // Nanoseconds: 1000 apart, and then the third of them back at the beginning.
    batch.timestampsLow[2] = batch.timestampsLow[1]! - 500;
    const chunk = new ChunkMaker(new PayloadSelection([])).make(batch);
    expect([...chunk.timesMs]).toEqual([0, 0, 0.002]);
  });

  test('go on from batch to batch, also where the lower word rolls over', () => {
    const maker = new ChunkMaker(new PayloadSelection([]));
    const batch = batchOf(pcap([reportFrame()]));
    batch.timestampsLow[0] = 0xffff_fc18;
    maker.make(batch);
    batch.timestampsHigh[0]! += 1;
    batch.timestampsLow[0] = 1_000_000 - 1000;
    expect([...maker.make(batch).timesMs]).toEqual([expect.closeTo(1, 9)]);
  });
});

describe('a capture that is sent several times', () => {
  const frames = Array.from({ length: 3000 }, (_, index) => coalescedFrame(1 + (index % 3)));
  const payloads = frames.map(payload);

  async function replayed(path: string, loops: number, mostInMemory?: number, input?: Uint8Array) {
    const { io, said } = ioWith(input);
    const taken: Uint8Array[] = [];
    let ended = 0;
    const damage = await loopCapture(
      { path, selection: new PayloadSelection([]), loops, ...(mostInMemory !== undefined && { mostInMemory }) },
      io,
      {
        take: async (chunk) => {
          taken.push(...framesOf(chunk));
          return true;
        },
        endLoop: () => {
          ended++;
          return true;
        },
      },
    );
    return { taken, ended, damage, said: said() };
  }

  test.each([undefined, 300_000, 1])('is the same from memory and from the disk: limit %s', async (limit) => {
    const path = await files.write(`large-${limit}.pcap`, pcap(frames));
    for (const loops of [1, 3]) {
      const { taken, ended, damage, said } = await replayed(path, loops, limit);
      expect({ ended, damage }).toEqual({ ended: loops, damage: null });
      expect(taken).toHaveLength(3000 * loops);
      expect(Buffer.concat(taken).equals(Buffer.concat(new Array(loops).fill(payloads).flat()))).toBe(true);
      expect(said.includes('is read from the disk')).toBe(limit !== undefined);
    }
  });

  test('comes through a pipe however large it is, but only once', async () => {
    const once = await replayed('-', 1, 1000, pcap(frames));
    expect(once).toMatchObject({ ended: 1, said: '' });
    expect(once.taken).toHaveLength(3000);
    await expect(replayed('-', 2, 1000, pcap(frames))).rejects.toThrow(/cannot be read again: --loop needs a file/);
  });

  test.each([1, 1 << 28])('ends in the middle when the taker says so: limit %d', async (mostInMemory) => {
    const path = await files.write(`stopped-${mostInMemory}.pcap`, pcap(frames));
    let chunks = 0;
    let frameCount = 0;
    let ended = 0;
    await loopCapture({ path, selection: new PayloadSelection([]), loops: 0, mostInMemory }, ioWith().io, {
      take: async ({ count }) => {
        frameCount += count;
        return ++chunks < 11;
      },
      endLoop: () => {
        ended++;
        return true;
      },
    });
    expect(chunks).toBe(11);
    expect(ended).toBe(Math.floor((frameCount - 1) / frames.length));
  });

  test('hands the failure of the taker on as it is', async () => {
    const path = await files.write('failing.pcap', pcap(frames));
    const failure = new Error('gone');
    for (const mostInMemory of [1, 1 << 28]) {
      const running = loopCapture({ path, selection: new PayloadSelection([]), loops: 2, mostInMemory }, ioWith().io, {
        take: () => Promise.reject(failure),
        endLoop: () => true,
      });
      await expect(running).rejects.toBe(failure);
    }
  });
});
