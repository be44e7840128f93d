import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { parseAddress, source, transit } from '@int/codec';
import { ipv4HeaderChecksum } from '@int/codec/internals';
import { DartStore, flowKey, pathValue, SoftRnic } from '@int/dart';
import { commandsPath, programPath } from '@int/p4';
import { createSwitch, type V1Switch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import { Random } from '@int/random';
import { beforeAll, describe, expect, test } from 'vitest';
import { run } from './int-switch.js';
import { hex } from './packets.js';
import { undefinedOptions } from './undefined/options.js';

interface Writes {
  readonly copies: number;
  readonly collectors: readonly {
    readonly address: string;
    readonly slots: number;
    readonly id: number;
    readonly queuePair: number;
    readonly remoteKey: number;
    readonly mac: string;
    readonly base: string;
  }[];
  readonly cases: readonly {
    readonly flow: {
      readonly source: string;
      readonly destination: string;
      readonly protocol: number;
      readonly sourcePort: number;
      readonly destinationPort: number;
    };
    readonly node: number | null;
    readonly value: string;
    readonly collector: number;
    readonly frames: readonly string[];
  }[];
}

const vectors = JSON.parse(
  readFileSync(fileURLToPath(new URL('../vectors/dart/writes.json', import.meta.url)), 'utf8'),
) as Writes;

const IN = 1;
const OUT = 2;
const COLLECTOR = 7;

/** What the collectors' frames come from, in the vectors. */
const SOURCE = { mac: '02:00:00:00:00:01', address: '10.0.3.1', port: 0xc000 };

function createSwitchFor(collectors: Writes['collectors'], copies: number, random: boolean): V1Switch {
  const machine = createSwitch(loadProgram(programPath('dart')), undefinedOptions());
  run(
    machine,
    readFileSync(commandsPath('dart', 'hashes'), 'utf8')
      .split('\n')
      .filter((line) => /^[a-z]/.test(line)),
  );
  run(machine, [
    'table_set_default IntEgress.node IntEgress.set_node 9',
    `table_set_default IntIngress.forward_ipv4 IntIngress.forward ${OUT}`,
    `table_set_default IntIngress.forward_ipv6 IntIngress.forward ${OUT}`,
    `table_add IntEgress.port IntEgress.set_port ${OUT} => 1 0 0xffffff 0 0xffffffff`,
    `mirroring_add 99 ${COLLECTOR}`,
    'table_set_default IntEgress.reports IntEgress.set_session 99',
    `table_set_default DartWrite.copies DartWrite.set_copies ${copies} ${Number(random)} ${collectors.length}`,
    ...collectors.map(
      ({ id, mac, address, queuePair, remoteKey, base, slots }) =>
        `table_add DartWrite.collector DartWrite.write ${id} => ${SOURCE.mac} ${mac} ${SOURCE.address} ${address} ${SOURCE.port} ${queuePair} ${remoteKey} ${base} ${slots}`,
    ),
  ]);
  return machine;
}

/** A packet of the flow, with the path in its INT stack. */
function packetOf({ flow, value }: Writes['cases'][number]): Uint8Array {
  const ipv6 = flow.source.includes(':');
  const l4 = ipv6 ? 54 : 34;
  const header = flow.protocol === 6 ? 20 : 8;
  const frame = new Uint8Array(l4 + header + 10);
  const view = new DataView(frame.buffer);
  frame.set([2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1]);
  view.setUint16(12, ipv6 ? 0x86dd : 0x0800);
  if (ipv6) {
    frame[14] = 0x60;
    view.setUint16(18, header + 10);
    frame.set([flow.protocol, 64], 20);
  } else {
    frame.set([0x45, 0, 0, 20 + header + 10, 0, 0, 0, 0, 64, flow.protocol], 14);
  }
  const at = ipv6 ? 22 : 26;
  const words = [...parseAddress(flow.source).words, ...parseAddress(flow.destination).words];
  for (const [i, word] of words.entries()) view.setUint32(at + 4 * i, word);
  if (!ipv6) view.setUint16(24, ipv4HeaderChecksum(frame, 14));
  view.setUint16(l4, flow.sourcePort);
  view.setUint16(l4 + 2, flow.destinationPort);
  if (flow.protocol === 6) frame[l4 + 12] = 0x50;
  else view.setUint16(l4 + 4, header + 10);

  const path = Array.from({ length: 5 }, (_, i) => Number.parseInt(value.slice(8 * i, 8 * i + 8), 16)).filter(Boolean);
  const locate = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } };
  let { packet } = source(
    frame,
    { ...locate, instructions: 0x8000, maxHops: path.length, encapsulation: 'new-udp' },
    { nodeId: path[0]! },
  );
  for (const nodeId of path.slice(1)) packet = transit(packet, locate, { nodeId }).packet;
  return packet;
}

