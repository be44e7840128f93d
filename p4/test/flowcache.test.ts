import { readFileSync } from 'node:fs';
import { FrameDecoder, type Hop, source, transit } from '@int/codec';
import {
  EntryReader,
  FlowCache,
  type FlowCacheOptions,
  type RecordConsumer,
  readFlowEvent,
  type ThresholdOptions,
} from '@int/flowcache';
import { commandsPath, programPath } from '@int/p4';
import { createSwitch } from '@int/p4vm';
import { loadProgram } from '@int/p4vm/node';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import {
  type Dimensions,
  ENTRIES,
  EVENTS,
  FlowCacheSwitch,
  METRICS,
  REPORTS,
  readExport,
  SINK_ID,
} from './flowcache-switch.js';
import { OUT, ownMetadata, run } from './int-switch.js';
import { frameOf, hex, type PacketShape } from './packets.js';
import { undefinedOptions } from './undefined/options.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 2000 : 16;

const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;
const NEVER = 0xffff_ffff;

/** Takes records apart and keeps them. */
class Kept implements RecordConsumer {
  records: number[][] = [];
  readonly #size: number;

  constructor(size: number) {
    this.#size = size;
  }

  push(words: Int32Array, at: number, records: number): number {
    for (let record = 0; record < records; record++) {
      this.records.push([...words.subarray(at + record * this.#size, at + (record + 1) * this.#size)]);
    }
    return records;
  }

  take(): number[][] {
    const taken = this.records;
    this.records = [];
    return taken;
  }
}

interface Packet {
  readonly flow: number;
  readonly encapsulation: 'dscp' | 'port' | 'new-udp';
  readonly instructions: number;
  readonly hops: readonly Hop[];
  /** The hop count leaves room for the sink's own metadata. */
  readonly roomForSink: boolean;
  readonly waitUs: number;
}

const word = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom(0, 1, 90, 100, 110, 5000) },
  { weight: 1, arbitrary: fc.constantFrom(null, 0x7fff_ffff, 0x8000_0000, 0xffff_fffe) },
);
const nodeId = fc.oneof(
  { weight: 8, arbitrary: fc.constantFrom(1, 2, 3, SINK_ID) },
  { weight: 1, arbitrary: fc.constantFrom(null, 0x8000_0001) },
);
const hop: fc.Arbitrary<Hop> = fc.record({
  nodeId,
  l1IngressInterface: fc.constant(1),
  l1EgressInterface: fc.constant(2),
  hopLatency: word,
  queueId: fc.constantFrom(0, 3, 0xff),
  queueOccupancy: fc.constantFrom(0, 10, 20, 0xff_fffe, 0xff_ffff),
  ingressTimestamp: fc.constant(12n),
  egressTimestamp: fc.constant(34n),
  l2IngressInterface: fc.constant(7),
  l2EgressInterface: fc.constant(8),
  egressUtilization: word,
  bufferId: fc.constant(0),
  bufferOccupancy: fc.constant(9),
});
const usualPath: fc.Arbitrary<readonly Hop[]> = fc
  .array(hop, { minLength: 1, maxLength: 4 })
  .map((hops) => hops.map((each, position) => ({ ...each, nodeId: position + 1 })));

const packet = (flows: number): fc.Arbitrary<Packet> =>
  fc.record({
    flow: fc.nat(flows - 1),
    encapsulation: fc.constantFrom('dscp' as const, 'port' as const, 'new-udp' as const),
    instructions: fc.oneof(
      { weight: 3, arbitrary: fc.constantFrom(0xb100, 0xf100, 0xb000, 0xff80, 0xa000) },
      { weight: 1, arbitrary: fc.integer({ min: 0, max: 0xffff }) },
    ),
    hops: fc.oneof(usualPath, usualPath, fc.array(hop, { minLength: 1, maxLength: 10 })),
    roomForSink: fc.boolean(),
    waitUs: fc.constantFrom(0, 0, 1, 1000, 5_000_000_000),
  });

const limit = fc.constantFrom(null, 0, 10, 100, 0x7fff_ffff);
const limits = fc.record({ level: limit, change: limit });
const thresholds: fc.Arbitrary<Required<ThresholdOptions>> = fc.record({
  metrics: fc.record({ hopLatency: limits, queueOccupancy: limits, egressUtilization: limits }),
  endToEnd: limits,
  pathChange: fc.boolean(),
});

/** Flows that differ in one part of the key each, of both IP versions. */
function shapeOf(flow: number): PacketShape {
  const version = flow % 3 === 2 ? 6 : 4;
  const addresses = new Uint8Array(32);
  addresses.set([10, 0, 1, flow >> 2], 0);
  addresses.set([10, 0, 2, 1], 4);
  if (version === 6) {
    addresses.set([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, flow & 1], 0);
    addresses.set([0x20, 0x01, 0x0d, 0xb8, 0, 0, 0, 0, 0, flow >> 1, 0, 0, 0, 0, 0, 9], 16);
  }
  return {
    version,
    protocol: flow % 2 === 0 ? 17 : 6,
    dscp: 0,
    ecn: 0,
    addresses,
    sourcePort: 6000 + (flow >> 3),
    destinationPort: 80 + (flow & 3),
    ipOptions: 0,
    tcpOptions: 0,
    payload: new Uint8Array(9).fill(flow),
    checksum: 'right',
    padding: 0,
    ttl: 9,
  };
}

/** The packet as the sink gets it; undefined for an encapsulation that the flow cannot have. */
function frameWith({ flow, encapsulation, instructions, hops, roomForSink }: Packet): {
  plain: Uint8Array;
  frame: Uint8Array;
} {
  const shape = shapeOf(flow);
  const plain = frameOf(shape);
  const config = {
    ...LOCATE,
    instructions,
    maxHops: hops.length + Number(roomForSink),
    encapsulation: encapsulation === 'port' && shape.protocol === 6 ? ('dscp' as const) : encapsulation,
  };
  let { packet: frame } = source(plain, config, hops[0]!);
  for (const each of hops.slice(1)) frame = transit(frame, LOCATE, each).packet;
  return { plain, frame };
}

const text = (value: number | null | undefined): number => value ?? NEVER;

function setThresholds(node: FlowCacheSwitch, { metrics, endToEnd, pathChange }: Required<ThresholdOptions>): void {
  const named = {
    hop_latency: metrics.hopLatency,
    queue_occupancy: metrics.queueOccupancy,
    egress_utilization: metrics.egressUtilization,
    end_to_end: endToEnd,
  };
  run(node.machine, [
    ...Object.entries(named).map(
      ([name, of]) =>
        `table_set_default FlowCache.${name} FlowCache.set_${name} ${text(of?.level)} ${text(of?.change)}`,
    ),
    `table_set_default FlowCache.path FlowCache.set_path ${Number(pathChange)}`,
  ]);
}

/** Both caches: the switch, and the one of @int/flowcache that is given the same INT packets. */
class Pair {
  readonly node: FlowCacheSwitch;
  readonly #size: Dimensions;
  readonly #decoder = new FrameDecoder();

