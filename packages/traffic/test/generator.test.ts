import { decodeFrame, FrameDecoder, type Hop } from '@int/codec';
import { Random } from '@int/random';
import {
  encodePacket,
  FlowTable,
  type GeneratedPacket,
  type GeneratorOptions,
  parseTopology,
  TopologyError,
  TrafficGenerator,
} from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { SEED } from './seed.js';
import { binomialBound, SIGMAS } from './statistics.js';

const LINK_DELAY = 500n;
/** 1000 us of 10 Gbit/s in cells of 80 bytes. */
const FULL_QUEUE = 15_625;
/** 50 us of it. */
const CONGESTED_QUEUE = 781;

function generate(
  options: Partial<GeneratorOptions>,
  count: number,
): { generator: TrafficGenerator; all: GeneratedPacket[] } {
  const generator = new TrafficGenerator({ topology: 'leaf-spine:4x2', workload: 'cache', seed: SEED, ...options });
  return { generator, all: [...generator.take(count)] };
}

/** All hops of a report, the reporting node's own last. */
function hopsOf(packet: GeneratedPacket): Hop[] {
  const [record] = packet.records;
  const own = record!.report === null ? [] : [{ nodeId: record!.report.nodeId, ...record!.report.metadata }];
  return [...record!.hops, ...own];
}

/** Packets of a longer run. */
const MANY = process.env.INT_LONG === '1' ? 20_000 : 4000;

/** Busy enough for drops, long queues and packets that wait for each other. */
const BUSY: Partial<GeneratorOptions> = {
  topology: 'fat-tree:4',
  workload: 'hadoop',
  ratePps: 200_000,
  fabric: { hotspots: 6, episodes: { rate: 2.5, everyNs: 3e6, lengthNs: 4e6 } },
};

