/** The switch of the benchmark: one table that routes by prefix or address. */
export const SOURCE = `
#include <core.p4>
#include <v1model.p4>
header frame_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t { bit<128> before; bit<32> dst; }
struct headers_t { frame_t frame; ipv4_t ipv4; }
struct metadata_t { }
parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    state start { packet.extract(hdr.frame); packet.extract(hdr.ipv4); transition accept; }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    action drop() { mark_to_drop(standard); }
    action route(bit<9> port, bit<48> next) { standard.egress_spec = port; hdr.frame.dst = next; }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { route; drop; }
        default_action = route(1, 1);
        size = 262144;
    }
    apply { routes.apply(); }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.frame); packet.emit(hdr.ipv4); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
`;

export const DEVICE_CONFIG = new TextEncoder().encode(SOURCE);
