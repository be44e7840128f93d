import { describe, expect, it } from 'vitest';
import { INSTANCE, type InFlightPacket } from '../../../src/switch/in-flight.js';
import { bench, type Live } from './double.js';

const to = (port: number) => (live: Live) => {
  live.standard.egress_spec = port;
};

describe('a unicast packet', () => {
  it('leaves by the port that ingress chose, with its payload', () => {
    const { send } = bench({ ingress: to(3) });
    expect(send(1, '0102030405')).toEqual(['3 0102030405']);
  });

  it('goes to port 0 if ingress chose none', () => {
    expect(bench({}).send(5, '0102')).toEqual(['0 0102']);
  });

  it('is dropped by port 511 at the end of ingress and at the end of egress', () => {
    const atIngress = bench({ ingress: to(511) });
    expect(atIngress.send(1, '0102')).toEqual([]);
    expect(atIngress.path.statistics.dropped.ingress).toBe(1);
    const atEgress = bench({ ingress: to(2), egress: to(511) });
    expect(atEgress.send(1, '0102')).toEqual([]);
    expect(atEgress.path.statistics.dropped.egress).toBe(1);
  });

  it('sees its standard metadata as simple_switch fills it', () => {
    const seen: Record<string, unknown>[] = [];
    const { send, path } = bench(
      {
        ingress: (live) => {
          seen.push({ ...live.standard });
          live.standard.egress_spec = 7;
        },
        egress: (live) => seen.push({ ...live.standard }),
      },
      { clock: { nowUs: () => 1234 } },
    );
    send(4, '010203');
    expect(seen[0]).toMatchObject({
      ingress_port: 4,
      packet_length: 3,
      ingress_global_timestamp: 1234n,
      egress_spec: 0,
    });
    expect(seen[1]).toMatchObject({
      ingress_port: 4,
      egress_port: 7,
      egress_spec: 0,
      packet_length: 3,
      enq_timestamp: 1234,
      egress_global_timestamp: 1234n,
      deq_timedelta: 0,
      enq_qdepth: 0,
      deq_qdepth: 0,
    });
    expect(path.statistics).toMatchObject({ received: 1, receivedBytes: 3, transmitted: 1, transmittedBytes: 3 });
  });

  it('shows egress the length that setValid and setInvalid gave it in ingress, not what the parser took', () => {
    const lengths: number[] = [];
    const { send } = bench({
      ingress: (live) => {
        live.isValid = false;
        live.runtime.requests.lengthChange -= 16;
        live.standard.egress_spec = 1;
      },
      egress: (live) => lengths.push(live.standard.packet_length, live.runtime.packetLength),
    });
    expect(send(0, '01020304')).toEqual(['1 0304']);
    expect(lengths).toEqual([2, 4]);
  });

  it('goes on to ingress after a parser error', () => {
    const { send, path } = bench({ ingress: to(2) });
    expect(send(0, '01')).toEqual(['2 01']);
    expect(path.statistics.parserErrors).toBe(1);
  });

  it('is dropped if its priority has no queue', () => {
    const stages = {
      ingress: (live: Live) => {
        live.standard.egress_spec = 1;
        live.standard.priority = 1;
      },
    };
    const one = bench(stages);
    expect(one.send(0, '0102')).toEqual([]);
    expect(one.path.statistics.dropped.priority).toBe(1);
    expect(bench(stages, { priorityQueues: 2 }).send(0, '0102')).toEqual(['1 0102']);
  });
});

