import { createSwitch, formatUndefinedRead, type V1Switch } from '@int/p4vm';
import { describe, expect, it } from 'vitest';

interface Parts {
  readonly parser?: string;
  readonly ingress?: string;
  readonly locals?: string;
  readonly egress?: string;
  readonly egressLocals?: string;
  readonly types?: string;
  readonly metadata?: string;
}

/** A switch that reads a header of two bytes, perhaps a second one, and sends both to port 1. */
function poisoned(
  { parser = '', ingress = '', locals = '', egress = '', egressLocals = '', types = '', metadata = '' }: Parts,
  poisonSeed = 1,
): V1Switch {
  const text = `#include <core.p4>
#include <v1model.p4>
header one_t { bit<8> a; bit<8> b; }
header two_t { bit<8> x; bit<1> flag; bit<39> wide; bit<64> word; }
${types}
struct headers { one_t one; two_t two; one_t[3] more; }
struct metadata { @field_list(1) bit<8> kept; bit<8> lost; bool known; bit<48> long; ${metadata} }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.one); ${parser} transition select(hdr.one.a) { 2: second; default: accept; } }
    state second { packet.extract(hdr.two); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    register<bit<32>>(4) cells;
    ${locals}
    apply { standard.egress_spec = 1; ${ingress} }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
    ${egressLocals}
    apply { ${egress} }
}
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) {
    apply { packet.emit(hdr.one); packet.emit(hdr.two); packet.emit(hdr.more); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
  return createSwitch({ name: 'test.p4', text }, { undefined: 'poison', poisonSeed });
}

/** What is found as `USE WHAT`, over some packets without and with the second header. */
function found(parts: Parts, seed = 1): string[] {
  const machine = poisoned(parts, seed);
  for (let i = 0; i < 4; i++) {
    machine.process(0, Uint8Array.of(1, i));
    machine.process(0, Uint8Array.of(2, i, ...new Uint8Array(14)));
  }
  expect(machine.statistics.transmitted + machine.statistics.dropped.ingress).toBeGreaterThan(0);
  return machine.undefinedReads.map(({ use, place }) => `${use} ${place.what}`);
}

describe('poison mode finds', () => {
  it.each<readonly [string, Parts, string]>([
    ['a field of an invalid header', { ingress: 'if (hdr.two.x == 5) hdr.one.b = 1;' }, 'condition hdr.two.x == 5'],
    ['a single bit of one', { ingress: 'if (hdr.two.flag == 1) hdr.one.b = 1;' }, 'condition hdr.two.flag == 1'],
    [
      'one that was written there while it was invalid',
      { ingress: 'hdr.more[0].a = 3; if (hdr.more[0].a == 3) hdr.one.b = 1;' },
      'condition hdr.more[0].a == 3',
    ],
    ['a header just made valid', { ingress: 'hdr.more[1].setValid(); hdr.more[1].a = 1;' }, 'emit hdr.more[1].b'],
    ['metadata', { ingress: 'hdr.one.b = meta.lost;' }, 'emit hdr.one.b'],
    ['wide metadata', { ingress: 'if (meta.long > 7) hdr.one.b = 1;' }, 'condition meta.long > 7'],
    ['a bool', { ingress: 'if (meta.known) hdr.one.b = 1;' }, 'condition meta.known'],
    ['a local variable', { locals: 'bit<8> local;', ingress: 'hdr.one.b = hdr.one.b + local;' }, 'emit hdr.one.b'],
    [
      'an out parameter that is never written',
      { locals: 'action nothing(out bit<8> value) { }', ingress: 'nothing(hdr.one.b);' },
      'emit hdr.one.b',
    ],
    [
      'a table key',
      {
        locals:
          'action go() { } table t { key = { hdr.two.x: exact; } actions = { go; NoAction; } default_action = go(); }',
        ingress: 't.apply();',
      },
      'table key hdr.two.x',
    ],
    [
      'what is hashed',
      { ingress: 'hash(hdr.one.b, HashAlgorithm.crc16, 8w0, { hdr.two.x, hdr.one.a }, 16w256);' },
      'emit hdr.one.b',
    ],
    [
      'what a register is given',
      { ingress: 'cells.write(0, (bit<32>)meta.lost);' },
      'register.write (bit<32>)meta.lost',
    ],
    [
      'a cell of one',
      { ingress: 'bit<32> cell; cells.read(cell, (bit<32>)meta.lost);' },
      'register.read (bit<32>)meta.lost',
    ],
    ['an index', { ingress: 'hdr.one.b = hdr.more[meta.lost].a;' }, 'index meta.lost'],
    [
      'the way of a packet',
      { ingress: 'standard.egress_spec = (bit<9>)meta.lost;' },
      'way of the packet standard_metadata.egress_spec',
    ],
    [
      'a select',
      { parser: 'meta.lost = meta.kept;', ingress: 'if (meta.lost == 0) hdr.one.b = 1;' },
      'condition meta.lost == 0',
    ],
    [
      'metadata that a clone does not bring along',
      {
        ingress: 'meta.lost = 1; meta.kept = 1; clone_preserving_field_list(CloneType.I2E, 5, 1);',
        egress: 'if (meta.kept == 1 && meta.lost == 1) { hdr.one.b = 9; }',
      },
      'condition meta.kept == 1 && meta.lost == 1',
    ],
  ])('%s', (_, parts, expected) => {
    if (parts.egress !== undefined) {
      const machine = poisoned(parts);
      machine.command('mirroring_add 5 2');
      machine.process(0, Uint8Array.of(1, 2));
      expect(machine.undefinedReads.map(({ use, place }) => `${use} ${place.what}`)).toContain(expected);
      return;
    }
    expect(found(parts)).toContain(expected);
  });
});

describe('poison mode lets pass', () => {
  it.each<readonly [string, Parts]>([
    ['nothing undefined', { ingress: 'if (hdr.two.isValid()) { hdr.one.b = hdr.two.x; }' }],
    ['a copy that nothing uses', { ingress: 'meta.lost = hdr.two.x; hdr.more[0] = hdr.more[1];' }],
    ['what a guard keeps from being looked at', { ingress: 'if (hdr.two.isValid() && hdr.two.x == 0) hdr.one.b = 1;' }],
    ['what is masked away', { ingress: 'hdr.one.b = hdr.two.x & 0;' }],
    ['a choice of what is defined', { ingress: 'hdr.one.b = hdr.two.isValid() ? hdr.two.x : 8w0;' }],
    ['a comparison whose result is not used', { ingress: 'meta.known = hdr.two.x == 1;' }],
    [
      'headers and variables that were written',
      { ingress: 'hdr.more[0].setValid(); hdr.more[0].a = 1; hdr.more[0].b = 2;' },
    ],
    ['defaults', { ingress: 'hdr.more[0].setValid(); hdr.more[0] = { 1, 2 };' }],
    ['standard metadata', { ingress: 'if (standard.priority == 0) hdr.one.b = 1;' }],
  ])('%s', (_, parts) => {
    for (const seed of [1, 2, 3]) expect(found(parts, seed)).toEqual([]);
  });
});

describe('poison mode', () => {
  it('names file, line and column, and where the value was read before', () => {
    const machine = poisoned({ locals: 'bit<8> sum;', ingress: 'sum = hdr.two.x + 1;\nif (sum == 3) hdr.one.b = 1;' });
    machine.process(0, Uint8Array.of(1, 2));
    const [read] = machine.undefinedReads;
    expect(machine.undefinedReads).toHaveLength(1);
    expect(read).toMatchObject({ use: 'condition', place: { file: 'test.p4', what: 'sum == 3' }, count: 1 });
    expect(read?.reads.map(({ what }) => what)).toEqual(['hdr.two.x', 'sum']);
    expect(read?.reads[0]?.line).toBe((read?.place.line ?? 0) - 1);
    expect(formatUndefinedRead(read!)).toMatch(
      /^test\.p4:\d+:5: condition depends on an undefined value: sum == 3; read before: hdr\.two\.x at test\.p4:\d+:\d+, sum at/,
    );
  });

  it('gives other values with other seeds, and the same ones with the same', () => {
    const byte = (seed: number): number[] => {
      const machine = poisoned({ ingress: 'hdr.one.b = meta.lost;' }, seed);
      return Array.from({ length: 8 }, () => machine.process(0, Uint8Array.of(1, 2))[0]!.frame[1]!);
    };
    expect(byte(1)).toEqual(byte(1));
    expect(byte(1)).not.toEqual(byte(2));
    expect(new Set(byte(1)).size).toBeGreaterThan(3);
  });

  it('does everything once', () => {
    const machine = poisoned({
      locals: 'counter(4, CounterType.packets) seen; bit<32> cell;',
      ingress: 'seen.count(1); cells.read(cell, 0); cells.write(0, cell + 1); digest<bit<8>>(1, hdr.one.a);',
    });
    for (let i = 0; i < 5; i++) expect(machine.process(0, Uint8Array.of(1, 2))).toHaveLength(1);
    expect(machine.counter('I.seen').read(1).packets).toBe(5);
    expect(machine.register('I.cells').get(0)).toBe(5n);
    expect(machine.statistics).toMatchObject({ received: 5, transmitted: 5, digests: 5 });
    expect(machine.undefinedReads).toEqual([]);
  });

  it('tells each place once, when it is met', () => {
    const text = poisoned({}).program;
    expect(text).toBeDefined();
    const said: string[] = [];
    const machine = createSwitch(text, { undefined: 'poison', onUndefinedRead: (read) => said.push(read.use) });
    machine.process(0, Uint8Array.of(1, 2));
    expect(said).toEqual([]);
  });

  it('is off by default', () => {
    const machine = createSwitch(poisoned({ ingress: 'hdr.one.b = meta.lost;' }).program);
    expect(machine.process(0, Uint8Array.of(1, 2))[0]?.frame).toEqual(Uint8Array.of(1, 0));
    expect(machine.undefinedReads).toEqual([]);
  });
});
