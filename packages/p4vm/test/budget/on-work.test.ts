import { buildProgram, createSwitch, P4Error } from '@int/p4vm';
import { describe, expect, it } from 'vitest';

const text = `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<48> destination; bit<48> source; bit<16> type; }
struct headers { h_t h; }
struct metadata { }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t s) {
    action drop() { mark_to_drop(s); }
    action forward(bit<9> port) { s.egress_spec = port; hdr.h.type = hdr.h.type + 1; }
    table stations { key = { hdr.h.destination: exact; } actions = { forward; drop; } default_action = forward(3); }
    apply { stations.apply(); }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

describe('onWork', () => {
  it('is called again and again while a program is read, checked and compiled, by the length of the program', () => {
    let reading = 0;
    const { program } = buildProgram({ name: 'bridge.p4', text }, { onWork: () => reading++ });
    let compiling = 0;
    createSwitch(program!, { onWork: () => compiling++ });
    // Eight steps each at most, of which every token is one: several, as each token is read, parsed and checked.
    const tokens = text.match(/\w+|[^\s\w]/g)!.length;
    expect(reading).toBeGreaterThan(tokens / 8);
    expect(compiling).toBeGreaterThan(text.split('\n').length / 8);
    let both = 0;
    createSwitch(text, { onWork: () => both++ });
    expect(both).toBeGreaterThan(compiling);
  });

  it('may run packets through another machine, and the program is the same', () => {
    const running = createSwitch(text);
    const alone = createSwitch(text);
    let packets = 0;
    const made = createSwitch(text, {
      onWork: () => {
        running.process(0, new Uint8Array(60));
        packets++;
      },
    });
    expect(running.statistics.received).toBe(packets);
    const frame = Uint8Array.from({ length: 60 }, (_, i) => i);
    expect(made.process(0, frame)).toEqual(alone.process(0, frame));
  });

  it('is called for programs with errors, too', () => {
    let calls = 0;
    const wrong = `${text}\nconst bit<8> A = B;`;
    expect(() => createSwitch(wrong, { onWork: () => calls++ })).toThrow(P4Error);
    expect(calls).toBeGreaterThan(0);
  });
});
