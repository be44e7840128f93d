/** What servers of P4Runtime need of tables, meters and groups beside the commands of simple_switch_CLI. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../../../.ci/test/length.js';
import { DirectCounter } from '../../../src/externs/counter.js';
import { DirectMeter, Meter, MISS_METER } from '../../../src/externs/meter.js';
import { Replication } from '../../../src/switch/replication.js';
import { MatchTable } from '../../../src/tables/match-table.js';
import { bits, environment, exact, extern, integer, key, member, table, to } from './declarations.js';

const keys = [key('hdr.a', bits(16), 'exact')];

describe('meters of a single rate', () => {
  const meter = (type: 'bytes' | 'packets') => {
    const clock = environment();
    return { clock, tested: new Meter(extern(0, 'meter', 'm', [integer(4), member('MeterType', type)]), clock) };
  };

  it('do as RFC 2697 says: every token goes into the first bucket, else into the second, else nowhere (model)', () => {
    const packets = fc.array(fc.record({ gapUs: fc.nat(40), length: fc.integer({ min: 1, max: 30 }) }), {
      maxLength: 60,
    });
    fc.assert(
      fc.property(fc.nat(3), fc.nat(60), fc.nat(60), packets, (rate, committed, excess, all) => {
        const { clock, tested } = meter('bytes');
        tested.setSingleRate(1, { rate, burst: committed }, excess);
        let [c, e] = [committed, excess];
        for (const { gapUs, length } of all) {
          for (let token = 0; token < gapUs * rate; token++) {
            if (c < committed) c++;
            else if (e < excess) e++;
          }
          let colour = 2;
          if (c >= length) [c, colour] = [c - length, 0];
          else if (e >= length) [e, colour] = [e - length, 1];
          clock.nowUs += gapUs;
          clock.packetLength = length;
          expect(tested.execute(1)).toBe(colour);
        }
      }),
      { numRuns: runs(300), seed: 27 },
    );
  });

  it('begin full, and are told by their rates', () => {
    const { tested } = meter('packets');
    tested.setSingleRate(2, { rate: 0, burst: 2 }, 1);
    expect(Array.from({ length: 4 }, () => tested.execute(2))).toEqual([0, 0, 1, 2]);
    expect(tested.rates(2)).toEqual([
      { rate: 0, burst: 2 },
      { rate: 0, burst: 1 },
    ]);
    tested.clearRates(2);
    expect([tested.execute(2), tested.rates(2), tested.hasRates(2)]).toEqual([0, undefined, false]);
  });

  it('refuse what is no rate, no burst and no index', () => {
    const { tested } = meter('packets');
    const refusals = [
      () => tested.setSingleRate(0, { rate: -1, burst: 1 }, 1),
      () => tested.setSingleRate(0, { rate: Number.NaN, burst: 1 }, 1),
      () => tested.setSingleRate(0, { rate: 1, burst: 1.5 }, 1),
      () => tested.setSingleRate(0, { rate: 1, burst: 1 }, -1),
      () => tested.setSingleRate(4, { rate: 1, burst: 1 }, 1),
      () => tested.clearRates(-1),
    ];
    for (const refused of refusals) expect(refused).toThrow(/rate|burst|index/);
    expect(tested.hasRates(0)).toBe(false);
  });
});

describe('what a miss counts', () => {
  it('has a counter and a meter of its own', () => {
    const counter = new DirectCounter(extern(0, 'direct_counter', 'c', [member('CounterType', 'packets')]));
    const meter = new DirectMeter(extern(1, 'direct_meter', 'm', [member('MeterType', 'packets')]));
    const tested = new MatchTable(table({ keys }), environment(), { counter, meter });
    tested.lookup(1);
    expect(meter.color).toBe(-1);
    meter.setSingleRate(MISS_METER, { rate: 0, burst: 1 }, 0);
    const colours = [1, 2].map((value) => {
      tested.lookup(value);
      return meter.color;
    });
    expect(colours).toEqual([0, 2]);
    expect(counter.readMisses().packets).toBe(3);
    counter.writeMisses({ packets: 7, bytes: 9 });
    tested.lookup(3);
    expect(counter.readMisses().packets).toBe(8);
    expect(() => counter.writeMisses({ packets: -1, bytes: 0 })).toThrow();
    // An entry has its own.
    const handle = tested.add([exact(5)], to(1, 1));
    tested.lookup(5);
    expect(tested.readCounter(handle).packets).toBe(1);
    expect(counter.readMisses().packets).toBe(8);
  });
});

describe('entries by slot', () => {
  it('are seen where they lie, free slots included', () => {
    const tested = new MatchTable(table({ keys }), environment());
    const handles = [1, 2, 3].map((value) => tested.add([exact(value)], to(1, value)));
    tested.delete(handles[1]!);
    expect(tested.slotCount).toBe(3);
    expect([0, 1, 2, 3].map((slot) => tested.entryAt(slot)?.keys)).toEqual([
      [exact(1)],
      undefined,
      [exact(3)],
      undefined,
    ]);
    expect(tested.slotOf(handles[2]!)).toBe(2);
    const again = tested.add([exact(9)], to(1, 1));
    expect([again === handles[1], tested.slotOf(again)]).toEqual([false, 1]);
    expect(() => tested.slotOf(handles[1]!)).toThrow();
  });

  it('say when their timeout is over, from the last hit or from a new beginning, whichever is later', () => {
    const clock = environment();
    const tested = new MatchTable(table({ keys, supportsTimeout: true }), clock);
    const handle = tested.add([exact(1)], to(1, 1));
    expect(tested.expiryUs(0)).toBe(Number.POSITIVE_INFINITY);
    tested.setTimeout(handle, 100, 1000);
    expect([tested.expiryUs(0), tested.idleUs(handle, 1030)]).toEqual([1100, 30]);
    tested.setLastHit(handle, 990);
    expect([tested.expiryUs(0), tested.idleUs(handle, 1030)]).toEqual([1090, 40]);
    tested.restartTimeout(handle, 1050);
    expect([tested.expiryUs(0), tested.idleUs(handle, 1060)]).toEqual([1150, 70]);
    clock.nowUs = 1120;
    tested.lookup(1);
    expect([tested.expiryUs(0), tested.idleUs(handle, 1120)]).toEqual([1220, 0]);
    expect([tested.expired(1219), tested.expired(1220)]).toEqual([[], [handle]]);
    tested.delete(handle);
    expect(tested.expiryUs(0)).toBe(Number.POSITIVE_INFINITY);
  });
});

describe('replication', () => {
  it('tells the nodes of a group, and that there is no such group', () => {
    const tested = new Replication(undefined);
    expect(tested.nodesOf(7)).toBeUndefined();
    tested.createGroup(7);
    expect(tested.nodesOf(7)).toEqual([]);
    const [first, second] = [tested.createNode(5, [3, 1]), tested.createNode(6, [2])];
    for (const handle of [first, second]) tested.associateNode(7, handle);
    expect(tested.nodesOf(7)).toEqual([
      { handle: first, replicationId: 5, ports: [1, 3], lags: [] },
      { handle: second, replicationId: 6, ports: [2], lags: [] },
    ]);
    expect(tested.multicastGroups()).toEqual([{ group: 7, nodes: tested.nodesOf(7) }]);
  });

  it('keeps a copy of what a session is', () => {
    const tested = new Replication(undefined);
    const session = { replicas: [{ port: 3, replicationId: 4 }], priority: 1, maxBytes: 100 };
    tested.setMirror(9, session);
    expect(tested.mirror(9)).toEqual(session);
    expect(tested.mirror(9)).not.toBe(session);
    expect(tested.deleteMirror(9)).toBe(true);
    expect(tested.mirror(9)).toBeUndefined();
  });
});