describe('truncate', () => {
  it('cuts the packet, to nothing if it must be', () => {
    for (const [length, out] of [
      [4, '1 01020304'],
      [1, '1 01'],
      [0, '1 '],
      [9, '1 0102030405'],
    ] as const) {
      const { send } = bench({
        ingress: (live) => {
          live.standard.egress_spec = 1;
          live.runtime.requests.truncate = length;
        },
      });
      expect(send(0, '0102030405')).toEqual([out]);
    }
  });

  it('of ingress and egress together the shorter counts', () => {
    const { send } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 1;
        live.runtime.requests.truncate = 3;
      },
      egress: (live) => {
        live.runtime.requests.truncate = 4;
      },
    });
    expect(send(0, '0102030405')).toEqual(['1 010203']);
  });

  it('leaves checksums over the payload what is left of it', () => {
    const summed: number[] = [];
    const { send } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 1;
        live.runtime.requests.truncate = 1;
      },
      computeChecksum: (live) => summed.push(live.runtime.payloadLength),
    });
    send(0, '0102030405');
    expect(summed).toEqual([1]);
  });

  it('is lost on copies of multicast and on clones', () => {
    const { send, replication } = bench({
      ingress: (live) => {
        live.standard.mcast_grp = 1;
        live.runtime.requests.truncate = 2;
        live.runtime.requests.cloneSession = 5;
      },
    });
    replication.createGroup(1);
    replication.associateNode(1, replication.createNode(0, [2]));
    replication.setMirror(5, { port: 9 });
    expect(send(0, '010203')).toEqual(['9 010203', '2 010203']);
  });
});

describe('multicast', () => {
  it('makes a copy for each port of each node, in order, each with its replication id', () => {
    const seen: number[][] = [];
    const { send, replication, path } = bench({
      ingress: (live) => {
        live.standard.mcast_grp = 10;
        live.standard.egress_spec = 511;
        live.kept = 77;
      },
      egress: (live) => {
        const { egress_port, egress_rid, instance_type } = live.standard;
        seen.push([egress_port, egress_rid, instance_type, live.kept]);
        // Each copy has headers of its own.
        live.a += 1;
      },
    });
    replication.createGroup(10);
    replication.associateNode(10, replication.createNode(400, [6, 2]));
    replication.associateNode(10, replication.createNode(401, [3]));
    expect(send(1, '01020304')).toEqual(['2 02020304', '6 02020304', '3 02020304']);
    const type = INSTANCE.REPLICATION;
    expect(seen).toEqual([
      [2, 400, type, 77],
      [6, 400, type, 77],
      [3, 401, type, 77],
    ]);
    expect(path.statistics.multicastCopies).toBe(3);
  });

  it('to a group that does not exist sends nothing, and says so', () => {
    const { send, path } = bench({
      ingress: (live) => {
        live.standard.mcast_grp = 3;
      },
    });
    expect(send(1, '0102')).toEqual([]);
    expect(path.statistics.dropped.emptyGroup).toBe(1);
  });
});

