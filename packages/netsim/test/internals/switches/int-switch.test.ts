import { ipv4HeaderChecksum } from '@int/codec/internals';
import { IntSwitch, udpFrame } from '@int/netsim';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { DROP_REASON } from '../../../src/switches/report-writer.js';
import { SEED } from '../../seed.js';
import { type Line, type LineOptions, lineOf, MONITOR, RECEIVER, SENDER } from '../../switches/int-line.js';

function datagram(payload: Uint8Array, more: { ttl?: number; destination?: number; port?: number } = {}): Uint8Array {
  const { ttl = 64, destination = RECEIVER, port = 7000 } = more;
  const ports = { sourcePort: 5555, destinationPort: port };
  return udpFrame({ source: SENDER, destination, ...ports, ttl, checksum: true }, payload);
}

/** Sends frames at once and lets the network run. */
function send(line: Line, ...frames: Uint8Array[]): Line {
  for (const frame of frames) line.sender.sendFrame(frame);
  line.network.run(line.network.nowNs + 1e9);
  return line;
}

/** What a router makes of a frame. */
function routed(frame: Uint8Array, hops: number): Uint8Array {
  const out = frame.slice();
  out[22] = out[22]! - hops;
  out[24] = 0;
  out[25] = 0;
  const checksum = ipv4HeaderChecksum(out, 14);
  out[24] = checksum >>> 8;
  out[25] = checksum;
  return out;
}

const one = (options: LineOptions, ...frames: Uint8Array[]): Line => send(lineOf(options), ...frames);

describe('a line of switches', () => {
  it('delivers watched packets as a router does, and reports the way of each', () => {
    const line = fc.record({
      switches: fc.integer({ min: 1, max: 7 }),
      payload: fc.uint8Array({ maxLength: 300 }),
      instructions: fc.constantFrom(0x8000, 0xc000, 0xf000, 0xfc00, 0xfd80),
    });
    fc.assert(
      fc.property(line, ({ switches, payload, instructions }) => {
        const frame = datagram(payload);
        const { got, records } = one({ switches, watch: { int: { instructions } } }, frame);
        expect(got.map((each) => each.frame)).toEqual([routed(frame, switches)]);
        const path = Array.from({ length: switches }, (_, index) => index + 1);
        expect(records).toHaveLength(1);
        const [record] = records;
        expect(record).toMatchObject({
          status: 'ok',
          path,
          report: { type: 'int-md', nodeId: switches, dropped: false },
        });
        expect(record!.flow).toMatchObject({ sourcePort: 5555, destinationPort: 7000, protocol: 17 });
        expect(record!.hops.map((hop) => hop.nodeId)).toEqual(path);
        if ((instructions & 0x4000) !== 0) {
          const ports = record!.hops.map((hop) => [hop.l1IngressInterface, hop.l1EgressInterface]);
          expect(ports).toEqual(path.map(() => [1, 2]));
        }
        // Not measured here.
        if ((instructions & 0x0100) !== 0) expect(record!.hops[0]!.egressUtilization).toBeNull();
      }),
      { seed: SEED, numRuns: 60 },
    );
  });

  it('sets the E bit where more switches follow than may push', () => {
    const { records, got } = one(
      { switches: 5, watch: { int: { instructions: 0x8000, maxHops: 3 } } },
      datagram(new Uint8Array(9)),
    );
    expect(records[0]).toMatchObject({ int: { hopExceeded: true, remainingHopCount: 0 } });
    expect(records[0]!.path).toEqual([1, 2, 3, 5]);
    expect(got).toHaveLength(1);
  });

  it('passes on what it does not watch, and reports nothing of it', () => {
    const frame = datagram(new Uint8Array(20));
    const { got, records, switches } = one({ switches: 3, watch: { match: { destinationPort: 1 } } }, frame);
    expect(got[0]!.frame).toEqual(routed(frame, 3));
    expect(records).toEqual([]);
    expect(switches.map(({ started, pushed, stripped }) => started + pushed + stripped)).toEqual([0, 0, 0]);
  });

  it('tells latencies that add up to the time a packet took', () => {
    const rateBps = 8e6;
    const delayNs = 12_345;
    const count = 12;
    const line = lineOf({
      switches: 4,
      watch: { int: { instructions: 0xfc00 } },
      link: { rateBps, delayNs, queuePackets: 100 },
    });
    const frames = Array.from({ length: count }, (_, index) => datagram(new Uint8Array(10 * index + 10)));
    const sent: number[] = [];
    // Faster than the first link: its queue grows.
    for (const [index, frame] of frames.entries()) {
      line.network.at(index * 20_000, () => {
        sent.push(line.network.nowNs);
        line.sender.sendFrame(frame);
      });
    }
    line.network.run(1e9);
    expect(line.records).toHaveLength(count);
    for (const [index, record] of line.records.entries()) {
      const { hops } = record;
      // 1 us a byte: the frame with shim, header, and the blocks pushed so far (32 bytes each).
      const onWires = [1, 2, 3].reduce(
        (sum, blocks) => sum + (frames[index]!.length + 16 + 32 * blocks) * 1000 + delayNs,
        0,
      );
      const waits = hops.reduce((sum, hop) => sum + hop.hopLatency!, 0);
      expect(line.got[index]!.timeNs - sent[index]!).toBe(onWires + waits);
      for (const hop of hops) expect(hop.egressTimestamp! - hop.ingressTimestamp!).toBe(BigInt(hop.hopLatency!));
      expect(hops[0]!.ingressTimestamp).toBe(BigInt(sent[index]!));
    }
    // The first packet finds an idle link; the second waits behind it; later ones find packets that wait.
    const occupancies = line.records.map(({ hops }) => hops[0]!.queueOccupancy);
    expect(occupancies.slice(0, 3)).toEqual([0, 0, 1]);
    expect(Math.max(...occupancies.map(Number))).toBeGreaterThan(3);
    expect(line.records.every(({ hops }) => hops[0]!.queueId === 2)).toBe(true);
  });

  it('marks reports of packets that met a queue as long as told', () => {
    const line = lineOf({ switches: 1, each: { congestedPackets: 2 }, link: { queuePackets: 10 } });
    line.links[0]!.configure({ rateBps: 1e6, queuePackets: 10 });
    send(line, ...Array.from({ length: 6 }, () => datagram(new Uint8Array(10))));
    const flags = line.records.map(({ report, hops }) => [report!.queueCongested, hops[0]!.queueOccupancy]);
    expect(flags).toEqual([0, 0, 1, 2, 3, 4].map((queued) => [queued >= 2, queued]));
  });
});

