import { createSwitch, runStf } from '@int/p4vm';
import { formatStfResult } from '@int/p4vm/internals';
import { describe, expect, it } from 'vitest';

const PROGRAM = `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  counter(4, CounterType.packets_and_bytes) seen;
  direct_counter(CounterType.packets) hits;
  register<bit<16>>(4) sums;
  action to(bit<9> port) { s.egress_spec = port; }
  action other_to(bit<9> port, bit<8> b) { s.egress_spec = port; hdr.h.b = b; }
  action drop() { mark_to_drop(s); }
  table exact_t { key = { hdr.h.a: exact; } actions = { to; other_to; drop; } default_action = drop(); counters = hits; }
  table ternary_t { key = { hdr.h.b: ternary; hdr.h.isValid(): exact; } actions = { to; NoAction; } default_action = NoAction(); }
  table lpm_t { key = { hdr.h.b: lpm; } actions = { to; NoAction; } default_action = NoAction(); }
  table range_t { key = { hdr.h.b: range; } actions = { to; NoAction; } default_action = NoAction(); }
  apply {
    seen.count((bit<32>) hdr.h.a);
    sums.write((bit<32>) hdr.h.a, hdr.h.a ++ hdr.h.b);
    exact_t.apply(); ternary_t.apply(); lpm_t.apply(); range_t.apply();
  }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

const program = createSwitch(PROGRAM).program;
const run = (text: string) => runStf(program, text);
const failuresOf = (text: string) => run(text).failures.map(({ line, message }) => `${line}: ${message}`);

describe('runStf', () => {
  it('passes when each port sent what was expected of it, in order', () => {
    const result = run(`
add exact_t hdr.h.a:1 to(port:1)
add exact_t h.a:2 to(port:2)
packet 0 01 02
packet 0 02 03
packet 0 01 04
expect 1 01 02
expect 1 01 **
expect 2
packet 0 03 03`);
    expect(result).toEqual({ passed: true, failures: [], refused: [], packetsIn: 4, packetsOut: 3, expectations: 3 });
    expect(formatStfResult(result)).toBe('passed (4 packets in, 3 out, 3 expected)\n');
  });

  it('tells what differs, and where', () => {
    const result = run('add exact_t a:1 to(port:1)\npacket 0 01 ff 03\nexpect 1 01 f* 04 $');
    expect(formatStfResult(result)).toBe(
      'line 3: port 1, packet 1: differs from byte 2 on\n' +
        '  expected 01 F* 04\n' +
        '  received 01 FF 03\n' +
        '                  ^\n' +
        'failed: 1 (1 packets in, 1 out, 1 expected)\n',
    );
  });

  it('misses packets and reports what nobody expected', () => {
    expect(failuresOf('packet 0 01 02\nexpect 1 01 02')).toEqual(['2: port 1, packet 1: no packet came']);
    expect(failuresOf('add exact_t a:1 to(port:0)\npacket 0 01 02')).toEqual(['2: port 0: a packet too many: 0102']);
    expect(failuresOf('add exact_t a:1 to(port:1)\npacket 0 01 02\npacket 0 01 03\nexpect 1 01 02')).toEqual([
      '4: port 1: a packet too many: 0103',
    ]);
  });

  it('does not look at ports that the test does not mention', () => {
    expect(run('add exact_t a:1 to(port:9)\npacket 0 01 02').passed).toBe(true);
  });

  it('takes longer packets unless the length is to be exact', () => {
    const entry = 'add exact_t a:1 to(port:1)\npacket 0 01 02 03\n';
    expect(run(`${entry}expect 1 01 02`).passed).toBe(true);
    expect(failuresOf(`${entry}expect 1 01 02 $`)[0]).toContain('2 bytes expected, 3 came');
    expect(failuresOf(`${entry}expect 1 01 02 03 04`)[0]).toContain('4 bytes or more expected, 3 came');
  });

  it('knows no_packet: of the last packet nothing came out, of any port', () => {
    expect(run('packet 0 09 09\nno_packet').passed).toBe(true);
    expect(failuresOf('add exact_t a:1 to(port:7)\npacket 0 01 02\nno_packet')).toEqual([
      '3: no packet expected, but port 7 sent 0102',
    ]);
  });

  it('gives ternary entries of larger priority the precedence, and leaves keys out that are not given', () => {
    const result = run(`
