/** A program around the bodies of ingress and egress: a header of two bytes, `hdr.h.a` and `hdr.h.b`. */
export function programOf(ingress: string, egress: string, declarations = ''): string {
  return `
#include <core.p4>
#include <v1model.p4>
header h_t { bit<8> a; bit<8> b; bit<32> x; bit<32> y; }
struct headers { h_t h; }
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
}