describe('TrafficGenerator', () => {
  it('keeps time: latency is egress minus ingress, and the next ingress a link delay later', () => {
    for (const topology of ['leaf-spine:4x2', 'fat-tree:4']) {
      let hops = 0;
      for (const packet of generate({ ...BUSY, topology }, 1000).all) {
        let leftAt: bigint | null = null;
        for (const hop of hopsOf(packet)) {
          const ingress = hop.ingressTimestamp!;
          if (leftAt !== null) expect(ingress - leftAt).toBe(LINK_DELAY);
          if (hop.egressTimestamp === undefined) {
            expect(packet.records[0]!.report!.dropped).toBe(true);
            expect(packet.timeNs).toBe(ingress);
          } else {
            expect(BigInt(hop.hopLatency!)).toBe(hop.egressTimestamp! - ingress);
            leftAt = hop.egressTimestamp!;
          }
          hops++;
        }
        if (!packet.records[0]!.report!.dropped) expect(leftAt).toBe(packet.timeNs);
      }
      expect(hops).toBeGreaterThan(2000);
    }
  });

  it('sends packets over the links of the topology, by the path of their flow', () => {
    for (const topology of ['leaf-spine:4x2', 'leaf-spine:6x1x300', 'fat-tree:4', 'fat-tree:8']) {
      const fabric = parseTopology(topology);
      for (const packet of generate({ ...BUSY, topology }, 250).all) {
        const hops = hopsOf(packet);
        const flow = packet.records[0]!.flow!;
        expect(flow.source).toBe(packet.source.address);
        expect(flow.destination).toBe(packet.destination.address);
        expect(hops[0]!.nodeId).toBe(packet.source.switchIndex + 1);
        expect(hops[0]!.l1IngressInterface).toBe(packet.source.port);
        for (const [h, hop] of hops.entries()) {
          const peer = fabric.peer(hop.nodeId! - 1, hop.l1EgressInterface!);
          const next = hops[h + 1];
          if (next !== undefined) {
            expect(peer).toEqual({ kind: 'switch', switchIndex: next.nodeId! - 1, port: next.l1IngressInterface });
          } else if (!packet.records[0]!.report!.dropped) {
            expect(peer).toEqual({ kind: 'host', host: packet.destination.index });
          }
        }
        expect(packet.records[0]!.path).toEqual(hops.map((hop) => hop.nodeId));
        expect(packet.reporter.id).toBe(hops[hops.length - 1]!.nodeId);
      }
    }
  });

  it('goes forward in time, and numbers reports by one for each node and hardware id', () => {
    for (const mode of ['md', 'mx', 'xd'] as const) {
      const { all } = generate({ ...BUSY, mode }, 2000);
      const sequences = new Map<string, number>();
      let previous = 0n;
      for (const { timeNs, records } of all) {
        const { nodeId, hwId, sequence } = records[0]!.report!;
        const key = `${nodeId} ${hwId}`;
        expect(sequence).toBe(sequences.get(key) ?? 0);
        sequences.set(key, sequence + 1);
        expect(timeNs).toBeGreaterThanOrEqual(previous);
        previous = timeNs;
      }
      expect(sequences.size).toBeGreaterThan(4);
    }
  });

  it('wraps the sequence number of a report v2.0 at 2^22', () => {
    const firstSequence = 2 ** 22 - 2;
    const generator = new TrafficGenerator({ topology: 'leaf-spine:2x1x1', flows: 1, seed: SEED, firstSequence });
    const sequences = [...generator.take(4)].map((packet) => packet.records[0]!.report!.sequence);
    expect(sequences).toEqual([2 ** 22 - 2, 2 ** 22 - 1, 0, 1]);
  });

  it('lets no packet overtake another in a queue', () => {
    const { all } = generate({ ...BUSY, mode: 'xd' }, MANY);
    const passed = new Map<string, { ingress: bigint; egress: bigint }[]>();
    for (const { records } of all) {
      const { nodeId, metadata, dropped } = records[0]!.report!;
      if (dropped) continue;
      const key = `${nodeId} ${metadata.l1EgressInterface}`;
      const list = passed.get(key) ?? [];
      list.push({ ingress: metadata.ingressTimestamp!, egress: metadata.egressTimestamp! });
      passed.set(key, list);
    }
    for (const list of passed.values()) {
      list.sort((a, b) => (a.ingress < b.ingress ? -1 : a.ingress > b.ingress ? 1 : 0));
      for (let i = 1; i < list.length; i++) {
        expect(list[i]!.ingress === list[i - 1]!.ingress || list[i]!.egress >= list[i - 1]!.egress).toBe(true);
      }
    }
  });

  it('has queue, latency, utilisation, buffer and Q bit say the same', () => {
    const { all, generator } = generate(BUSY, 1500);
    let long = 0;
    for (const packet of all) {
      const { report } = packet.records[0]!;
      for (const hop of hopsOf(packet)) {
        const cells = hop.queueOccupancy!;
        expect(cells).toBeGreaterThanOrEqual(0);
        expect(cells).toBeLessThanOrEqual(FULL_QUEUE);
        expect(hop.bufferOccupancy!).toBeGreaterThanOrEqual(cells);
        expect(hop.egressUtilization!).toBeGreaterThanOrEqual(2999);
        expect(hop.egressUtilization!).toBeLessThanOrEqual(10_000);
        if (hop.hopLatency === undefined) continue;
        const base = generator.baseLatencyNs(hop.nodeId! - 1);
        // 64 ns a cell; on an idle queue up to one packet of 1250 ns is being sent, or has just made another wait.
        const wait = hop.hopLatency! - base;
        expect(wait).toBeGreaterThanOrEqual(cells * 64);
        expect(wait).toBeLessThanOrEqual((cells + 1) * 64 + 1250);
        if (cells > 1000) long++;
      }
      const own = report!.metadata.queueOccupancy!;
      if (own > CONGESTED_QUEUE) expect(report!.queueCongested).toBe(true);
      if (own < CONGESTED_QUEUE) expect(report!.queueCongested).toBe(false);
    }
    expect(long).toBeGreaterThan(50);
  });

  it('drops only where a queue is full, which is on the hotspots', () => {
    const { all, generator } = generate({ ...BUSY, workload: 'web' }, MANY);
    const hotspots = new Set(generator.hotspots().map(({ switchIndex, port }) => `${switchIndex + 1} ${port}`));
    expect(hotspots.size).toBe(6);
    let drops = 0;
    const queues = new Map<boolean, number>([
      [true, 0],
      [false, 0],
    ]);
    for (const packet of all) {
      const { report, hops, int } = packet.records[0]!;
      for (const hop of hopsOf(packet)) {
        const hot = hotspots.has(`${hop.nodeId} ${hop.l1EgressInterface}`);
        queues.set(hot, Math.max(queues.get(hot)!, hop.queueOccupancy!));
      }
      if (!report!.dropped) continue;
      drops++;
      expect(report!.metadata.queueOccupancy).toBe(FULL_QUEUE);
      expect(hotspots).toContain(`${report!.nodeId} ${report!.metadata.l1EgressInterface}`);
      expect(report).toMatchObject({
        queueCongested: true,
        dropReason: 71,
        dropQueueId: report!.metadata.l1EgressInterface,
        // Uplinks are those of the INT source, which inserts INT where packets leave.
        type: 'drop',
      });
      expect(report!.metadata).not.toHaveProperty('hopLatency');
      expect(report!.metadata).not.toHaveProperty('egressTimestamp');
      expect(hops).toEqual([]);
      expect(int).toBeNull();
    }
    expect(drops).toBeGreaterThan(100);
    expect(queues.get(true)).toBe(FULL_QUEUE);
    expect(queues.get(false)).toBeLessThan(FULL_QUEUE / 2);
  });

  it('loses half of what arrives at a full queue at twice the line rate', () => {
    // One uplink, overloaded practically always.
    const { all } = generate(
      {
        topology: 'leaf-spine:2x1',
        ratePps: 50_000,
        fabric: { hotspots: 2, episodes: { rate: 2, everyNs: 1, lengthNs: 1e15 } },
      },
      20_000,
    );
    const later = all.filter(({ timeNs }) => timeNs > 1_700_000_000_010_000_000n);
    const drops = later.filter(({ records }) => records[0]!.report!.dropped).length;
    expect(Math.abs(drops - later.length / 2)).toBeLessThan(binomialBound(later.length, 0.5));
  });

  it('shows the same network in every mode and report version', () => {
    const seen = (options: Partial<GeneratorOptions>, count: number): Set<string> =>
      new Set(
        generate({ ...BUSY, ...options }, count)
          .all.flatMap(hopsOf)
          .filter((hop) => hop.hopLatency !== undefined)
          .map((hop) => `${hop.nodeId} ${hop.hopLatency} ${hop.queueOccupancy} ${hop.egressUtilization}`),
      );
    const instructions = 0xfd00;
    const postcards = seen({ mode: 'xd', instructions }, 2500);
    for (const one of seen({ mode: 'md', instructions }, 400)) expect(postcards).toContain(one);
    for (const one of seen({ mode: 'md', report: '1.0', instructions }, 400)) expect(postcards).toContain(one);
    for (const one of seen({ mode: 'mx', instructions }, 400)) expect(postcards).toContain(one);
    for (const one of seen({ mode: 'md', form: 'packets', instructions }, 400)) expect(postcards).toContain(one);
  });

  it('sends at the rate asked for, and flows by their popularity', () => {
    const { all, generator } = generate(
      { ratePps: 20_000, flows: 50, zipfExponent: 1, fabric: { hotspots: 0 } },
      20_000,
    );
    const seconds = Number(all[all.length - 1]!.timeNs - generator.settings.startNs) / 1e9;
    expect(Math.abs(seconds - 1)).toBeLessThan(SIGMAS / Math.sqrt(20_000) + 0.001);
    const first = all.filter(({ flow }) => flow === 0).length;
    let total = 0;
    for (let k = 1; k <= 50; k++) total += 1 / k;
    expect(Math.abs(first - 20_000 / total)).toBeLessThan(binomialBound(20_000, 1 / total));
  });

  it('gives the same traffic for the same options, and other traffic for another seed', () => {
    fc.assert(
      fc.property(fc.string(), fc.constantFrom('md' as const, 'mx' as const, 'xd' as const), (seed, mode) => {
        const { all } = generate({ seed, mode }, 30);
        expect(generate({ seed, mode }, 30).all).toEqual(all);
        expect(generate({ seed: `${seed}!`, mode }, 30).all).not.toEqual(all);
      }),
      { seed: SEED, numRuns: runs(20) },
    );
  });

  it('shows packets on the way to their sink, with all hops before it', () => {
    for (const mode of ['md', 'mx'] as const) {
      const fabric = parseTopology('fat-tree:4');
      for (const packet of generate({ ...BUSY, mode, form: 'packets' }, 1000).all) {
        const [record] = packet.records;
        expect(record!.report).toBeNull();
        expect(record!.int!.mode).toBe(mode);
        if (mode === 'mx') {
          expect(record!.hops).toEqual([]);
          continue;
        }
        const last = record!.hops[record!.hops.length - 1]!;
        expect(packet.reporter.id).toBe(last.nodeId);
        expect(packet.timeNs).toBe(last.egressTimestamp);
        expect(fabric.peer(last.nodeId! - 1, last.l1EgressInterface!)).toMatchObject({
          kind: 'switch',
          switchIndex: packet.destination.switchIndex,
        });
        expect(record!.int).toMatchObject({ remainingHopCount: 8 - record!.hops.length });
      }
    }
  });

  it('refuses options out of range', () => {
    const bad: Partial<GeneratorOptions>[] = [
      { flows: 0 },
      { flows: 1.5 },
      { ratePps: 0 },
      { ratePps: Number.NaN },
      { instructions: 0 },
      { instructions: 0x0040 },
      { instructions: 0x8080, report: '1.0' },
      { instructions: 0x8800, report: '1.0', mode: 'xd' },
      { mode: 'int' as 'md' },
      { report: '0.5' as '1.0' },
      { form: 'frames' as 'packets' },
      { form: 'packets', mode: 'xd' },
      { workload: 'batch' as 'web' },
      { zipfExponent: -1 },
      { tcpShare: 2 },
      { startNs: -1n },
      { topology: 'leaf-spine:1x2' },
      { fabric: { hotspots: 9 } },
      { fabric: { linkDelayNs: 0.5 } },
      { fabric: { cellBytes: 0 } },
      { fabric: { lineRateBps: 1e13, queueCapUs: 1e6, cellBytes: 1 } },
      { fabric: { episodes: { rate: 1, everyNs: 1, lengthNs: 1 } } },
    ];
    for (const options of bad) expect(() => generate(options, 1)).toThrow(RangeError);
    let thrown: unknown;
    try {
      generate({ topology: 'star:3' }, 1);
    } catch (error) {
      thrown = error;
    }
    expect(TopologyError.is(thrown)).toBe(true);
    expect(() => new TrafficGenerator({ topology: 'leaf-spine:2x1' }).baseLatencyNs(3)).toThrow(RangeError);
  });
});

