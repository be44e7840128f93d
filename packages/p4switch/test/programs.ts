/** A program with header `h`, for tests: `a` and `b`, a byte each, then `x` and `y`, 32 bits each. */
export function programOf(ingress: string, egress = '', declarations = ''): string {
  return `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<32> x; bit<32> y; }
struct headers { h_t h; }
struct metadata { }
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t s) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t s) { ${declarations} apply { ${ingress} } }
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t s) { apply { ${egress} } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;
}

/** Forwards to the port in `a`. */
export const TO_A = 's.egress_spec = (bit<9>) hdr.h.a;';

/** A frame: `a`, `b`, then zeros. */
export function frame(a: number, b = 0, length = 60): Uint8Array {
  const bytes = new Uint8Array(length);
  bytes.set([a, b]);
  return bytes;
}
