import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { decodeReport, formatIpv4 } from '@int/codec';
import { udpPayload } from '@int/netsim';
import { readCapture } from '@int/pcap';
import { afterAll, describe, expect, test } from 'vitest';
import { hostAddress, NODE_IDS, spineOf } from '../src/fabric/commands.js';
import { buildFabric, droppedIn } from '../src/fabric/network.js';
import { type FabricOptions, readOptions, UsageError } from '../src/fabric/options.js';
import { runFabric } from '../src/fabric/run.js';
import { Traffic } from '../src/fabric/traffic.js';
import { Collect } from './collect.js';
import { SEED } from './seed.js';
import { numberOf, type Seen, Witness } from './witness.js';

const folder = mkdtempSync(join(tmpdir(), 'int-fabric-'));
afterAll(() => rmSync(folder, { recursive: true }));

const SHAPE = { leaves: 4, spines: 2, hosts: 4 };
const PACKETS = process.env.INT_LONG === '1' ? 400 : 200;
const RATE = 2000;

function optionsOf(...args: string[]): FabricOptions {
  const options = readOptions(args);
  if (typeof options === 'string') throw new Error(options);
  return options;
}

/** The same packets at the same times as a run with this seed, its reports kept. */
function replay(seed: number): { reports: Uint8Array[]; hops: Map<number, Seen[]>; dropped: number; sent: number } {
  const reports: Uint8Array[] = [];
  const fabric = buildFabric({ ...SHAPE, seed, onReport: (frame) => reports.push(frame) });
  const witness = new Witness(fabric);
  const traffic = new Traffic(fabric.network, { hosts: fabric.hosts, packetsPerSecond: RATE, packets: PACKETS });
  fabric.network.run(Number.POSITIVE_INFINITY);
  return { reports, hops: witness.hops(), dropped: droppedIn(fabric), sent: traffic.sent };
}

/** The monitored packet within a report: behind group, individual header and main contents. */
function innerOf(report: Uint8Array): Uint8Array {
  return report.subarray(8 + 4 + 8 + 4 * report[10]!);
}

