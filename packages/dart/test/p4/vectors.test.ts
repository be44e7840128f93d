import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { icrc } from '@int/codec/internals';
import { DartStore, flowKey, pathValue, type RdmaCollector, RdmaWriter, SoftRnic } from '@int/dart';
import { describe, expect, it } from 'vitest';
import { bitwiseCrc } from '../store/model.js';

const FILE = fileURLToPath(new URL('../../../../p4/vectors/dart/writes.json', import.meta.url));
const hex = (bytes: Uint8Array): string => Buffer.from(bytes).toString('hex');
const hexWord = (word: number): string => `0x${word.toString(16).padStart(8, '0')}`;

const COLLECTORS: readonly RdmaCollector[] = [
  { address: '10.0.9.1', slots: 1 << 16, base: 0x7f00_0000_0000n },
  { address: '10.0.9.2', slots: 65_521, base: 0x7f12_3456_0040n },
  { address: '10.0.9.3', slots: 1_000_003, base: 0x10_0000_0000n },
].map((each, id) => ({
  ...each,
  id,
  port: 4791,
  queuePair: 0x100 + id,
  remoteKey: 0x1a00 + id,
  mac: `02:00:00:00:09:0${id + 1}`,
}));
const COPIES = 4;
const VALUE_BYTES = 20;

const FLOWS = [
  ['10.0.1.1', '10.0.2.2', 17, 5000, 80],
  ['192.168.0.1', '192.168.0.2', 6, 443, 51_234],
  ['0.0.0.0', '0.0.0.0', 0, 0, 0],
  ['255.255.255.255', '255.255.255.255', 255, 65_535, 65_535],
  ['10.0.1.2', '10.0.2.2', 17, 5000, 80],
  ['10.0.1.3', '10.0.2.2', 17, 5000, 80],
  ['2001:db8::1', '2001:db8::2', 17, 40_000, 5000],
  ['2001:db8:ffff::', '2001:db8::ffff', 6, 1, 2],
] as const;

interface Case {
  readonly flow: { source: string; destination: string; protocol: number; sourcePort: number; destinationPort: number };
  /** Postcards: the id of the switch that reports. */
  readonly node: number | null;
  readonly key: string;
  readonly value: string;
  readonly collector: number;
  readonly checksum: string;
  readonly slots: readonly number[];
  /** One frame per copy; the sequence numbers go on from case to case, per collector. */
  readonly frames: readonly string[];
}

const store = (collector: RdmaCollector): DartStore =>
  new DartStore({
    slots: collector.slots,
    copies: COPIES,
    valueBytes: VALUE_BYTES,
    hash: 'crc',
    collectors: COLLECTORS.length,
    collector: collector.id,
    engine: 'plain',
  });

/** The vectors, from the package. */
function cases(): Case[] {
  const stores = COLLECTORS.map(store);
  const { geometry, hashes } = stores[0]!;
  const writer = new RdmaWriter({ geometry, hashes, collectors: COLLECTORS, source: '10.0.3.1' });
  return FLOWS.flatMap(([source, destination, protocol, sourcePort, destinationPort], index) =>
    [null, 7 + index].map((node) => {
      const flow = { source, destination, protocol, sourcePort, destinationPort };
      const key = node === null ? flowKey(flow) : flowKey(flow, node);
      const value = pathValue(
        node === null ? [1, 17, 33, 18, 2].slice(0, (index % 5) + 1) : [1000 * index],
        VALUE_BYTES,
      );
      const collector = stores[0]!.collectorOf(key);
      const own = stores[collector]!;
      return {
        flow,
        node,
        key: hex(key),
        value: hex(value),
        collector,
        checksum: hexWord(own.checksumOf(key)),
        slots: Array.from({ length: COPIES }, (_, copy) => own.slotOf(key, copy)),
        frames: writer.write(key, value).map(hex),
      };
    }),
  );
}

function text(): string {
  const collectors = COLLECTORS.map(({ base, ...rest }) => ({ ...rest, base: `0x${base.toString(16)}` }));
  const { slots, checksum, collector } = store(COLLECTORS[0]!).hashes.parameters;
  const polynomials = { slots: slots.map(hexWord), checksum: hexWord(checksum), collector: hexWord(collector) };
  const head = { copies: COPIES, valueBytes: VALUE_BYTES, polynomials, collectors };
  return `${JSON.stringify({ ...head, cases: cases() }, null, 1)}\n`;
}

describe('the vectors for switches', () => {
  if (process.env.INT_WRITE_VECTORS === '1') writeFileSync(FILE, text());
  const committed = readFileSync(FILE, 'utf8');
  const { cases: all } = JSON.parse(committed) as { cases: Case[] };

  it('are what the package gives; INT_WRITE_VECTORS=1 writes them', () => {
    expect(committed).toBe(text());
  });

  it('have the hashes that CRCs give, computed bit by bit', () => {
    const { slots, checksum, collector } = store(COLLECTORS[0]!).hashes.parameters;
    for (const each of all) {
      const key = Buffer.from(each.key, 'hex');
      expect(each.collector).toBe(bitwiseCrc(collector, key) % COLLECTORS.length);
      expect(Number(each.checksum)).toBe(bitwiseCrc(checksum, key));
      const count = COLLECTORS[each.collector]!.slots;
      expect(each.slots).toEqual(slots.slice(0, COPIES).map((polynomial) => bitwiseCrc(polynomial, key) % count));
    }
    expect(new Set(all.map((each) => each.collector)).size).toBe(COLLECTORS.length);
  });

  it('have frames that write checksum and value into the slots', () => {
    const stores = COLLECTORS.map(store);
    const rnic = new SoftRnic({
      queuePairs: COLLECTORS.map(({ queuePair }) => ({ number: queuePair, expectedPsn: 0 })),
      regions: COLLECTORS.map(({ remoteKey, base }, id) => ({ remoteKey, base, target: stores[id]! })),
    });
    for (const each of all) {
      const target = stores[each.collector]!;
      each.frames.forEach((frame, copy) => {
        const bytes = Buffer.from(frame, 'hex');
        expect(bytes.readUInt32LE(bytes.length - 4)).toBe(icrc(bytes, 14, bytes.length - 18));
        const before = target.slotWrites;
        rnic.receive(bytes);
        expect(target.slotWrites).toBe(before + 1);
        const at = each.slots[copy]! * target.geometry.slotBytes;
        const slot = hex(target.pieces[0]!.subarray(at, at + target.geometry.slotBytes));
        expect(slot).toBe(each.checksum.slice(2) + each.value);
      });
    }
  });
});
