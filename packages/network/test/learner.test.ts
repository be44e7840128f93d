import { frame } from '@int/arbitraries';
import {
  BatchDecoder,
  decodeFrame,
  encodeReport,
  type Hop,
  TelemetryBatch,
  type TelemetryRecord,
  telemetry,
} from '@int/codec';
import { Topology, TopologyLearner, type TopologySpec } from '@int/network';
import { encodePacket, type Topology as Fabric, parseTopology, TrafficGenerator } from '@int/traffic';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { runs } from '../../../.ci/test/length.js';
import { plainTopology } from './plain-learner.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const DEFAULTS = { switches: 4096, ports: 65_536, links: 65_536 } as const;

function framesOf(all: readonly Uint8Array[]) {
  const bytes = new Uint8Array(all.reduce((sum, { length }) => sum + length, 0));
  const offsets = new Uint32Array(all.length);
  const lengths = Uint32Array.from(all, ({ length }) => length);
  let at = 0;
  for (const [row, one] of all.entries()) {
    offsets[row] = at;
    bytes.set(one, at);
    at += one.length;
  }
  return { bytes, offsets, lengths };
}

function learn(learner: TopologyLearner, all: readonly Uint8Array[], linkType: 'ethernet' | 'report'): void {
  const batch = new TelemetryBatch({ frames: 64, reports: 512, hops: 4096 });
  const decoder = new BatchDecoder({ linkType });
  const frames = framesOf(all);
  for (let next = 0; next < all.length; ) {
    batch.clear();
    next = decoder.decode(batch, frames, next);
    learner.learn(batch);
  }
}

/** Few switches and ports, so that the same links come again, and others contradict them. */
const smallHop: fc.Arbitrary<Hop> = fc.record({
  nodeId: fc.constantFrom(1, 2, 3, 4, 0xfffffffe, null),
  l1IngressInterface: fc.constantFrom(1, 2, 0xffff),
  l1EgressInterface: fc.constantFrom(1, 2, 3),
  hopLatency: fc.constant(5),
});
const word = fc.constantFrom('10.0.0.1', '10.0.0.9', '10.0.3.1', '192.0.2.1');
const smallRecord: fc.Arbitrary<TelemetryRecord> = fc
  .record({
    hops: fc.array(smallHop, { maxLength: 5 }),
    hasPorts: fc.boolean(),
    source: word,
    destination: word,
    reporter: fc.constantFrom(1, 2, 9),
    own: fc.constantFrom<Hop>({}, { l1IngressInterface: 1, l1EgressInterface: 2 }, { hopLatency: 3 }),
    hopExceeded: fc.boolean(),
    intermediate: fc.boolean(),
  })
  .map(({ hops, hasPorts, source, destination, reporter, own, hopExceeded, intermediate }) =>
    telemetry({
      flow: { source, destination, sourcePort: 1, destinationPort: 2 },
      hops: hasPorts ? hops : hops.map(({ nodeId, hopLatency }) => ({ nodeId: nodeId!, hopLatency: hopLatency! })),
      ...(hops.length > 0 && { int: { hopExceeded } }),
      report: { nodeId: reporter, sequence: 0, hwId: 0, metadata: own, intermediate },
    }),
  );

const limits = fc.constantFrom(DEFAULTS, { switches: 3, ports: 4, links: 2 }, { switches: 1, ports: 1, links: 1 });