describe('a fabric of P4 switches', () => {
  const { reports, hops, dropped, sent } = replay(SEED);

  test('reports each packet once, with what its switches saw', () => {
    expect([sent, dropped, reports.length]).toEqual([PACKETS, 0, PACKETS]);
    const found = new Map<number, unknown>();
    for (const frame of reports) {
      const payload = udpPayload(frame)!;
      const { records } = decodeReport(payload);
      found.set(numberOf(innerOf(payload)), records[0]?.hops);
    }
    expect(found.size).toBe(PACKETS);
    for (const [number, seen] of hops) expect(found.get(number)).toMatchObject(seen);
    // The traffic is such that queues build up.
    expect(Math.max(...[...hops.values()].flat().map(({ queueOccupancy }) => queueOccupancy))).toBeGreaterThan(5);
  });

  test('sends packets from leaf to leaf by the spine that the routes name', () => {
    for (const path of hops.values()) {
      const [first, spine, last] = path.map(({ nodeId }) => nodeId);
      const from = first! - NODE_IDS.leaf(0);
      const to = last! - NODE_IDS.leaf(0);
      const host = path[2]!.l1EgressInterface - 1;
      expect(spine).toBe(NODE_IDS.spine(spineOf(SHAPE, from, to, host)));
    }
    expect(new Set([...hops.values()].map(([, spine]) => spine!.nodeId)).size).toBe(SHAPE.spines);
  });

  test('reaches a real collector over a real socket, which finds the same hops', async () => {
    const rules = join(folder, 'collect.json');
    const detect = { threshold: { metric: 'hopLatency', threshold: 0, scope: 'hop' } };
    writeFileSync(rules, JSON.stringify({ version: 1, rules: [{ name: 'all', priority: 1, match: 'any', detect }] }));
    const pcap = join(folder, 'link.pcap');
    const collect = await Collect.start('--rules', rules);
    const totals = await runFabric(
      optionsOf(
        ...['--collector', `127.0.0.1:${collect.port}`, '--seed', String(SEED), '--packets', String(PACKETS)],
        ...['--rate', String(RATE), '--pcap', pcap, '--tap', 'leaf2:spine1'],
      ),
      new AbortController().signal,
    );
    expect(totals).toMatchObject({
      packets: PACKETS,
      delivered: PACKETS,
      dropped: 0,
      reports: PACKETS,
      refused: 0,
      closes: true,
    });
    const counted = (line: { readonly [key: string]: unknown }): number =>
      Number(line.received) + Number(line.kernelDropped ?? 0);
    await collect.until(() => collect.lines.find((line) => line.type === 'stats' && counted(line) === PACKETS));
    const lines = await collect.stop();
    const total = lines.at(-1)!;
    expect(counted(total)).toBe(PACKETS);
    expect(total).toMatchObject({ type: 'total', received: PACKETS, decoded: PACKETS, reports: PACKETS });

    const events = lines
      .filter(({ type }) => type === 'event')
      .map(({ nodeId, hop, value }) => `${nodeId} ${hop} ${value}`);
    const expected = [...hops.values()].flatMap((path) =>
      path.flatMap(({ nodeId, hopLatency }, hop) => (hopLatency > 0 ? [`${nodeId} ${hop} ${hopLatency}`] : [])),
    );
    expect(events.sort()).toEqual(expected.sort());

    const captured = [...readCapture(readFileSync(pcap))].map(({ data }) => numberOf(data));
    const passed = [...hops].filter(([, [first, spine, last]]) => {
      return spine!.nodeId === NODE_IDS.spine(0) && [first!.nodeId, last!.nodeId].includes(NODE_IDS.leaf(1));
    });
    expect(captured.sort((a, b) => a - b)).toEqual(passed.map(([number]) => number).sort((a, b) => a - b));
  });

  test('reports only what rules find', async () => {
    const rules = join(folder, 'rules.yaml');
    writeFileSync(
      rules,
      `version: 1
default: drop
rules:
  - { name: queues, priority: 1, match: any, detect: { threshold: { metric: queueOccupancy, threshold: 3, scope: hop } } }
`,
    );
    const collect = await Collect.start();
    const totals = await runFabric(
      optionsOf(
        ...['--collector', `127.0.0.1:${collect.port}`, '--seed', String(SEED), '--packets', String(PACKETS)],
        ...['--rate', String(RATE), '--rules', rules],
      ),
      new AbortController().signal,
    );
    const congested = [...hops.values()].filter((path) => path.some(({ queueOccupancy }) => queueOccupancy > 3));
    expect(congested.length).toBeGreaterThan(0);
    expect(totals).toMatchObject({ packets: PACKETS, reports: congested.length });
    await collect.stop();
  });

  test('keeps INT from hosts, of the same leaf too', () => {
    const fabric = buildFabric({ ...SHAPE, seed: SEED, onReport: () => {} });
    const frames: Uint8Array[] = [];
    for (const link of fabric.network.links) {
      if (link.b.name === 'host1-2' || link.b.name === 'host2-1') {
        fabric.network.tap(link, 'ab', (frame) => frames.push(frame));
      }
    }
    const [sender] = fabric.hosts[0]!;
    for (const to of [fabric.hosts[0]![1]!, fabric.hosts[1]![0]!]) {
      sender!.send({ destination: to.address, sourcePort: 1, destinationPort: 2 }, new Uint8Array(20));
    }
    fabric.network.run(1e9);
    expect(frames.map((frame) => frame.length)).toEqual([62, 62]);
    expect(frames.map((frame) => frame[15])).toEqual([0, 0]);
    expect(fabric.hosts[0]![1]!.received).toBe(1);
    expect(formatIpv4(sender!.address)).toBe(hostAddress(0, 0));
  });
});

describe('the command line', () => {
  test('says what is wrong', () => {
    expect(() => readOptions(['--collector', 'nowhere'])).toThrow(UsageError);
    expect(() => readOptions(['--rate', '-1'])).toThrow(UsageError);
    expect(() => readOptions(['--leaves', '1'])).toThrow('--leaves must be a whole number from 2 to 32');
    expect(readOptions(['--help'])).toContain('Usage');
    expect(optionsOf('--collector', '[::1]:5')).toMatchObject({ collector: { host: '::1', port: 5 }, seconds: 10 });
    expect(optionsOf('--packets', '5')).toMatchObject({ seconds: null, packets: 5 });
  });

  test('knows no link of that name', async () => {
    const options = optionsOf('--packets', '1', '--pcap', join(folder, 'no.pcap'), '--tap', 'leaf1:leaf2');
    await expect(runFabric(options, new AbortController().signal)).rejects.toThrow('there is no such link');
  });
});
