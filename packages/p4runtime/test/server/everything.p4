// A table of every kind, and every object that P4Runtime knows. Packets: an opcode chooses what happens.
#include <core.p4>
#include <v1model.p4>

typedef bit<9> port_t;
const port_t CPU_PORT = 510;

@controller_header("packet_in")
header packet_in_t { bit<9> ingress_port; bit<7> reason; }

@controller_header("packet_out")
header packet_out_t { bit<9> egress_port; bit<6> padding; bit<1> is_direct; }

header frame_t { bit<48> dst; bit<48> src; bit<16> type; }
header body_t { bit<8> opcode; bit<8> small; bit<16> medium; bit<32> large; bit<128> huge; }

enum bit<8> kind_t { NONE = 0, SOME = 7, ALL = 255 }

struct headers_t { packet_in_t packet_in; packet_out_t packet_out; frame_t frame; body_t body; }
struct metadata_t { bit<16> group; bit<2> color; }
struct learned_t { bit<48> station; bit<9> port; bit<16> type; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    value_set<bit<16>>(4) types;
    state start {
        transition select(standard.ingress_port) { CPU_PORT: from_cpu; default: frame; }
    }
    state from_cpu { packet.extract(hdr.packet_out); transition frame; }
    state frame {
        packet.extract(hdr.frame);
        transition select(hdr.frame.type) { 0x1234: body; types: body; default: accept; }
    }
    state body { packet.extract(hdr.body); transition accept; }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    direct_counter(CounterType.packets_and_bytes) exact_counter;
    direct_meter<bit<2>>(MeterType.packets) exact_meter;
    counter(64, CounterType.packets_and_bytes) ports;
    meter(32, MeterType.bytes) rates;
    register<bit<48>>(16) cells;
    register<int<16>>(8) signed_cells;
    register<bool>(4) flags;
    action_profile(16) members;
    action_selector(HashAlgorithm.crc32, 64, 16) selector;

    action drop() { mark_to_drop(standard); }
    action forward(port_t port) { standard.egress_spec = port; }
    action rewrite(port_t port, bit<48> dst, bit<128> huge) {
        standard.egress_spec = port;
        hdr.frame.dst = dst;
        hdr.body.huge = huge;
    }
    action to_cpu(bit<7> reason) {
        standard.egress_spec = CPU_PORT;
        hdr.packet_in.setValid();
        hdr.packet_in.ingress_port = standard.ingress_port;
        hdr.packet_in.reason = reason;
    }
    action flood(bit<16> group) { standard.mcast_grp = group; }
    action copy(bit<32> session) { clone(CloneType.I2E, session); }
    action learn() { digest<learned_t>(1, { hdr.frame.src, standard.ingress_port, hdr.frame.type }); }
    @defaultonly action only_default() { }
    @tableonly action only_entry() { }

    table stations {
        key = { hdr.frame.dst: exact; }
        actions = { forward; rewrite; drop; to_cpu; flood; @defaultonly only_default; @tableonly only_entry; NoAction; }
        default_action = drop();
        size = 1024;
        counters = exact_counter;
        meters = exact_meter;
        support_timeout = true;
    }
    table routes {
        key = { hdr.body.large: lpm; }
        actions = { forward; drop; NoAction; }
        const default_action = NoAction();
        size = 512;
    }
    table rules {
        key = { hdr.body.opcode: exact; hdr.body.medium: ternary; hdr.body.small: range; hdr.body.huge: optional; hdr.body.large: lpm; }
        actions = { forward; drop; learn; copy; to_cpu; NoAction; }
        default_action = NoAction();
        size = 256;
        support_timeout = true;
    }
    table fixed {
        key = { hdr.body.opcode: ternary; }
        actions = { drop; forward; NoAction; }
        const entries = {
            0xf0 &&& 0xf0: drop();
            0x0f: forward(3);
            _: NoAction();
        }
    }
    table initial {
        key = { hdr.body.small: exact; }
        actions = { drop; forward; NoAction; }
        size = 16;
        entries = {
            const 1: drop();
            2: forward(2);
        }
    }
    table indirect {
        key = { hdr.body.medium: exact; }
        actions = { forward; drop; NoAction; }
        implementation = members;
        size = 128;
    }
    table balanced {
        key = { hdr.body.large: exact; hdr.frame.src: selector; hdr.body.medium: selector; }
        actions = { forward; drop; NoAction; }
        implementation = selector;
        size = 128;
    }
    table keyless {
        actions = { forward; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.packet_out.isValid()) {
            bit<1> direct = hdr.packet_out.is_direct;
            port_t out_port = hdr.packet_out.egress_port;
            hdr.packet_out.setInvalid();
            if (direct == 1) {
                standard.egress_spec = out_port;
                return;
            }
        }
        ports.count((bit<32>)standard.ingress_port);
        rates.execute_meter((bit<32>)standard.ingress_port, meta.color);
        keyless.apply();
        stations.apply();
        if (hdr.body.isValid()) {
            exact_meter.read(meta.color);
            cells.write(0, hdr.frame.src);
            signed_cells.write(0, (int<16>)hdr.body.medium);
            flags.write(0, true);
            if (hdr.body.opcode == 1) { routes.apply(); }
            else if (hdr.body.opcode == 2) { indirect.apply(); }
            else if (hdr.body.opcode == 3) { balanced.apply(); }
            else if (hdr.body.opcode == 4) { initial.apply(); }
            else if (hdr.body.opcode == 5) { hdr.body.small = (bit<8>)meta.color; }
            else { rules.apply(); }
            if (hdr.body.opcode > 200) { fixed.apply(); }
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard) {
    apply {
        if (standard.instance_type == 1 && standard.egress_port == CPU_PORT) {
            hdr.packet_in.setValid();
            hdr.packet_in.ingress_port = 0;
            hdr.packet_in.reason = (bit<7>)standard.egress_rid;
        }
    }
}
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.frame);
        packet.emit(hdr.body);
    }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