describe('encodePacket', () => {
  it('gives frames that decode to the records, in every mode, form and report version', () => {
    const decoder = new FrameDecoder({ verifyChecksums: true });
    for (const mode of ['md', 'mx', 'xd'] as const) {
      for (const report of ['1.0', '2.0'] as const) {
        for (const form of ['reports', 'packets'] as const) {
          if (form === 'packets' && mode === 'xd') continue;
          const { all } = generate({ ...BUSY, mode, report, form }, 600);
          for (const packet of all) {
            const frame = encodePacket(packet);
            expect(decoder.decode(frame)).toEqual(packet.records);
            const macs = form === 'reports' ? [packet.reporter.mac] : [packet.destination.mac, packet.source.mac];
            const hex = Buffer.from(frame).toString('hex').slice(0, 24);
            for (const mac of macs) expect(hex).toContain(mac.replaceAll(':', ''));
          }
        }
      }
    }
  });

  it('takes what the caller wants different', () => {
    const [packet] = generate({}, 1).all;
    const frame = encodePacket(packet!, { reporter: '192.0.2.77', reportPort: 9555 });
    expect([...frame.subarray(26, 30)]).toEqual([192, 0, 2, 77]);
    expect((frame[36]! << 8) | frame[37]!).toBe(9555);
    expect(decodeFrame(frame, { reportPorts: [9555] })).toEqual(packet!.records);
  });
});