describe('clones', () => {
  it('of ingress are the packet as received, with the listed metadata as it is at the end of ingress', () => {
    const seen: unknown[] = [];
    const { send, replication } = bench({
      ingress: (live) => {
        live.a = 0xff;
        live.kept = 5;
        live.other = 6;
        live.standard.egress_spec = 1;
        live.runtime.requests.cloneSession = 8;
        live.runtime.requests.cloneFieldList = 1;
      },
      egress: (live) => {
        const { instance_type, ingress_port, egress_port, packet_length } = live.standard;
        seen.push([instance_type, ingress_port, egress_port, packet_length, live.kept, live.other]);
      },
    });
    replication.setMirror(8, { port: 9 });
    expect(send(4, '010203')).toEqual(['9 010203', '1 ff0203']);
    expect(seen).toEqual([
      [INSTANCE.INGRESS_CLONE, 0, 9, 3, 5, 0],
      [INSTANCE.NORMAL, 4, 1, 3, 5, 6],
    ]);
  });

  it('are made though the packet itself is dropped', () => {
    const { send, replication } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 511;
        live.runtime.requests.cloneSession = 8;
      },
    });
    replication.setMirror(8, { port: 9 });
    expect(send(4, '010203')).toEqual(['9 010203']);
  });

  it('see the real port while they are parsed, and what that parse writes to metadata is gone', () => {
    const parsed: number[] = [];
    const left: number[] = [];
    const { send, replication } = bench({
      parse: (live) => {
        parsed.push(live.standard.ingress_port);
        live.kept = 99;
      },
      ingress: (live) => {
        live.standard.egress_spec = 511;
        live.runtime.requests.cloneSession = 8;
      },
      egress: (live) => left.push(live.kept),
    });
    replication.setMirror(8, { port: 9 });
    send(4, '0102');
    expect(parsed).toEqual([4, 4]);
    expect(left).toEqual([0]);
  });

  it('of a session that is not configured are not made', () => {
    const { send, path } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 1;
        live.runtime.requests.cloneSession = 8;
      },
    });
    expect(send(4, '0102')).toEqual(['1 0102']);
    expect(path.statistics.dropped.noSession).toBe(1);
  });

  it('go to the group of their session, cut to its length', () => {
    const types: number[] = [];
    const { send, replication } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 511;
        live.runtime.requests.cloneSession = 8;
      },
      egress: (live) => types.push(live.standard.instance_type, live.standard.egress_rid),
    });
    replication.createGroup(3);
    replication.associateNode(3, replication.createNode(12, [5, 6]));
    replication.setMirror(8, { group: 3, port: 7, maxBytes: 3 });
    expect(send(4, '0102030405')).toEqual(['5 010203', '6 010203', '7 010203']);
    const type = INSTANCE.INGRESS_CLONE;
    expect(types).toEqual([type, 12, type, 12, type, 0]);
  });

  it('of egress have the headers of the end of egress and go through egress again', () => {
    const seen: unknown[] = [];
    const { send, replication } = bench({
      ingress: to(1),
      egress: (live) => {
        const { instance_type, ingress_port } = live.standard;
        seen.push([instance_type, ingress_port, live.kept, live.other]);
        if (instance_type !== INSTANCE.NORMAL) return;
        live.a = 0xaa;
        live.kept = 3;
        live.other = 4;
        live.runtime.requests.cloneSession = 8;
        live.runtime.requests.cloneFieldList = 1;
      },
      computeChecksum: (live) => {
        live.b = 0xcc;
      },
    });
    replication.setMirror(8, { port: 9 });
    expect(send(4, '010203')).toEqual(['1 aacc03', '9 aacc03']);
    expect(seen).toEqual([
      [INSTANCE.NORMAL, 4, 0, 0],
      [INSTANCE.EGRESS_CLONE, 0, 3, 0],
    ]);
  });

  it('of clones without end are stopped', () => {
    const { send, replication, path } = bench(
      {
        ingress: to(1),
        egress: (live) => {
          live.runtime.requests.cloneSession = 8;
        },
      },
      { maxPasses: 3 },
    );
    replication.setMirror(8, { port: 9 });
    expect(send(4, '0102')).toHaveLength(4);
    expect(path.statistics.dropped.loop).toBe(1);
  });
});

describe('resubmission', () => {
  it('parses the packet as received again, with the listed fields, and ingress port 0', () => {
    const seen: unknown[] = [];
    const { send } = bench({
      ingress: (live) => {
        const { instance_type, ingress_port, ingress_global_timestamp, packet_length } = live.standard;
        seen.push([
          instance_type,
          ingress_port,
          ingress_global_timestamp,
          packet_length,
          live.kept,
          live.other,
          live.a,
        ]);
        if (instance_type === INSTANCE.RESUBMITTED) {
          live.standard.egress_spec = 2;
          return;
        }
        live.a = 0xff;
        live.kept = 1;
        live.other = 2;
        live.standard.egress_spec = 511;
        live.standard.mcast_grp = 1;
        live.runtime.requests.resubmit = 1;
      },
      egress: (live) => seen.push(live.standard.instance_type),
    });
    expect(send(4, '010203')).toEqual(['2 010203']);
    expect(seen).toEqual([
      [INSTANCE.NORMAL, 4, 0n, 3, 0, 0, 1],
      [INSTANCE.RESUBMITTED, 0, 0n, 3, 1, 0, 1],
      INSTANCE.NORMAL,
    ]);
  });

  it('without fields keeps none', () => {
    const kept: number[] = [];
    const { send } = bench({
      ingress: (live) => {
        kept.push(live.kept);
        live.kept = 9;
        live.standard.egress_spec = 2;
        if (live.standard.instance_type === INSTANCE.NORMAL) live.runtime.requests.resubmit = -2;
      },
    });
    expect(send(4, '0102')).toEqual(['2 0102']);
    expect(kept).toEqual([0, 0]);
  });

  it('without end is stopped', () => {
    const { send, path } = bench(
      {
        ingress: (live) => {
          live.runtime.requests.resubmit = -2;
        },
      },
      { maxPasses: 10 },
    );
    expect(send(4, '0102')).toEqual([]);
    expect(path.statistics.resubmitted).toBe(10);
    expect(path.statistics.dropped.loop).toBe(1);
  });
});