describe('TopologyLearner', () => {
  test('learns the same from columns, from records, and as a plain implementation does', () => {
    let linked = 0;
    fc.assert(
      fc.property(fc.array(smallRecord, { minLength: 1, maxLength: 24, size: 'max' }), limits, (records, most) => {
        const payloads = records.map((record) => encodeReport(record));
        const decoded = payloads.flatMap((bytes) => decodeFrame(bytes, { linkType: 'report' }));
        const [byColumns, byRecords] = [new TopologyLearner(most), new TopologyLearner(most)];
        learn(byColumns, payloads, 'report');
        for (const record of decoded) byRecords.learnRecord(record);
        const plain = plainTopology(decoded, most);
        expect(byColumns.topology()).toEqual(plain);
        expect(byRecords.topology()).toEqual(plain);
        linked += plain.switches.reduce(
          (sum, { ports }) => sum + ports.filter(({ peers }) => peers.length > 1).length,
          0,
        );
        // What was learnt is always a topology.
        const topology = new Topology(byColumns.spec());
        expect([...topology.switches.keys()].sort()).toEqual(plain.switches.map(({ id }) => id).sort());
      }),
      { seed: SEED, numRuns: runs(4000) },
    );
    expect(linked, 'ports with contradicting evidence').toBeGreaterThan(10);
  });

  test('learns the same from columns and from records of all versions', () => {
    fc.assert(
      fc.property(fc.array(frame({ options: {} }), { minLength: 1, maxLength: 6 }), (frames) => {
        const bytes = frames.map((each) => each.bytes);
        const records = bytes.flatMap((each) => decodeFrame(each));
        const [byColumns, byRecords] = [new TopologyLearner(), new TopologyLearner()];
        learn(byColumns, bytes, 'ethernet');
        for (const record of records) byRecords.learnRecord(record);
        expect(byColumns.topology()).toEqual(plainTopology(records, DEFAULTS));
        expect(byRecords.topology()).toEqual(byColumns.topology());
      }),
      { seed: SEED, numRuns: runs(2000) },
    );
  });

  test('does not depend on the order of the reports', () => {
    fc.assert(
      fc.property(fc.array(smallRecord, { minLength: 2, maxLength: 12 }), (records) => {
        const [forth, back] = [new TopologyLearner(), new TopologyLearner()];
        for (const record of records) forth.learnRecord(record);
        for (const record of [...records].reverse()) back.learnRecord(record);
        expect(back.topology()).toEqual(forth.topology());
      }),
      { seed: SEED, numRuns: runs(1000) },
    );
  });

  /** Links and ports of a fabric, as far as packets went over them. */
  function fabricSpec(fabric: Fabric): { readonly links: Set<string>; readonly hosts: Map<string, string> } {
    const links = new Set<string>();
    const hosts = new Map<string, string>();
    for (const [index, { id, ports }] of fabric.switches.entries()) {
      for (let port = 1; port <= ports; port++) {
        const peer = fabric.peer(index, port);
        if (peer.kind === 'host') hosts.set(`${id}:${port}`, fabric.host(peer.host).address);
        else links.add(`${id}:${port} ${fabric.switches[peer.switchIndex]!.id}:${peer.port}`);
      }
    }
    return { links, hosts };
  }

  test.each(['leaf-spine:4x3', 'fat-tree:4'])('learns the fabric %s, all of it', (name) => {
    const fabric = parseTopology(name);
    const learner = new TopologyLearner();
    const generator = new TrafficGenerator({ topology: name, flows: 2000, zipfExponent: 0, seed: SEED });
    const packets = [...generator.take(3000)].map((packet) => encodePacket(packet));
    learn(learner, packets, 'ethernet');
    const { links, hosts } = fabricSpec(fabric);
    const { switches, untracked } = learner.topology();
    const learnt = new Set<string>();
    const learntHosts = new Map<string, string>();
    for (const { id, ports, links: portless } of switches) {
      expect(portless).toEqual([]);
      for (const { number, peers, hosts: prefix } of ports) {
        expect(peers.length).toBeLessThanOrEqual(1);
        for (const peer of peers) learnt.add(`${id}:${number} ${peer.switchId}:${peer.port}`);
        if (prefix !== null) learntHosts.set(`${id}:${number}`, prefix);
      }
    }
    expect(switches.map(({ id }) => id)).toEqual(fabric.switches.map(({ id }) => id));
    expect([...learnt].sort()).toEqual([...links].sort());
    // One host is on each port of an edge switch.
    expect(learntHosts).toEqual(hosts);
    expect(untracked).toEqual({ switches: 0, ports: 0, links: 0 });
    const topology = new Topology(learner.spec());
    for (const [index, { id, ports }] of fabric.switches.entries()) {
      for (let port = 1; port <= ports; port++) {
        const peer = fabric.peer(index, port);
        const expected =
          peer.kind === 'host'
            ? null
            : { kind: 'switch', switchId: fabric.switches[peer.switchIndex]!.id, port: peer.port };
        expect(topology.peer(id, port)).toEqual(expected);
      }
    }
  });

  test('marks a port with two peers, and takes the likelier one', () => {
    const learner = new TopologyLearner();
    const hop = (nodeId: number, l1IngressInterface: number, l1EgressInterface: number): Hop => ({
      nodeId,
      l1IngressInterface,
      l1EgressInterface,
    });
    const path = (...hops: Hop[]): TelemetryRecord => telemetry({ hops, report: { nodeId: hops.at(-1)!.nodeId! } });
    learner.learnRecord(path(hop(1, 1, 9), hop(2, 4, 1)));
    learner.learnRecord(path(hop(1, 1, 9), hop(2, 4, 1)));
    learner.learnRecord(path(hop(1, 1, 9), hop(3, 7, 1)));
    // Back by the same cable.
    learner.learnRecord(path(hop(2, 1, 4), hop(1, 9, 1)));
    const [one] = learner.topology().switches;
    expect(one!.ports.find(({ number }) => number === 9)).toEqual({
      number: 9,
      ingress: 1,
      egress: 3,
      peers: [
        { switchId: 2, port: 4, packets: 3 },
        { switchId: 3, port: 7, packets: 1 },
      ],
      hosts: null,
    });
    const spec: TopologySpec = learner.spec();
    expect(spec.switches?.[1]?.ports?.[9]).toEqual({ to: '2:4' });
    expect(spec.switches?.[3]?.ports?.[7]).toEqual({ to: '1:9' });
  });

  test('refuses limits that it cannot keep', () => {
    expect(() => new TopologyLearner({ switches: 0 })).toThrow(RangeError);
    expect(() => new TopologyLearner({ links: 2 ** 20 + 1 })).toThrow(RangeError);
  });
});
