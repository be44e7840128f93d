/** A program around the bodies of ingress and egress, with a header of two bytes. */
export function p4Program(ingress: string, egress = '', declarations = ''): string {
  return `#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct meta { }
parser P(packet_in p, out headers hdr, inout meta m, inout standard_metadata_t s) {
  state start { p.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
  ${declarations}
  apply { ${ingress} }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { ${egress} } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out p, in headers hdr) { apply { p.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
}

/** Sends by a table, counts and remembers. */
export const SWITCH: string = p4Program(
  't.apply(); seen.count((bit<32>) hdr.h.a); sums.write((bit<32>) hdr.h.a, hdr.h.a ++ hdr.h.b);',
  '',
  `counter(4, CounterType.packets_and_bytes) seen;
  register<bit<16>>(4) sums;
  action to(bit<9> port) { s.egress_spec = port; }
  action drop() { mark_to_drop(s); }
  table t { key = { hdr.h.a: exact; } actions = { to; drop; } default_action = drop(); size = 16; }`,
);
