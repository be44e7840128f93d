import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join as joinPath } from 'node:path';
import { type Frame, PcapngWriter, PcapWriter, readCapture } from '@int/pcap';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';
import { Fields, hex, join } from './build-capture.js';

/** Wireshark's reader as a second opinion, and its editcap as a second writer. */
function wireshark(): void {
  for (const tool of ['tshark', 'editcap']) requires(tool, 'npm run setup:system');
}

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(joinPath(tmpdir(), 'int-pcap-tshark-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

function stored(bytes: Uint8Array): string {
  const path = joinPath(folder, 'capture');
  writeFileSync(path, bytes);
  return path;
}

interface Seen {
  readonly hex: string;
  readonly time: string;
  readonly originalLength: number;
  readonly linkType: string;
  readonly interfaceId: number;
}

function run(...args: readonly string[]): string {
  return execFileSync('tshark', ['-n', ...args], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 50_000,
  });
}

/** What tshark shows of each frame. */
function byTshark(path: string): Seen[] {
  const packets: unknown = JSON.parse(run('-r', path, '-T', 'json', '-x', '-j', 'frame'));
  const raw = (packets as { _source: { layers: { frame_raw?: [string] } } }[]).map(
    // An empty frame has none.
    ({ _source }) => _source.layers.frame_raw?.[0] ?? '',
  );
  const names = ['time_epoch', 'len', 'encap_type', 'interface_id'].flatMap((name) => ['-e', `frame.${name}`]);
  const lines = run('-r', path, '-T', 'fields', ...names).split('\n');
  return raw.map((hex, index) => {
    const [time = '', length, linkType = '', interfaceId] = lines[index]!.split('\t');
    return { hex, time, originalLength: Number(length), linkType, interfaceId: Number(interfaceId) };
  });
}

/** Wireshark's own numbers for the link types used here. */
const ENCAPSULATION: Readonly<Record<number, string>> = { 1: '1', 113: '25', 276: '210', 101: '7', 228: '129' };

function asTshark(frame: Frame): Seen {
  const seconds = frame.timeNs / 1_000_000_000n;
  const fraction = String(frame.timeNs % 1_000_000_000n).padStart(9, '0');
  return {
    hex: Buffer.from(frame.data).toString('hex'),
    time: `${seconds}.${fraction}`,
    originalLength: frame.originalLength,
    linkType: ENCAPSULATION[frame.linkType] ?? '',
    interfaceId: frame.interfaceId,
  };
}

const frames = Array.from({ length: 40 }, (_, index) => ({
  data: Uint8Array.from({ length: 1 + ((index * 7) % 90) }, (_, at) => (at * 37 + index * 11) & 0xff),
  timeNs: 1_700_000_000_123_456_789n + BigInt(index) * 987_654_321n,
  originalLength: 200 + index,
}));

describe('tshark', () => {
  for (const byteOrder of ['little', 'big'] as const) {
    for (const nanosecond of [true, false]) {
      it(`reads our pcap, ${byteOrder}-endian, nanosecond: ${nanosecond}`, () => {
        wireshark();
        const writer = new PcapWriter({ byteOrder, nanosecond });
        const bytes = join(writer.header(), ...frames.map((frame) => writer.record(frame)));
        const ours = [...readCapture(bytes)].map(asTshark);
        expect(ours).toHaveLength(frames.length);
        expect(byTshark(stored(bytes))).toEqual(ours);
      });
    }

    it(`reads our pcapng with several interfaces, ${byteOrder}-endian`, () => {
      wireshark();
      const writer = new PcapngWriter({
        byteOrder,
        interfaces: [{ name: 'eth0' }, { linkType: 113, nanosecond: false }, { linkType: 276, snapLength: 0 }],
      });
      const records = frames.map((frame, index) => writer.record({ ...frame, interfaceId: index % 3 }));
      const bytes = join(writer.header(), ...records);
      expect(byTshark(stored(bytes))).toEqual([...readCapture(bytes)].map(asTshark));
    });
  }

  it('agrees on every kind of packet block, resolution and section', () => {
    wireshark();
    const parts: Uint8Array[] = [];
    const resolutions = [undefined, 0, 3, 6, 9, 0x80 | 10, 0x80 | 20, 0x80 | 30];
    for (const little of [true, false]) {
      const f = new Fields(little);
      parts.push(f.section(f.option(1, hex('6f6e65'))));
      for (const resolution of resolutions) {
        const option = resolution === undefined ? [] : [f.option(9, Uint8Array.of(resolution))];
        parts.push(f.interface(resolution === 0 ? 113 : 1, 20, ...option, f.option(14, f.i64(1_000_000n)), f.u32(0)));
      }
      resolutions.forEach((resolution = 6, id) => {
        const unit = resolution & 0x80 ? 2n ** BigInt(resolution & 0x7f) : 10n ** BigInt(resolution);
        const ticks = 1_699_000_000n * unit + (unit * 2n) / 3n;
        parts.push(f.enhanced(id, ticks, hex('0102030405060708'), 90, f.option(2, f.u32(1)), f.u32(0)));
        parts.push(f.block(5, f.u32(id, 0, 0)), f.block(4, f.u32(0)));
        parts.push(f.obsolete(id, ticks + 1n, hex('0a0b0c'), 3));
      });
    }
    const bytes = join(...parts);
    const ours = [...readCapture(bytes)];
    expect(ours).toHaveLength(4 * resolutions.length);
    expect(byTshark(stored(bytes))).toEqual(ours.map(asTshark));
  });

  it('agrees on simple packets, whose length follows from the snapshot length', () => {
    wireshark();
    const f = new Fields(false);
    const data = Uint8Array.from({ length: 20 }, (_, index) => index);
    const simple = [f.simple(20, data), f.simple(1500, data), f.simple(7, data.subarray(0, 7))];
    const bytes = join(f.section(), f.interface(1, 20), ...simple);
    const timeless = (seen: Seen): Seen => ({ ...seen, time: '' });
    expect(byTshark(stored(bytes)).map(timeless)).toEqual([...readCapture(bytes)].map(asTshark).map(timeless));
  });

  it('refuses the same cut capture', () => {
    wireshark();
    const writer = new PcapngWriter();
    const bytes = join(writer.header(), ...frames.map((frame) => writer.record(frame)));
    for (const cut of [1, 5, 30]) {
      const short = bytes.subarray(0, bytes.length - cut);
      expect(spawnSync('tshark', ['-r', stored(short)], { timeout: 50_000 }).status).not.toBe(0);
      expect(() => [...readCapture(short)]).toThrow(expect.objectContaining({ code: 'ERR_CAPTURE_TRUNCATED' }));
    }
  });
});

describe('editcap', () => {
  // Each frame keeps its bytes; formats without nanoseconds round the time down.
  it.for([
    ['pcap', 1000n],
    ['nsecpcap', 1n],
    ['modpcap', 1000n],
    ['pcapng', 1n],
  ] as const)('writes %s that we read', ([format, unit]) => {
    wireshark();
    const writer = new PcapWriter();
    const from = stored(join(writer.header(), ...frames.map((frame) => writer.record(frame))));
    const to = joinPath(folder, 'converted');
    execFileSync('editcap', ['-F', format, from, to], { stdio: 'ignore', timeout: 50_000 });
    expect([...readCapture(new Uint8Array(readFileSync(to)))]).toEqual(
      frames.map((frame) => ({ ...frame, timeNs: frame.timeNs - (frame.timeNs % unit), linkType: 1, interfaceId: 0 })),
    );
  });
});
