import { describe, expect, it } from 'vitest';
import { type Pieces, TextProgram } from './text-program.js';

const BASE: Pieces = {
  types: 'header h_t { bit<8> k; bit<48> mac; int<16> s; bit<128> ip; }',
  headers: 'h_t h; h_t other;',
  metadata: 'bit<8> a; bit<48> m; int<16> s; bit<128> ip; bool flag; bit<8> ran;',
  states: 'state start { packet.extract(hdr.h); transition accept; }',
};

function packet(key: number, ...mac: readonly number[]): number[] {
  return [key, ...mac, 0xff, 0xfe, ...Array.from({ length: 16 }, (_, index) => index)];
}

describe('tables', () => {
  const program = new TextProgram({
    ...BASE,
    declarations: `
      action set(bit<8> a, bit<48> m, int<16> s, bit<128> ip, bool flag) {
        meta.a = a; meta.m = m; meta.s = s; meta.ip = ip; meta.flag = flag;
      }
      action add(inout bit<8> sum, in bit<8> more, bit<8> data) { sum = sum + more + data; }
      action nothing() { }
      table t {
        key = { hdr.h.k: exact; hdr.h.mac: exact; hdr.h.s: exact; hdr.h.ip[7:0]: exact; }
        actions = { set; add(meta.a, 8w10); nothing; }
        const entries = {
          (8w1, 48w0x060504030201, -16s2, 8w15): set(9, 48w0xffeeddccbbaa, -16s3, 128w0x1234567890abcdef1122334455667788, true);
          (8w2, 48w0x060504030201, -16s2, 8w15): add(meta.a, 8w10, 5);
        }
        default_action = nothing();
      }
      table missing {
        key = { hdr.other.k: exact; hdr.other.mac: exact; }
        actions = { nothing; @defaultonly NoAction; }
        const entries = { (8w0, 48w0): nothing(); }
        const default_action = NoAction();
      }`,
    ingress: `
      meta.a = 100;
      switch (t.apply().action_run) {
        set: { meta.ran = 1; }
        add: { meta.ran = 2; }
        default: { meta.ran = 3; }
      }
      hdr.other.k = 7;
      if (missing.apply().hit) { meta.ran = meta.ran + 16; }
      if (missing.apply().miss) { meta.ran = meta.ran + 32; }`,
  });

  it('give actions their data, wide and signed ones too', () => {
    const values = program.run(...packet(1, 6, 5, 4, 3, 2, 1));
    expect(['a', 'm', 's', 'ip', 'flag', 'ran'].map((name) => values.get(`meta.${name}`))).toEqual([
      9,
      0xffeeddccbbaan,
      -3,
      0x1234567890abcdef1122334455667788n,
      1,
      17,
    ]);
  });

  it('pass the arguments that the list of actions gives', () => {
    const values = program.run(...packet(2, 6, 5, 4, 3, 2, 1));
    expect([values.get('meta.a'), values.get('meta.ran')]).toEqual([115, 18]);
  });

  it('run the default action on a miss', () => {
    const values = program.run(...packet(3, 6, 5, 4, 3, 2, 1));
    expect([values.get('meta.a'), values.get('meta.ran')]).toEqual([100, 19]);
  });

  it('match fields of invalid headers as 0', () => {
    expect(Number(program.run(...packet(3, 0, 0, 0, 0, 0, 0)).get('meta.ran')) & 0x30).toBe(16);
  });
});

describe('value sets', () => {
  it('decide a transition', () => {
    const set = new TextProgram({
      ...BASE,
      states: `
        value_set<bit<48>>(4) macs;
        state start { packet.extract(hdr.h); transition select(hdr.h.mac) { macs: known; default: accept; } }
        state known { meta.a = 1; transition accept; }`,
    });
    const [macs] = set.state.valueSets;
    expect(set.run(...packet(1, 1, 2, 3, 4, 5, 6)).get('meta.a')).toBe(0);
    expect(macs?.matches(0n)).toBe(false);
  });
});

describe('code compiled for tracing', () => {
  it('reports stages, states, tables, actions, assignments, and does the same', () => {
    const events: { readonly kind: string }[] = [];
    const pieces: Pieces = {
      ...BASE,
      declarations: `
        action set(bit<8> a) { meta.a = a; }
        table t { key = { hdr.h.mac: exact; } actions = { set; NoAction; } const entries = { 48w1: set(7); } default_action = NoAction(); }`,
      ingress: 't.apply(); hdr.other.setValid(); hdr.other.k = meta.a;',
    };
    const traced = new TextProgram(pieces, { trace: true }, { trace: { event: (event) => void events.push(event) } });
    const plain = new TextProgram(pieces);
    const bytes = packet(5, 0, 0, 0, 0, 0, 1);
    expect([...traced.run(...bytes)]).toEqual([...plain.run(...bytes)]);
    expect(traced.output).toEqual(plain.output);
    expect(plain.source).not.toContain('trace');
    expect(events.filter((event) => event.kind !== 'stage')).toEqual([
      { kind: 'state', parser: 'MyParser', state: 'start' },
      { kind: 'extract', header: 'hdr.h', bits: 200 },
      {
        kind: 'table',
        table: 'MyIngress.t',
        keys: [{ name: 'hdr.h.mac', value: 1n }],
        hit: true,
        handle: expect.any(Number),
        action: 'MyIngress.set',
        data: [7],
      },
      { kind: 'action', action: 'MyIngress.set' },
      { kind: 'assign', target: 'meta.a', value: 7 },
      { kind: 'assign', target: 'hdr.other', value: 'valid' },
      { kind: 'assign', target: 'hdr.other.k', value: 7 },
      { kind: 'emit', header: 'hdr.h', bits: 200 },
      { kind: 'emit', header: 'hdr.other', bits: 200 },
    ]);
    expect(events.filter((event) => event.kind === 'stage')).toHaveLength(6);
  });
});
