// A small switch for tests of the controller: paths before routes, a table with meters, groups of next hops.
#include <core.p4>
#include <v1model.p4>

header ipv4_t { bit<32> source; bit<32> destination; bit<8> ttl; }
struct headers { ipv4_t ipv4; }
struct metadata { }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
  state start { packet.extract(hdr.ipv4); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
  direct_meter<bit<2>>(MeterType.bytes) rate;
  action_selector(HashAlgorithm.crc16, 32, 14) members;
  bit<2> color;

  action drop() { mark_to_drop(standard); }
  action send(bit<9> port) { standard.egress_spec = port; }
  action limit() { rate.read(color); }
  action report(bit<32> session) { clone(CloneType.I2E, session); }

  table access {
    key = { hdr.ipv4.source: ternary @name("source"); }
    actions = { limit; drop; NoAction; }
    meters = rate;
    size = 16;
    default_action = NoAction();
  }
  table paths {
    key = { hdr.ipv4.source: ternary @name("source"); hdr.ipv4.destination: ternary @name("destination"); }
    actions = { send; NoAction; }
    size = 8;
    default_action = NoAction();
  }
  table routes {
    key = { hdr.ipv4.destination: lpm @name("destination"); }
    actions = { send; drop; }
    size = 64;
    default_action = drop();
  }
  table ways {
    key = { hdr.ipv4.ttl: exact @name("group"); hdr.ipv4.source: selector; }
    actions = { send; drop; }
    implementation = members;
    size = 16;
  }
  table reports {
    actions = { report; NoAction; }
    default_action = NoAction();
  }
  apply {
    access.apply();
    reports.apply();
    switch (paths.apply().action_run) { send: { } default: { routes.apply(); } }
    ways.apply();
  }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.ipv4); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