add ternary_t 10 hdr.h.b:0x1* hdr.h.$valid$:1 to(port:1)
add ternary_t 20 h.b:0b0001*001 valid:1 to(port:2)
add ternary_t 5 hdr.h.isValid():1 to(port:3)
packet 0 05 12
packet 0 05 11
packet 0 05 31
expect 1 05 12
expect 2 05 11
expect 3 05 31`);
    expect(formatStfResult(result)).toMatch(/^passed/);
  });

  it('takes prefixes by length or by digits, and ranges', () => {
    const result = run(`
add lpm_t b:0x80/1 to(port:1)
add lpm_t b:0xa* to(port:2)
add range_t b:0x10->0x1f to(port:3)
add range_t b:7 to(port:4)
packet 0 05 90
packet 0 05 a5
packet 0 05 1f
packet 0 05 07
expect 1 05 90
expect 2 05 a5
expect 3 05 1f
expect 4 05 07`);
    expect(formatStfResult(result)).toMatch(/^passed/);
  });

  it('hands over arguments by name, changes defaults, and removes entries', () => {
    const result = run(`
add exact_t a:1 other_to(b:0xbb, port:1)
packet 0 01 02
expect 1 01 bb
remove all
packet 0 01 02
setdefault I.exact_t I.to(port:2)
packet 0 01 02
expect 2 01 02`);
    expect(formatStfResult(result)).toMatch(/^passed/);
  });

  it('checks counters and registers', () => {
    const entry = 'add exact_t a:1 to(port:9) = one\npacket 0 01 02 03\npacket 0 01 04\n';
    expect(
      run(`${entry}check_counter seen(1) packets == 2
check_counter I.seen(1) bytes >= 5
check_counter seen(0)
check_counter hits($one) packets == 2
check_register sums(1) == 0x104`).passed,
    ).toBe(true);
    expect(failuresOf(`${entry}check_counter seen(1) packets < 2\ncheck_register sums(1) == 1`)).toEqual([
      '4: counter seen(1) packets is 2, expected < 2',
      '5: register sums(1) is 260, expected == 1',
    ]);
    expect(failuresOf('check_counter hits($none) packets == 1')).toEqual(['1: no entry is called $none']);
    expect(failuresOf('check_counter seen(9) packets == 1')[0]).toContain('index 9');
  });

  it('fails for names that the program does not have, or not only once', () => {
    expect(failuresOf('add nowhere a:1 to(port:1)')[0]).toBe('1: there is no table nowhere');
    expect(failuresOf('add _t a:1 to(port:1)')[0]).toContain('table _t may be');
    expect(failuresOf('add exact_t a:1 fly()')[0]).toContain('no action of table I.exact_t fly');
    expect(failuresOf('add exact_t zz:1 to(port:1)')[0]).toContain('no key zz');
    expect(failuresOf('add exact_t a:1 to(speed:1)')[0]).toContain('no parameter speed');
    expect(failuresOf('add exact_t a:1 to()')[0]).toContain('port has no value');
    expect(failuresOf('add exact_t a:0x1* to(port:1)')[0]).toContain('exact');
  });

  it('goes on after a command that the switch refuses, and tells it', () => {
    const result = run('add exact_t a:0x100 to(port:1)\nregister_write nothing 0 1\npacket 0 09 09\nno_packet');
    expect(result.passed).toBe(true);
    expect(result.refused.map(({ line }) => line)).toEqual([1, 2]);
    expect(formatStfResult(result)).toMatch(/^line 1: refused: table_add I.exact_t I.to 0x100 => 0x1: /);
  });

  it('runs on a switch that is there already', () => {
    const machine = createSwitch(PROGRAM);
    expect(machine.command('table_add exact_t to 1 => 4').error).toBeUndefined();
    expect(runStf(machine, 'packet 0 01 02\nexpect 4 01 02').passed).toBe(true);
  });
});