describe('dart.p4', () => {
  let all: V1Switch;
  beforeAll(() => {
    all = createSwitchFor(vectors.collectors, vectors.copies, false);
  });

  // What the switch cannot make: flows of other protocols without ports, and postcards (below).
  const paths = vectors.cases.filter(({ flow, node }) => node === null && [6, 17].includes(flow.protocol));

  test('there are paths to write, over both IP versions', () => {
    expect(paths.length).toBeGreaterThan(4);
    expect(new Set(paths.map(({ flow }) => parseAddress(flow.source).version)).size).toBe(2);
  });

  test('writes the frames of the vectors, but for the sequence numbers and what covers them', () => {
    const sequences = new Map<number, number>();
    for (const each of paths) {
      const out = all.process(IN, packetOf(each));
      expect(out.map(({ port }) => port).sort()).toEqual([OUT, ...Array<number>(vectors.copies).fill(COLLECTOR)]);
      const writes = out.filter(({ port }) => port === COLLECTOR).map(({ frame }) => frame);
      for (const [i, frame] of writes.entries()) {
        const expected = each.frames[i]!;
        const got = hex(frame);
        // Sequence number: 3 bytes at 14 + 20 + 8 + 9; invariant CRC: the last 4.
        expect(got.slice(0, 2 * 51) + got.slice(2 * 54, -8)).toBe(
          expected.slice(0, 2 * 51) + expected.slice(2 * 54, -8),
        );
        const sequence = sequences.get(each.collector) ?? 0;
        expect(Number.parseInt(got.slice(2 * 51, 2 * 54), 16)).toBe(sequence);
        if (got.slice(2 * 51, 2 * 54) === expected.slice(2 * 51, 2 * 54)) expect(got).toBe(expected);
        sequences.set(each.collector, sequence + 1);
      }
    }
  });

  test.each([
    ['all copies', 2, false, 2],
    ['one copy at random', 2, true, 1],
  ])('what it writes a store answers (%s)', (_, copies, random, writes) => {
    // Two collectors; every key is at the one that the hash names.
    const collectors = vectors.collectors.slice(0, 2);
    const switches = createSwitchFor(collectors, copies, random);
    const stores = collectors.map(({ slots }, collector) => {
      const store = new DartStore({ slots, copies, valueBytes: 20, hash: 'crc', collectors: 2, collector });
      return store;
    });
    const rnics = collectors.map(
      ({ queuePair, remoteKey, base }, i) =>
        new SoftRnic({
          queuePairs: [{ number: queuePair }],
          regions: [{ remoteKey, base: BigInt(base), target: stores[i]! }],
        }),
    );
    const random32 = new Random(5);
    const flows = Array.from({ length: 300 }, (_unused, i) => ({
      flow: {
        source: `10.0.${i & 255}.${random32.integer(256)}`,
        destination: `10.1.${random32.integer(256)}.1`,
        protocol: random32.integer(2) === 0 ? 6 : 17,
        sourcePort: random32.integer(65_536),
        destinationPort: 80,
      },
      path: Array.from({ length: 1 + random32.integer(5) }, () => 1 + random32.integer(0xffff)),
    }));
    for (const { flow, path } of flows) {
      const value = path
        .map((id) => id.toString(16).padStart(8, '0'))
        .join('')
        .padEnd(40, '0');
      const out = switches.process(IN, packetOf({ flow, value, node: null, collector: 0, frames: [] }));
      const frames = out.filter(({ port }) => port === COLLECTOR);
      expect(frames).toHaveLength(writes);
      for (const { frame } of frames) {
        const to = collectors.findIndex(({ mac }) => mac.replaceAll(':', '') === hex(frame.subarray(0, 6)));
        rnics[to]!.receive(frame);
      }
    }
    expect(rnics.map(({ counters }) => counters.rejected)).toEqual([0, 0]);
    expect(rnics.reduce((sum, { counters }) => sum + counters.write, 0)).toBe(flows.length * writes);
    // 65,536 slots for 300 flows: all but a few are found, and none is wrong.
    let found = 0;
    for (const { flow, path } of flows) {
      const key = flowKey(flow);
      const answers = stores.map((store) => store.query(key).value).filter((value) => value !== null);
      for (const value of answers) expect(hex(value)).toBe(hex(pathValue(path, 20)));
      found += answers.length;
    }
    expect(found).toBeGreaterThan(0.97 * flows.length);
  });
});
