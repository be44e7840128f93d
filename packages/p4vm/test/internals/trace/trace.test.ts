import { describe, expect, it } from 'vitest';
import { createSwitch } from '../../../src/switch/create-switch.js';
import { TraceRecorder } from '../../../src/trace/packet-trace.js';
import type { TraceEvent } from '../../../src/trace/trace.js';
import { jsonNumber, traceToJson } from '../../../src/trace/trace-json.js';
import { formatTrace, formatTraceEvent, hexOf } from '../../../src/trace/trace-text.js';

const PROGRAM = `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<48> mac; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { p.extract(hdr.h); transition select(hdr.h.a) { 9: more; default: accept; } }
  state more { transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  register<bit<8>>(1) seen;
  action to(bit<9> port, bit<48> mac) { s.egress_spec = port; hdr.h.mac = mac; }
  action drop() { mark_to_drop(s); }
  table t { key = { hdr.h.mac: exact; } actions = { to; drop; } default_action = drop(); }
  apply { bit<8> n; seen.read(n, 0); seen.write(0, n + 1); t.apply(); if (hdr.h.a == 2) clone(CloneType.I2E, 7); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { hdr.h.a = 0x55; } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

const frame = (a: number) => Uint8Array.of(a, 0, 0, 0, 0, 0, 1, 0xff);

function machine() {
  const made = createSwitch(PROGRAM);
  expect(made.command('table_add I.t I.to 0x1 => 3 0xffffffffffff').error).toBeUndefined();
  expect(made.command('mirroring_add 7 4').error).toBeUndefined();
  return made;
}

describe('V1Switch.trace', () => {
  it('follows a packet from stage to stage', () => {
    const { events, outputs, port } = machine().trace(1, frame(9));
    expect(port).toBe(1);
    expect(outputs.map((output) => [output.port, hexOf(output.frame)])).toEqual([[3, '55ffffffffffffff']]);
    const kinds = events.map((event) => (event.kind === 'stage' ? event.name : event.kind));
    for (const kind of ['parser', 'ingress', 'egress', 'deparser', 'state', 'extract', 'table', 'action', 'emit']) {
      expect(kinds).toContain(kind);
    }
    expect(kinds.indexOf('parser')).toBeLessThan(kinds.indexOf('ingress'));
    expect(kinds.indexOf('ingress')).toBeLessThan(kinds.indexOf('egress'));
    expect(events).toContainEqual({ kind: 'state', parser: 'P', state: 'more' });
    expect(events).toContainEqual({
      kind: 'table',
      table: 'I.t',
      keys: [{ name: 'hdr.h.mac', value: 1n }],
      hit: true,
      handle: 0,
      action: 'I.to',
      data: [3, 0xffffffffffffn],
    });
  });

  it('is a packet like any other: it counts, and the next one sees what it wrote', () => {
    const made = machine();
    made.trace(1, frame(1));
    made.process(1, frame(1));
    made.trace(1, frame(1));
    expect(made.statistics.received).toBe(3);
    expect(made.control.register('I.seen').read(0)).toBe(3);
  });

  it('gives the same packets as without tracing', () => {
    for (const a of [0, 2, 9]) {
      expect(machine().trace(5, frame(a)).outputs).toEqual(machine().process(5, frame(a)));
    }
  });

  it('shows clones and drops', () => {
    const cloned = machine().trace(1, frame(2));
    expect(cloned.outputs.map(({ port }) => port)).toEqual([4, 3]);
    expect(cloned.events).toContainEqual({ kind: 'packet', what: 'cloned at ingress to mirror session 7' });
    const dropped = machine().trace(1, new Uint8Array(7));
    expect(dropped.outputs).toEqual([]);
    expect(formatTrace(dropped)).toMatch(/packet dropped at the end of ingress\nnothing came out\n$/);
  });

  it('shows what the parser could not read', () => {
    const { events } = machine().trace(1, new Uint8Array(3));
    expect(events).toContainEqual({ kind: 'parser-error', error: 'PacketTooShort' });
  });
});

describe('traceToJson', () => {
  it('is what JSON can hold', () => {
    const trace = machine().trace(1, frame(9));
    const json = traceToJson(trace);
    expect(JSON.parse(JSON.stringify(json))).toEqual(json);
    expect(json).toMatchObject({
      port: 1,
      frame: '09000000000001ff',
      outputs: [{ port: 3, frame: '55ffffffffffffff' }],
    });
    expect(JSON.stringify(json)).toContain('"data":[3,281474976710655]');
  });

  it('writes numbers beyond 2^53 as text', () => {
    expect(jsonNumber(5)).toBe(5);
    expect(jsonNumber(2n ** 53n - 1n)).toBe(2 ** 53 - 1);
    expect(jsonNumber(2n ** 53n)).toBe('9007199254740992');
    expect(jsonNumber(-(2n ** 60n))).toBe('-1152921504606846976');
    expect(jsonNumber('text')).toBe('text');
  });
});

describe('formatTraceEvent', () => {
  it('puts each kind of event into a line', () => {
    const events: readonly (readonly [TraceEvent, string])[] = [
      [{ kind: 'stage', name: 'ingress' }, 'ingress'],
      [{ kind: 'state', parser: 'P', state: 'start' }, 'state start of P'],
      [{ kind: 'extract', header: 'hdr.h', bits: 16 }, 'extract hdr.h: 16 bits'],
      [{ kind: 'parser-error', error: 'NoMatch' }, 'parser error NoMatch'],
      [{ kind: 'action', action: 'I.to' }, 'action I.to'],
      [{ kind: 'assign', target: 'hdr.h.a', value: 255 }, 'hdr.h.a = 255 (0xff)'],
      [{ kind: 'assign', target: 'hdr.h.a', value: -12n }, 'hdr.h.a = -12'],
      [{ kind: 'assign', target: 'hdr.h.v', value: 'valid' }, 'hdr.h.v = valid'],
      [{ kind: 'extern', call: 'seen.read' }, 'seen.read'],
      [{ kind: 'emit', header: 'hdr.h', bits: 16 }, 'emit hdr.h: 16 bits'],
      [{ kind: 'packet', what: 'resubmitted' }, 'packet resubmitted'],
      [
        { kind: 'table', table: 't', keys: [], hit: false, handle: -1, action: undefined, data: [] },
        'table t: miss, no action',
      ],
    ];
    for (const [event, text] of events) expect(formatTraceEvent(event)).toBe(text);
  });
});

describe('TraceRecorder', () => {
  it('keeps so many events and counts the others', () => {
    const recorder = new TraceRecorder(2);
    for (let i = 0; i < 5; i++) recorder.event({ kind: 'action', action: `a${i}` });
    expect(recorder.events).toHaveLength(2);
    expect(recorder.suppressed).toBe(3);
  });
});