describe('packets that are dropped', () => {
  it('are reported with the way they came when the time to live is used up', () => {
    const { got, records, switches } = one({ switches: 5 }, datagram(new Uint8Array(8), { ttl: 3 }));
    expect(got).toEqual([]);
    expect(switches.map(({ expired }) => expired)).toEqual([0, 0, 1, 0, 0]);
    expect(records).toHaveLength(1);
    expect(records[0]).toMatchObject({
      path: [1, 2, 3],
      report: { nodeId: 3, dropped: true, dropReason: DROP_REASON.TTL, metadata: { l1IngressInterface: 1 } },
      flow: { destinationPort: 7000 },
    });
  });

  it('are reported when there is no route, also at the first switch', () => {
    const frame = datagram(new Uint8Array(8), { destination: 0x0a01_0099 });
    const { records, switches } = one({ switches: 2 }, frame);
    expect(switches[0]!.unroutable).toBe(1);
    expect(records[0]).toMatchObject({ path: [1], report: { dropped: true, dropReason: DROP_REASON.NO_ROUTE } });
  });

  it('are not reported when nobody watches them', () => {
    const options: LineOptions = { switches: 3, watch: { match: { protocol: 6 } } };
    const { records, switches } = one(
      options,
      datagram(new Uint8Array(8), { ttl: 2 }),
      datagram(new Uint8Array(8), { ttl: 1 }),
    );
    expect(switches.map(({ expired }) => expired)).toEqual([1, 1, 0]);
    expect(records).toEqual([]);
  });

  it('vanish where a switch discards them, without a report', () => {
    const line = lineOf({ switches: 3 });
    line.switches[1]!.discards = [{ source: { address: SENDER }, sourcePort: 5555 }];
    send(line, datagram(new Uint8Array(8)));
    expect(line.got).toEqual([]);
    expect(line.records).toEqual([]);
    expect(line.switches[1]!.discarded).toBe(1);
  });

  it('go round a loop until their time to live is used up, and the report shows it', () => {
    const line = lineOf({ switches: 3, watch: { int: { instructions: 0x8000, maxHops: 6 } } });
    line.switches[2]!.steering = [{ match: { destination: { address: RECEIVER, bits: 24 } }, port: 1 }];
    send(line, datagram(new Uint8Array(8), { ttl: 20 }));
    expect(line.records).toHaveLength(1);
    expect(line.records[0]).toMatchObject({ report: { dropped: true }, int: { hopExceeded: true } });
    expect(line.records[0]!.path.slice(0, 6)).toEqual([1, 2, 3, 2, 3, 2]);
  });
});