describe('FlowTable', () => {
  it('has flows between different edge switches, no two the same, spread over hosts and protocols', () => {
    const topology = parseTopology('leaf-spine:4x2');
    const table = new FlowTable(topology, { count: 20_000, tcpShare: 0.7 }, new Random(SEED));
    const tuples = new Set<string>();
    let tcp = 0;
    let ports = new Set<number>();
    for (let i = 0; i < table.size; i++) {
      const flow = table.flow(i);
      tuples.add(Object.values(flow).join());
      if (flow.protocol === 6) tcp++;
      else expect(flow.protocol).toBe(17);
      ports = ports.add(flow.destinationPort);
      expect(flow.sourcePort).toBeGreaterThanOrEqual(32_768);
      expect(topology.host(table.sourceHost[i]!).switchIndex).not.toBe(
        topology.host(table.destinationHost[i]!).switchIndex,
      );
    }
    expect(tuples.size).toBe(20_000);
    expect(new Set(table.sourceHost).size).toBe(32);
    expect(new Set(table.destinationHost).size).toBe(32);
    expect(Math.abs(tcp - 14_000)).toBeLessThan(binomialBound(20_000, 0.7));
    // None is a port by which INT, reports, probes or tunnels are recognised.
    for (const port of [4096, 5000, 5017, 5018, 4789, 4790, 4791, 6081, 32_766, 54_321, 4321]) {
      expect(ports.has(port)).toBe(false);
    }
    expect(() => table.flow(20_000)).toThrow(RangeError);
  });

  it('finds a free source port when the first choice is taken, and refuses more flows than there is room for', () => {
    const topology = parseTopology('leaf-spine:2x1x1');
    const table = new FlowTable(topology, { count: 200_000, tcpShare: 1 }, new Random(SEED));
    const keys = new Set<number>();
    for (let i = 0; i < table.size; i++) keys.add(table.sourceHost[i]! * 2 ** 32 + table.ports[i]!);
    expect(keys.size).toBe(200_000);
    // Two directions, 8 destination ports, 28,232 source ports: half of the 451,712 tuples.
    expect(() => new FlowTable(topology, { count: 225_857, tcpShare: 1 }, new Random(SEED))).toThrow(RangeError);
    for (const tcpShare of [-0.1, 1.1, Number.NaN]) {
      expect(() => new FlowTable(topology, { count: 1, tcpShare }, new Random(SEED))).toThrow(RangeError);
    }
  });
});