  constructor(size: Dimensions) {
    this.node = new FlowCacheSwitch(size);
    this.#size = size;
  }

  /** A cache of @int/flowcache of the same dimensions. */
  cache(options: FlowCacheOptions): FlowCache {
    return new FlowCache({ ...this.#size, metrics: METRICS, hash: 'crc32', accelerator: false, ...options });
  }

  /** What was seen, for the test to know that it tests something. */
  readonly seen = { events: 0, evicted: 0, pathChanges: 0, hopsBeyond: 0, notOk: 0, hits: 0 };

  check(packets: readonly Packet[], limitsOf: Required<ThresholdOptions>): void {
    const { node } = this;
    const { geometry } = node;
    node.clear();
    setThresholds(node, limitsOf);
    const entries = new Kept(geometry.bucketStride);
    const events = new Kept(16);
    const cache = this.cache({ thresholds: limitsOf, entries, events });
    let tooLong = 0;
    for (const each of packets) {
      node.clock.time += each.waitUs;
      const { plain, frame } = frameWith(each);
      const out = node.process(frame);
      const at = (port: number): Uint8Array[] => out.filter((sent) => sent.port === port).map((sent) => sent.frame);
      expect(at(OUT).map(hex)).toEqual([hex(plain)]);
      // What the sink looks at: the packet with the sink's own metadata, if there is room for it.
      const own = { ...ownMetadata(node.clock.time), egressUtilization: null };
      const [record] = this.#decoder.decode(transit(frame, LOCATE, own).packet);
      expect(record?.status).toBe('ok');
      // The telemetry report is sent as int.p4 sends it.
      const reports = at(REPORTS).flatMap((report) => this.#decoder.decode(report));
      expect(reports.map(({ flow, hops }) => ({ flow, hops }))).toEqual([{ flow: record!.flow, hops: record!.hops }]);
      if (record!.hops.length > 8) tooLong++;
      else cache.observe(record!, BigInt(node.clock.time) * 1000n);

      const sent = at(ENTRIES).map((bytes) => readExport(bytes, geometry));
      expect(sent.flatMap(({ records }) => records)).toEqual(entries.take());
      const raised = at(EVENTS).map((bytes) => readExport(bytes, geometry));
      expect(raised.flatMap(({ records }) => records)).toEqual(events.take());
      for (const { nodeId } of [...sent, ...raised]) expect(nodeId).toBe(SINK_ID);
    }
    this.#compare(cache, tooLong);
  }

  #compare(cache: FlowCache, tooLong: number): void {
    const { node } = this;
    const { rows, buckets, rowsAt, rowStride, bucketsAt, bucketStride } = node.geometry;
    for (let row = 0; row < rows; row++) {
      const tags = rowsAt + row * rowStride;
      const ranks = new Uint8Array(cache.words.buffer, cache.words.byteOffset + 4 * (tags + buckets), buckets);
      for (let bucket = 0; bucket < buckets; bucket++) {
        const cell = row * buckets + bucket;
        expect(node.tag(cell)).toBe(cache.words[tags + bucket]! >>> 0);
        if (node.tag(cell) === 0) continue;
        expect(node.rank(cell)).toBe(ranks[bucket]);
        const from = bucketsAt + cell * bucketStride;
        expect(node.entry(cell)).toEqual([...cache.words.subarray(from, from + bucketStride)]);
      }
    }
    const t = cache.totals();
    expect(node.totals()).toEqual([
      t.offered + tooLong,
      t.hits,
      t.inserted,
      t.evictedEntries,
      t.evictedPackets,
      t.retiredEntries,
      t.retiredPackets,
      t.hopsBeyond,
      t.pathChanges,
      t.events,
      tooLong,
      0,
      0,
      0,
      0,
      0,
    ]);
    this.seen.events += t.events;
    this.seen.evicted += t.evictedEntries;
    this.seen.pathChanges += t.pathChanges;
    this.seen.hopsBeyond += t.hopsBeyond;
    this.seen.notOk += tooLong;
    this.seen.hits += t.hits;
  }
}

/** A packet of a flow with node ids 1, 2, .. and these latencies. */
function plainPacket(flow: number, latencies: readonly number[], instructions = 0xa000): Packet {
  const hops = latencies.map((hopLatency, position) => ({ nodeId: position + 1, hopLatency }));
  return { flow, encapsulation: 'new-udp', instructions, hops, roomForSink: false, waitUs: 1 };
}

const NEVER_AN_EVENT: Required<ThresholdOptions> = {
  metrics: { hopLatency: {}, queueOccupancy: {}, egressUtilization: {} },
  endToEnd: {},
  pathChange: false,
};

const SIZES = [
  { rows: 3, buckets: 2, hops: 3 },
  { rows: 1, buckets: 4, hops: 5 },
  { rows: 2, buckets: 1, hops: 1 },
] as const;

describe.each(SIZES)('flowcache.p4 and @int/flowcache, $rows rows of $buckets buckets, $hops hops', (size) => {
  let pair: Pair;
  beforeAll(() => {
    pair = new Pair(size);
  }, 60_000);

  test('agree on every entry, eviction and event', () => {
    fc.assert(
      fc.property(fc.array(packet(14), { minLength: 1, maxLength: 40 }), thresholds, (packets, limitsOf) => {
        pair.check(packets, limitsOf);
      }),
      { seed: SEED, numRuns: RUNS },
    );
    for (const [name, count] of Object.entries(pair.seen)) expect([name, count > 0]).toEqual([name, true]);
  }, 60_000);
});

describe('flowcache.p4', () => {
  const size = { rows: 1, buckets: 2, hops: 3 };
  let pair: Pair;
  let node: FlowCacheSwitch;
  const send = (each: Packet): { port: number; frame: Uint8Array }[] => node.process(frameWith(each).frame);
  const of = (port: number, out: readonly { port: number; frame: Uint8Array }[]) =>
    out.filter((sent) => sent.port === port).map((sent) => readExport(sent.frame, node.geometry));

  beforeAll(() => {
    pair = new Pair(size);
    node = pair.node;
  }, 60_000);

  test('hands on the flow updated least recently, and hosts read its entry', () => {
    node.clear();
    setThresholds(node, NEVER_AN_EVENT);
    node.clock.time = 1000;
    expect(of(ENTRIES, send(plainPacket(0, [10, 20])))).toEqual([]);
    node.clock.time = 2000;
    expect(of(ENTRIES, send(plainPacket(1, [11, 21])))).toEqual([]);
    node.clock.time = 3000;
    expect(of(ENTRIES, send(plainPacket(0, [30, 40])))).toEqual([]);
    const [evicted] = of(ENTRIES, send(plainPacket(3, [12, 22])));
    const first = new EntryReader(node.geometry).read(Int32Array.from(evicted!.records[0]!), 0);
    expect(first).toMatchObject({
      reason: 'evicted',
      packets: 1,
      path: [1, 2],
      firstNs: 2_000_000n,
      lastNs: 2_000_000n,
    });
    const [next] = of(ENTRIES, send(plainPacket(1, [1, 1])));
    const second = new EntryReader(node.geometry).read(Int32Array.from(next!.records[0]!), 0);
    expect(second).toMatchObject({ reason: 'evicted', packets: 2, firstNs: 1_000_000n, lastNs: 3_000_000n });
    expect(second.hops[1]?.metrics.hopLatency).toEqual({ last: 40, mean: 30, count: 2, sum: 60n });
    expect(second.endToEnd).toEqual({ last: 70, mean: 50, count: 2, sum: 100n });
    expect(next!.sequence).toBe(evicted!.sequence + 1);
  });

  test('sends events, which hosts read', () => {
    node.clear();
    const limit = { level: 100, change: 50 };
    setThresholds(node, {
      ...NEVER_AN_EVENT,
      metrics: { ...NEVER_AN_EVENT.metrics, hopLatency: limit },
      pathChange: true,
    });
    node.clock.time = 7;
    expect(of(EVENTS, send(plainPacket(2, [10, 90])))).toEqual([]);
    const sent = of(EVENTS, send(plainPacket(2, [101, 30, 5])));
    const events = sent
      .flatMap(({ records }) => records)
      .map((words) => readFlowEvent(Int32Array.from(words), 0, METRICS));
    expect(events.map(({ kinds, hop, nodeId, value, previous }) => ({ kinds, hop, nodeId, value, previous }))).toEqual([
      { kinds: ['threshold', 'change'], hop: 0, nodeId: 1, value: 101, previous: 10 },
      { kinds: ['change'], hop: 1, nodeId: 2, value: 30, previous: 90 },
      { kinds: ['pathChange'], hop: null, nodeId: null, value: 3, previous: 2 },
    ]);
    expect(events[0]).toMatchObject({ timeNs: 7000n, threshold: 100, flow: { source: '2001:db8::', protocol: 17 } });
  });

  test('an entry whose packet count is full is retired, and the flow begins anew', () => {
    node.clear();
    setThresholds(node, NEVER_AN_EVENT);
    send(plainPacket(0, [10]));
    node.machine.register('FlowCache.packets').write(0, 0xffff_ffff);
    const [retired] = of(ENTRIES, send(plainPacket(0, [20])));
    const entry = new EntryReader(node.geometry).read(Int32Array.from(retired!.records[0]!), 0);
    expect(entry).toMatchObject({ reason: 'retired', packets: 0xffff_ffff });
    expect(new EntryReader(node.geometry).read(Int32Array.from(node.entry(0)), 0)).toMatchObject({
      packets: 1,
      endToEnd: { last: 20, count: 1 },
    });
    expect(node.totals().slice(0, 7)).toEqual([2, 0, 2, 0, 0, 1, 0xffff_ffff]);
  });

  test('a packet whose hops are too many or contradict the bitmap is counted and forwarded', () => {
    node.clear();
    const long = plainPacket(0, Array<number>(9).fill(1));
    expect(send(long).map(({ port }) => port)).toContain(OUT);
    const { frame } = frameWith({ ...plainPacket(0, [1]), encapsulation: 'port' });
    // The INT header's bitmap, behind Ethernet, IPv4, UDP and the shim: four items where a hop has two words.
    frame[14 + 20 + 8 + 4 + 4] = 0xf0;
    expect(node.process(frame).map(({ port }) => port)).toContain(OUT);
    expect(node.totals().filter(Boolean)).toEqual([2, 2]);
    expect(node.tag(0)).toBe(0);
  });

  test('without sessions nothing is sent, and all is counted', () => {
    node.clear();
    setThresholds(node, { ...NEVER_AN_EVENT, endToEnd: { level: 0 } });
    run(node.machine, [
      'table_set_default FlowCache.exports FlowCache.set_sessions 0 0',
      'table_set_default IntEgress.reports IntEgress.set_session 0',
    ]);
    for (const flow of [0, 1, 3]) expect(send(plainPacket(flow, [9])).map(({ port }) => port)).toEqual([OUT]);
    expect(node.totals().slice(0, 10)).toEqual([3, 0, 3, 1, 1, 0, 0, 0, 0, 3]);
    // Nor does a report have to go before them.
    run(node.machine, ['table_set_default FlowCache.exports FlowCache.set_sessions 98 99']);
    expect(
      send(plainPacket(0, [9]))
        .map(({ port }) => port)
        .sort(),
    ).toEqual([OUT, ENTRIES, EVENTS]);
    run(node.machine, ['table_set_default IntEgress.reports IntEgress.set_session 97']);
  });

  test('the commands for a sink work, with the dimensions that are the default', () => {
    const machine = createSwitch(loadProgram(programPath('flowcache')), undefinedOptions());
    const commands = readFileSync(commandsPath('flowcache', 'sink'), 'utf8').split('\n');
    run(
      machine,
      commands.filter((line) => /^[a-z]/.test(line)),
    );
    const { plain, frame } = frameWith(plainPacket(0, [2000, 10]));
    const out = machine.process(1, frame).map((sent) => ({ port: sent.port, frame: sent.frame.slice() }));
    expect(out.map(({ port }) => port).sort()).toEqual([OUT, EVENTS]);
    expect(out.filter(({ port }) => port === OUT).map((sent) => hex(sent.frame))).toEqual([hex(plain)]);
    expect(Number(machine.register('FlowCache.total').cells[0])).toBe(1);
    expect(machine.register('FlowCache.node_id').cells.length).toBe(1024 * 4 * 5);
  }, 30_000);
});