describe('recirculation', () => {
  it('sends the packet as deparsed through the parser again, with the listed fields', () => {
    const seen: unknown[] = [];
    const { send } = bench({
      ingress: (live) => {
        const { instance_type, ingress_port, packet_length } = live.standard;
        seen.push([
          instance_type,
          ingress_port,
          packet_length,
          live.runtime.packetLength,
          live.kept,
          live.other,
          live.a,
        ]);
        live.standard.egress_spec = 2;
      },
      egress: (live) => {
        if (live.kept === 1) return;
        live.isValid = false;
        live.kept = 1;
        live.other = 2;
        live.runtime.requests.recirculate = 1;
      },
    });
    expect(send(4, '0102030405')).toEqual(['2 030405']);
    expect(seen).toEqual([
      [INSTANCE.NORMAL, 4, 5, 5, 0, 0, 1],
      [INSTANCE.RECIRCULATED, 0, 3, 3, 1, 0, 3],
    ]);
  });

  it('that ingress asked for happens at the end of egress', () => {
    const { send, path } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 2;
        if (live.standard.instance_type === INSTANCE.NORMAL) live.runtime.requests.recirculate = -2;
      },
    });
    expect(send(4, '0102')).toEqual(['2 0102']);
    expect(path.statistics.recirculated).toBe(1);
  });

  it('is of the whole packet, whatever truncate would have cut', () => {
    const { send } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 2;
        if (live.standard.instance_type === INSTANCE.NORMAL) live.runtime.requests.truncate = 3;
      },
      egress: (live) => {
        live.b += 1;
        if (live.b === 1) live.runtime.requests.recirculate = -2;
      },
    });
    expect(send(4, '01000203')).toEqual(['2 01020203']);
  });

  it('gives way to a drop in egress', () => {
    const { send, path } = bench({
      ingress: to(2),
      egress: (live) => {
        live.standard.egress_spec = 511;
        live.runtime.requests.recirculate = -2;
      },
    });
    expect(send(4, '0102')).toEqual([]);
    expect(path.statistics.recirculated).toBe(0);
  });

  it('without end is stopped, and copies of copies too', () => {
    const { send, path, replication } = bench(
      {
        ingress: (live) => {
          live.standard.mcast_grp = 1;
        },
        egress: (live) => {
          live.runtime.requests.recirculate = -2;
        },
      },
      { maxRuns: 1000 },
    );
    replication.createGroup(1);
    replication.associateNode(1, replication.createNode(0, [2, 3, 4]));
    expect(send(4, '0102030405')).toEqual([]);
    expect(path.statistics.dropped.loop).toBeGreaterThan(0);
    // And the switch works on.
    expect(path.statistics.received).toBe(1);
    expect(send(4, '0102030405')).toEqual([]);
    expect(path.statistics.received).toBe(2);
  });

  it('of many copies mixes up none of them', () => {
    const { send, replication } = bench({
      ingress: (live) => {
        if (live.standard.instance_type === INSTANCE.NORMAL) live.standard.mcast_grp = 1;
        else live.standard.egress_spec = live.a;
      },
      egress: (live) => {
        if (live.standard.instance_type !== INSTANCE.REPLICATION) return;
        live.a = live.standard.egress_port;
        live.runtime.requests.recirculate = -2;
        live.runtime.requests.truncate = live.standard.egress_port;
      },
    });
    replication.createGroup(1);
    replication.associateNode(1, replication.createNode(0, [2, 3, 4, 5]));
    expect(send(9, '0a0b0c0d0e0f')).toEqual(['2 020b0c0d0e0f', '3 030b0c0d0e0f', '4 040b0c0d0e0f', '5 050b0c0d0e0f']);
  });
});