describe('reports', () => {
  it('have sequence numbers of each hardware id, which wrap at 22 bits and begin again after a failure', () => {
    const line = lineOf({ switches: 1, each: { firstSequence: 0x3f_fffe, pipes: 2 } });
    const frames = Array.from({ length: 4 }, () => datagram(new Uint8Array(4)));
    send(line, ...frames);
    const numbers = (): number[] => line.records.splice(0).map(({ report }) => report!.sequence);
    expect(line.records.map(({ report }) => report!.hwId)).toEqual([1, 1, 1, 1]);
    expect(numbers()).toEqual([0x3f_fffe, 0x3f_ffff, 0, 1]);
    line.nodes[0]!.fail();
    line.nodes[0]!.repair();
    send(line, ...frames.slice(2));
    expect(numbers()).toEqual([0x3f_fffe, 0x3f_ffff]);
  });

  it('carry as much of a packet as INT needs, and packets of any length pass', () => {
    const lengths = [1000, 8000, 65_400, 65_507];
    const frames = lengths.map((length) => datagram(new Uint8Array(length)));
    const { records, got } = one({ switches: 3, watch: { postcardOneIn: 1 } }, ...frames);
    expect(got.map(({ frame }) => frame.length)).toEqual(frames.map(({ length }) => length));
    // The largest has no room for INT: it has a postcard alone.
    expect(records.map(({ status, path }) => [status, path.length])).toEqual([
      ...lengths.map(() => ['ok', 1]),
      ...lengths.slice(1).map(() => ['ok', 3]),
    ]);
    expect(new Set(records.map(({ flow }) => flow!.sourcePort))).toEqual(new Set([5555]));
  });

  it('come as postcards of the source for one packet in so many', () => {
    const frames = Array.from({ length: 400 }, () => datagram(new Uint8Array(4)));
    const line = one({ switches: 2, watch: { postcardOneIn: 4 }, seed: SEED }, ...frames);
    const cards = line.records.filter(({ report }) => report!.type === 'int-xd');
    expect(line.records.length - cards.length).toBe(400);
    expect(cards).toHaveLength(line.switches[0]!.postcards);
    // Four standard deviations.
    expect(Math.abs(cards.length - 100)).toBeLessThan(35);
    expect(cards[0]).toMatchObject({
      path: [1],
      hops: [],
      report: {
        nodeId: 1,
        metadata: { l1IngressInterface: 1, l1EgressInterface: 2, hopLatency: 0, queueId: 2, queueOccupancy: 0 },
      },
      flow: { sourcePort: 5555, destinationPort: 7000 },
    });
  });

  it('are sent by the routes where the monitor has no port of its own', () => {
    const { network, sender, switches, records } = lineOf({ switches: 2 });
    const far = new IntSwitch({
      nodeId: 9,
      address: 1,
      monitorAddress: MONITOR,
      edgePorts: [1],
      watchlist: switches[0]!.watchlist,
    });
    far.routes.set(RECEIVER, 2);
    far.routes.set(MONITOR, 3);
    const node = network.add('far', far);
    const frames: Uint8Array[] = [];
    network.connect(node, network.add('there', { receive: (frame) => void frames.push(frame) }), { aPort: 3 });
    network.connect(node, network.nodes[0]!, { aPort: 2, bPort: 5 });
    node.accept(datagram(new Uint8Array(4), { ttl: 1 }), 1);
    network.run(1e9);
    expect(frames).toHaveLength(1);
    expect(sender.sent + records.length).toBe(0);
  });
});

describe('packets that are not sound', () => {
  it('are passed on or dropped, whatever they are', () => {
    const bytes = fc.uint8Array({ maxLength: 120 });
    const atIntPort = bytes.map((payload) => datagram(payload, { port: 5000 }));
    fc.assert(
      fc.property(fc.array(fc.oneof(bytes, atIntPort), { maxLength: 5 }), (frames) => {
        const line = lineOf({ switches: 3, watch: { match: { destinationPort: 7000 } } });
        for (const frame of frames) for (const node of line.nodes) node.accept(frame, 1);
        line.network.run(1e9);
        const arrived = line.nodes.reduce((sum, node) => sum + node.arrived, 0);
        const ended = line.switches.reduce((sum, each) => sum + each.forwarded + each.unroutable + each.expired, 0);
        expect(ended).toBe(arrived);
      }),
      { seed: SEED, numRuns: 200 },
    );
  });

  it('are counted where INT in them is cut', () => {
    const line = lineOf({ switches: 2, watch: { match: { destinationPort: 7000 } } });
    const frame = datagram(Uint8Array.of(0x14, 0xff, 0, 0, 0x20, 0, 0, 0), { port: 5000 });
    line.nodes[1]!.accept(frame, 1);
    line.network.run(1e9);
    expect(line.switches[1]!.unsound).toBe(1);
    expect(line.got[0]!.frame).toEqual(routed(frame, 1));
  });
});

describe('options', () => {
  const base = { nodeId: 1, address: 1, monitorAddress: 2 };
  it.each([
    [{ nodeId: -1 }, 'nodeId'],
    [{ pipes: 65 }, 'pipes'],
    [{ firstSequence: 0x40_0000 }, 'firstSequence'],
    [{ reportPort: 65_536 }, 'reportPort'],
    [{ monitorPort: -1 }, 'monitorPort'],
    [{ reportedBytes: 63 }, 'reportedBytes'],
    [{ watchlist: [{ match: {}, int: { instructions: 0x1_0000 } }] }, 'instructions'],
    [{ watchlist: [{ match: {}, int: { instructions: 0 }, postcardOneIn: 1.5 }] }, 'postcardOneIn'],
    [{ watchlist: [{ match: { source: { address: 0, bits: 33 } }, int: { instructions: 0 } }] }, 'bits'],
  ])('out of range are refused: %j', (wrong, name) => {
    expect(() => new IntSwitch({ ...base, ...wrong })).toThrow(RangeError);
    expect(() => new IntSwitch({ ...base, ...wrong })).toThrow(name);
  });
});
