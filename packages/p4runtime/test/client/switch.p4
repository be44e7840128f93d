// A switch with every kind of entity, for tests of the client.
#include <core.p4>
#include <v1model.p4>

@p4runtime_translation("int.test/port", 9)
type bit<9> port_t;
enum bit<8> kind_t { PLAIN = 1, MARKED = 2 }

header ethernet_t { bit<48> destination; bit<48> source; bit<16> type; }
header ipv4_t { bit<32> source; bit<32> destination; bit<8> protocol; bit<16> port; kind_t kind; }
@controller_header("packet_in") header to_cpu_t { bit<9> ingress_port; @padding bit<7> pad; }
@controller_header("packet_out") header from_cpu_t { bit<9> egress_port; @padding bit<7> pad; }
struct learned_t { bit<48> source; bit<9> port; int<8> change; bool is_new; }
struct headers { from_cpu_t from_cpu; to_cpu_t to_cpu; ethernet_t ethernet; ipv4_t ipv4; }
struct metadata { bit<1> is_out; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t standard) {
  value_set<bit<16>>(4) types;
  state start {
    transition select(standard.ingress_port) { 510: out_of_cpu; default: ethernet; }
  }
  state out_of_cpu { packet.extract(hdr.from_cpu); meta.is_out = 1; transition ethernet; }
  state ethernet {
    packet.extract(hdr.ethernet);
    transition select(hdr.ethernet.type) { types: ipv4; 0x800: ipv4; default: accept; }
  }
  state ipv4 { packet.extract(hdr.ipv4); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
  counter(8, CounterType.packets_and_bytes) ports;
  meter(4, MeterType.packets) rates;
  register<bit<32>>(16) cells;
  register<int<16>>(2) signed;
  direct_counter(CounterType.packets) hits;
  action_selector(HashAlgorithm.crc16, 32, 14) ways;
  action_selector(HashAlgorithm.crc16, 32, 14) shares;

  action drop() { mark_to_drop(standard); }
  action send(@id(3) port_t port) { standard.egress_spec = (bit<9>) port; }
  action send_counted(bit<9> port, bit<32> cell) { hits.count(); standard.egress_spec = port; cells.write(cell & 15, cell); }
  action punt() { standard.egress_spec = 510; }
  action learn() { digest(1, (learned_t) { source = hdr.ethernet.source, port = standard.ingress_port, change = -3, is_new = true }); }

  table stations {
    key = { hdr.ethernet.destination: exact; }
    actions = { send; punt; drop; }
    default_action = drop();
    size = 2000;
  }
  table known {
    key = { hdr.ethernet.source: exact; }
    actions = { learn; NoAction; }
    default_action = learn();
    support_timeout = true;
  }
  @brief("Every kind of match")
  table rules {
    key = {
      hdr.ipv4.source: ternary @name("source_address");
      hdr.ipv4.port: range @name("port");
      hdr.ipv4.protocol: optional @name("protocol");
      hdr.ipv4.kind: ternary @name("kind");
    }
    actions = { send_counted; drop; NoAction; }
    default_action = NoAction();
    counters = hits;
  }
  table routes {
    key = { hdr.ipv4.destination: lpm; hdr.ipv4.source: selector; }
    actions = { send; drop; }
    implementation = ways;
  }
  table spread {
    key = { hdr.ipv4.destination: lpm; hdr.ipv4.source: selector; }
    actions = { send; drop; }
    implementation = shares;
  }
  apply {
    ports.count((bit<32>) standard.ingress_port & 7);
    if (meta.is_out == 1) {
      standard.egress_spec = hdr.from_cpu.egress_port;
      hdr.from_cpu.setInvalid();
    } else {
      known.apply();
      stations.apply();
      if (hdr.ipv4.isValid()) { rules.apply(); routes.apply(); spread.apply(); }
    }
  }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t standard) {
  apply { if (standard.egress_port == 510) { hdr.to_cpu.setValid(); hdr.to_cpu.ingress_port = standard.ingress_port; hdr.to_cpu.pad = 0; } }
}
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.to_cpu); packet.emit(hdr.ethernet); packet.emit(hdr.ipv4); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
