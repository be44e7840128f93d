import { createSwitch, type Limits, type V1Switch } from '@int/p4vm';
import { describe, expect, it } from 'vitest';
import { type Parts, v1model } from '../hostile/hostile-case.js';

function switchOf(parts: Parts, limits: Partial<Limits> = {}): V1Switch {
  return createSwitch({ name: 'test.p4', text: v1model(parts) }, { limits });
}

/** Goes round as often as the first byte of the packet says, times 2^16. */
const loop = 'bit<32> n = (bit<32>)hdr.h.a << 16; for (bit<32> i in 32w0 .. n) { m.seen = m.seen + i; }';
const frame = (first: number, length = 64): Uint8Array => new Uint8Array(length).fill(first, 0, 1);

describe('steps of a packet', () => {
  it('end a loop, are counted, and are there again for the next packet', () => {
    const target = switchOf({ apply: loop }, { steps: 1_000_000 });
    expect(target.process(0, frame(255))).toEqual([]);
    expect(target.process(0, frame(0))).toHaveLength(1);
    expect(target.process(0, frame(200))).toEqual([]);
    expect(target.process(0, frame(1))).toHaveLength(1);
    expect(target.statistics.dropped).toMatchObject({ steps: 2, ingress: 0 });
    expect(target.statistics.faults.internal).toBe(0);
  });

  it('are shared by all copies of it', () => {
    // About 200,000 steps of each copy.
    const target = switchOf({ apply: 's.mcast_grp = 1;', egress: loop }, { steps: 2_000_000 });
    target.command('mc_mgrp_create 1');
    target.command(`mc_node_create 0 ${Array.from({ length: 100 }, (_, port) => port).join(' ')}`);
    target.command('mc_node_associate 1 0');
    const sent = target.process(0, frame(1)).length;
    expect(sent).toBeGreaterThan(0);
    expect(sent).toBeLessThan(100);
    expect(target.statistics.dropped.steps).toBe(100 - sent);
    expect(target.process(0, frame(0))).toHaveLength(100);
  });

  it('are counted in parsers that go in a circle, in calls and in actions', () => {
    const inner = 'action spin() { for (bit<32> i in 32w0 .. 32w4294967294) { m.seen = m.seen + i; } }';
    const table = 'table t { actions = { spin; } default_action = spin(); }';
    const target = switchOf({ locals: `${inner} ${table}`, apply: 't.apply();' });
    expect(target.process(0, frame(0))).toEqual([]);
    expect(target.statistics.dropped.steps).toBe(1);
  });

  it('refuse a program of which no packet could get through', () => {
    const apply = 'm.seen = m.seen + 1; '.repeat(100);
    expect(() => switchOf({ apply }, { steps: 100 })).toThrow('[limit-steps]');
    expect(switchOf({ apply }, { steps: 1_000 }).process(0, frame(0))).toHaveLength(1);
  });
});

describe('sizes of packets', () => {
  const grows = {
    top: 'header w_t { bit<2048> x; }',
    headers: 'w_t[100] w;',
    start: 'p.extract(hdr.h);',
    apply: 'hdr.w[0].setValid(); hdr.w[99].setValid();',
    deparser: 'p.emit(hdr.h); p.emit(hdr.w);',
  };

  it('bound what leaves', () => {
    const target = switchOf(grows, { packetBytes: 500 });
    expect(target.process(0, frame(0, 64))).toEqual([]);
    expect(target.statistics.dropped.size).toBe(1);
    expect(switchOf(grows).process(0, frame(0, 64))[0]?.frame.length).toBe(64 + 512);
  });

  it('bound what goes back to the parser', () => {
    const target = switchOf({ ...grows, egress: 'recirculate_preserving_field_list(0);' }, { packetBytes: 10_000 });
    expect(target.process(0, frame(0))).toEqual([]);
    expect(target.statistics.dropped).toMatchObject({ size: 1, loop: 0 });
    expect(target.statistics.recirculated).toBeGreaterThan(10);
  });
});

describe('memory of packets within a switch', () => {
  it('bounds copies, which are counted, and is there again when they are gone', () => {
    const target = switchOf({ apply: 'if (hdr.h.a == 1) { s.mcast_grp = 1; }' }, { stateBytes: 1_000_000 });
    target.command('mc_mgrp_create 1');
    for (let node = 0; node < 10; node++) {
      target.command(`mc_node_create ${node} ${Array.from({ length: 511 }, (_, port) => port).join(' ')}`);
      target.command(`mc_node_associate 1 ${node}`);
    }
    for (let i = 0; i < 3; i++) {
      const before = target.statistics.dropped.memory;
      const sent = target.process(0, frame(1)).length;
      expect(sent).toBeGreaterThan(100);
      expect(sent + target.statistics.dropped.memory - before).toBe(5_110);
      expect(target.process(0, frame(0))).toHaveLength(1);
    }
  });

  it('bounds entries of tables, which are refused', () => {
    const locals = 'table t { key = { m.seen: exact; } actions = { NoAction; } size = 1000000; }';
    const target = switchOf({ locals, apply: 't.apply();' }, { stateBytes: 1_000_000 });
    let added = 0;
    let refused: string | undefined;
    while (refused === undefined && added < 100_000) {
      refused = target.command(`table_add t NoAction ${added} =>`).error?.code;
      if (refused === undefined) added++;
    }
    expect(refused).toBe('ERR_CONTROL_NO_ROOM');
    expect(added).toBeGreaterThan(1_000);
    expect(target.command('table_delete t 0').error).toBeUndefined();
    expect(target.command(`table_add t NoAction ${added} =>`).error).toBeUndefined();
    expect(target.command(`table_add t NoAction ${added + 1} =>`).error?.code).toBe('ERR_CONTROL_NO_ROOM');
    expect(target.command('table_clear t').error).toBeUndefined();
    expect(target.command(`table_add t NoAction ${added + 1} =>`).error).toBeUndefined();
  });
});
