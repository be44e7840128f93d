import { createSwitch, P4Error, VirtualClock } from '@int/p4vm';
import { describe, expect, it } from 'vitest';

const programOf = (ingress: string, declarations = '', egress = ''): string => `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct note_t { bit<8> a; bit<9> port; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) { ${declarations} apply { ${ingress} } }
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { ${egress} } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

describe('createSwitch', () => {
  it('takes a text, a file, or a program built before', () => {
    const text = programOf('s.egress_spec = 3;');
    const fromText = createSwitch(text);
    const fromFile = createSwitch({ name: 'a.p4', text });
    const fromProgram = createSwitch(fromText.program);
    for (const machine of [fromText, fromFile, fromProgram]) {
      expect(machine.process(0, Uint8Array.of(1, 2, 3))).toEqual([{ port: 3, frame: Uint8Array.of(1, 2, 3) }]);
    }
  });

  it('throws a P4Error that says what is wrong and where', () => {
    try {
      createSwitch({ name: 'wrong.p4', text: programOf('s.egress_spec = nowhere;') });
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(P4Error);
      expect((error as P4Error).message).toMatch(/^wrong\.p4:12:\d+: error: /);
      expect((error as P4Error).diagnostics.length).toBeGreaterThan(0);
    }
  });

  it('asks for includes and takes macros', () => {
    const machine = createSwitch(`#include "ports.p4"\n${programOf('s.egress_spec = PORT + MORE;')}`, {
      resolve: (path) => (path === 'ports.p4' ? { name: path, text: '#define PORT 3\n' } : undefined),
      defines: { MORE: '1' },
    });
    expect(machine.process(0, Uint8Array.of(1, 2))[0]?.port).toBe(4);
  });
});

describe('V1Switch', () => {
  it('takes packets anywhere in a buffer, and gives them to the sink', () => {
    const machine = createSwitch(programOf('s.egress_spec = (bit<9>) hdr.h.a;'));
    const sent: number[][] = [];
    machine.onTransmit = (port, bytes, offset, length) => sent.push([port, ...bytes.subarray(offset, offset + length)]);
    const buffer = Uint8Array.of(9, 9, 4, 5, 6, 9);
    machine.receive(0, buffer, 2, 3);
    machine.receive(0, buffer.subarray(2, 5));
    expect(sent).toEqual([
      [4, 4, 5, 6],
      [4, 4, 5, 6],
    ]);
    expect(() => machine.receive(0, buffer, 4, 3)).toThrow(RangeError);
    expect(() => machine.receive(0, buffer, -1, 3)).toThrow(RangeError);
  });

  it('takes packets of any length, from none on', () => {
    const machine = createSwitch(programOf('s.egress_spec = 1;'));
    for (const length of [0, 1, 2, 3, 1500, 9000, 70_000]) {
      const frame = Uint8Array.from({ length }, (_, i) => i & 0xff);
      expect(machine.process(0, frame)).toEqual([{ port: 1, frame }]);
    }
  });

  it('gives what the sink was to get to the caller of process only', () => {
    const machine = createSwitch(programOf('s.egress_spec = 1;'));
    let count = 0;
    machine.onTransmit = () => count++;
    machine.process(0, Uint8Array.of(1, 2));
    expect(count).toBe(0);
    machine.receive(0, Uint8Array.of(1, 2));
    expect(count).toBe(1);
  });

  it('has a clock that stands still until it is moved', () => {
    const clock = new VirtualClock();
    const machine = createSwitch(programOf('hdr.h.a = (bit<8>) s.ingress_global_timestamp;'), { clock });
    const seen = (): number | undefined => machine.process(0, Uint8Array.of(0, 0))[0]?.frame[0];
    expect(seen()).toBe(0);
    clock.advance(7);
    expect(seen()).toBe(7);
    clock.moveTo(100);
    expect(seen()).toBe(100);
    expect(() => clock.moveTo(99)).toThrow(RangeError);
    expect(() => clock.advance(0.5)).toThrow(RangeError);
  });

  it('draws the same random numbers from the same seed', () => {
    const text = programOf('bit<8> r; random(r, 0, 255); hdr.h.b = r;');
    const drawn = (seed: number) => {
      const machine = createSwitch(text, { seed });
      return Array.from({ length: 20 }, () => machine.process(0, Uint8Array.of(0, 0))[0]?.frame[1]);
    };
    expect(drawn(5)).toEqual(drawn(5));
    expect(drawn(5)).not.toEqual(drawn(6));
  });

  it('hands over digests and messages', () => {
    const digests: unknown[] = [];
    const messages: string[] = [];
    const clock = new VirtualClock();
    const machine = createSwitch(
      programOf('digest<note_t>(1, { hdr.h.a, s.ingress_port }); log_msg("a is {}", { hdr.h.a });'),
      { clock, onDigest: (digest) => digests.push(digest), onLog: (message) => messages.push(message) },
    );
    clock.advance(3);
    machine.process(7, Uint8Array.of(5, 0));
    const expected = {
      receiver: 1,
      name: 'note_t',
      fields: [
        { name: 'a', value: 5 },
        { name: 'port', value: 7 },
      ],
      timeUs: 3,
    };
    expect(digests).toEqual([expected]);
    expect(machine.statistics.digests).toBe(1);
    expect(machine.control.takeDigests()).toEqual([expected]);
    expect(messages).toEqual(['a is 5']);
  });

  it('runs commands, and tells which of them failed', () => {
    const machine = createSwitch(
      programOf(
        't.apply();',
        'action to(bit<9> p) { s.egress_spec = p; } table t { key = { hdr.h.a: exact; } actions = { to; } }',
      ),
    );
    const results = machine.commands('# setup\n\ntable_add I.t I.to 1 => 4\n  table_add I.t I.to 2\nnonsense\n');
    expect(results.map(({ status }) => status)).toEqual(['done', 'failed', 'unknown']);
    expect(machine.process(0, Uint8Array.of(1, 0))[0]?.port).toBe(4);
    machine.reset();
    expect(machine.process(0, Uint8Array.of(1, 0))[0]?.port).toBe(0);
  });

  it('counts faults of a program instead of stopping', () => {
    const machine = createSwitch(programOf('r.write((bit<32>) hdr.h.a, 1); hdr.h.b = 7;', 'register<bit<8>>(4) r;'));
    expect(machine.process(0, Uint8Array.of(200, 0))[0]?.frame).toEqual(Uint8Array.of(200, 7));
    expect(machine.statistics.faults.externIndex).toBe(1);
  });

  it('keeps the state of two switches apart', () => {
    const { program } = createSwitch(
      programOf('bit<8> n; r.read(n, 0); r.write(0, n + 1); hdr.h.b = n;', 'register<bit<8>>(1) r;'),
    );
    const [one, two] = [createSwitch(program), createSwitch(program)];
    const next = (machine: typeof one) => machine.process(0, Uint8Array.of(0, 0))[0]?.frame[1];
    expect([next(one), next(one), next(two), next(one), next(two)]).toEqual([0, 1, 0, 2, 1]);
  });
});