describe('a switch within a network', () => {
  it('takes packets that its own sink sends back, one after the other', () => {
    const { path, sent } = bench({
      ingress: (live) => {
        live.a += 1;
        live.standard.egress_spec = live.a;
      },
    });
    const { onTransmit } = path;
    path.onTransmit = (port, bytes, offset, length) => {
      onTransmit(port, bytes, offset, length);
      if (port < 4) path.receive(port, bytes, offset, length);
    };
    path.receive(0, Uint8Array.of(1, 9), 0, 2);
    expect(sent).toEqual(['2 0209', '3 0309', '4 0409']);
  });

  it('waits for its traffic manager to let packets go', () => {
    let now = 100;
    const waiting: InFlightPacket[] = [];
    const seen: number[][] = [];
    const { send, path, sent } = bench(
      {
        ingress: to(3),
        egress: (live) => {
          const { enq_timestamp, enq_qdepth, deq_timedelta, deq_qdepth, packet_length } = live.standard;
          seen.push([enq_timestamp, enq_qdepth, deq_timedelta, deq_qdepth, packet_length]);
        },
      },
      {
        clock: { nowUs: () => now },
        trafficManager: {
          enqueue(packet) {
            if (waiting.length === 2) return false;
            packet.enqueueDepth = waiting.length;
            waiting.push(packet);
            return true;
          },
        },
      },
    );
    send(1, '010203');
    send(1, '040506');
    send(1, '070809');
    expect(sent).toEqual([]);
    expect(path.statistics.dropped.queueFull).toBe(1);
    expect(waiting.map(({ port, length, enqueueTimeUs }) => [port, length, enqueueTimeUs])).toEqual([
      [3, 3, 100],
      [3, 3, 100],
    ]);
    now = 150;
    for (let packet = waiting.shift(); packet !== undefined; packet = waiting.shift()) {
      packet.dequeueDepth = waiting.length;
      path.dequeue(packet);
    }
    expect(sent).toEqual(['3 010203', '3 040506']);
    expect(seen).toEqual([
      [100, 0, 50, 1, 3],
      [100, 1, 50, 0, 3],
    ]);
  });

  it('may have its recirculated packets held up', () => {
    const held: InFlightPacket[] = [];
    const { send, path, sent } = bench(
      {
        ingress: to(3),
        egress: (live) => {
          live.a += 1;
          if (live.a === 2) live.runtime.requests.recirculate = -2;
        },
      },
      {
        trafficManager: {
          enqueue(packet) {
            path.dequeue(packet);
            return true;
          },
          reenter(packet) {
            held.push(packet);
            return true;
          },
        },
      },
    );
    send(1, '01ff');
    expect(sent).toEqual([]);
    expect(held[0]?.reentry).toBe('recirculate');
    path.reenter(held[0]!);
    expect(sent).toEqual(['3 03ff']);
  });

  it('is ready for the next packet after a program threw', () => {
    const { send, path } = bench({
      ingress: (live) => {
        live.standard.egress_spec = 1;
        live.runtime.requests.cloneSession = 1;
      },
      egress: (live) => {
        if (live.b === 0xff) throw new Error('broken');
      },
    });
    expect(() => send(0, '00ff')).toThrow('broken');
    expect(send(0, '0001')).toEqual(['1 0001']);
    expect(path.statistics.received).toBe(2);
  });
});
