/** Programs that use, between them, all of the grammar. */
export const PROGRAMS: Readonly<Record<string, string>> = {
  switch: `
#include <core.p4>
#define V1MODEL_VERSION 20200408
#include <v1model.p4>

#define ETHERTYPE_IPV4 16w0x0800
#define IS_IPV4(h) ((h).ipv4.isValid() && (h).ipv4.version == 4)

typedef bit<48> Mac;
type bit<32> Address;
const int DEPTH = 1 << 4;

enum bit<8> Protocol { ICMP = 1, TCP = 6, UDP = 0x11, }
enum Verdict { pass, drop }
error { BadVersion, BadLength }

@controller_header("packet_in")
header packet_in_header_t { bit<9> port; @padding bit<7> pad; }
header ethernet_t { Mac dst; Mac src; bit<16> type; }
header ipv4_t {
  bit<4> version;
  bit<4> ihl;
  bit<8> ttl;
  Protocol protocol;
  bit<16> checksum;
  Address src;
  Address dst;
  varbit<320> options;
}
header label_t { bit<20> label; bit<3> tc; bit<1> bos; bit<8> ttl; }
header_union l4_t { ethernet_t inner; label_t outer; }

struct headers_t { ethernet_t ethernet; label_t[4] labels; ipv4_t ipv4; l4_t l4; }
struct metadata_t { bit<16> hash; bool ok; tuple<bit<8>, bool> pair; @field_list(1, 2) bit<8> kept; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
  value_set<bit<16>>(4) types;
  bit<8> count = 0;
  state start {
    packet.extract(hdr.ethernet);
    transition select(hdr.ethernet.type, sm.ingress_port) {
      (ETHERTYPE_IPV4, _) : ipv4;
      (0x8847 &&& 0xfffe, 1 .. 9) : labels;
      (types, default) : accept;
      default : reject;
    }
  }
  state labels {
    packet.extract(hdr.labels.next);
    count = count + 1;
    transition select(hdr.labels.last.bos) { 0 : labels; 1 : ipv4; }
  }
  @name(".ip") state ipv4 {
    bit<8> first = packet.lookahead<bit<8>>();
    packet.extract(hdr.ipv4, (bit<32>) ((bit<16>) (first[3:0] - 5) << 5));
    verify(hdr.ipv4.version == 4, error.BadVersion);
    if (count > 3) { packet.advance(8); } else ;
    transition accept;
  }
}

control Check(inout headers_t hdr, inout metadata_t meta) {
  apply {
    verify_checksum(IS_IPV4(hdr), { hdr.ipv4.version, hdr.ipv4.ihl }, hdr.ipv4.checksum, HashAlgorithm.csum16);
  }
}

control Count<T>(in T key, out bit<32> n)(bit<32> size) {
  register<bit<32>, bit<32>>(size) cells;
  apply { cells.read(n, 0); n = n + 1; cells.write(0, n); }
}

bit<16> fold(in bit<32> x) {
  return x[31:16] ^ x[15:0];
}

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) {
  counter<bit<9>>(512, CounterType.packets_and_bytes) ports;
  direct_counter(CounterType.packets) hits;
  Count<bit<8>>(32w16) per_key;
  bit<32> n;
  action forward(Mac dst, bit<9> port) {
    hdr.ethernet.dst = dst;
    sm.egress_spec = port;
    hdr.ipv4.ttl = hdr.ipv4.ttl |-| 1;
  }
  action drop() { mark_to_drop(sm); exit; }
  @name("routes") @hidden
  table route {
    key = {
      hdr.ipv4.dst : lpm @name("dst");
      hdr.ipv4.isValid() : exact;
      sm.ingress_port : ternary;
      hdr.ipv4.ttl : range;
    }
    actions = { forward; @defaultonly drop; @tableonly NoAction(); }
    const default_action = drop();
    size = 1024;
    counters = hits;
    largest_priority_wins = false;
    entries = {
      const priority = 10 : (0x0a000000 &&& 0xff000000, true, _, 1 .. 64) : forward(0x1, 2) @name("ten");
      priority = (DEPTH - 1) : (default, true, 9w5, _) : drop;
    }
  }
  table other {
    key = { hdr.ethernet.type : exact; }
    actions = { NoAction; drop; }
    const entries = { 0x0800 : NoAction(); (0x0806) : drop(); (16w1 << 3) + 1 : drop; }
  }
  apply {
    switch (route.apply().action_run) {
      forward: { ports.count(sm.egress_spec); }
      drop:
      default: { meta.ok = false; }
    }
    if (!other.apply().hit) { return; }
    else if (meta.hash == 5 && meta.ok) meta.hash += 1;
    else { meta.hash = meta.hash > 7 ? 16w1 : fold(n); }
    switch (hdr.ipv4.protocol) {
      Protocol.TCP: { n = 1; }
      Protocol.UDP: { n = 2; }
    }
    for (bit<8> i = 0, bit<8> j = 1; i < 4; i += 1, j = j + i) {
      if (i == 2) continue;
      n |+|= (bit<32>) j;
    }
    @unroll for (bit<8> k in 1 .. 4) { n = n ^ (bit<32>) k; break; }
    for (label_t l in hdr.labels) n = n + (bit<32>) l.ttl;
    per_key.apply(8w1, n);
    meta.pair = { 1, true };
    hdr.ethernet = (ethernet_t) { dst = 1, src = 2, ... };
    hdr.labels[0] = {#};
    hdr.labels[1].label[7:0] = 8w3 ++ 0;
    n[4 +: 8] = 0;
    hash(meta.hash, HashAlgorithm.crc16, 16w0, { hdr.ipv4.src, hdr.ipv4.dst }, 16w1024);
    clone_preserving_field_list(CloneType.I2E, 100, 1);
    log_msg("n = {} \\"quoted\\"", { n });
  }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t sm) { apply { } }
control U(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), Check(), I(), E(), U(), D()) main;
`,

  language: `
extern E<T> {
  E();
  E(T value);
  abstract bit<8> next(in T x);
  T get<U>(in U u, in bit<8> index = 0);
}
extern bit<32> f<T>(in T x);
extern void g(@optional in bit<8> x);
extern Later;
struct Pair<A, B> { A first; B second; }
struct S { bit<8> a; int<8> b; }
header H<T> { T x; }
typedef Pair<bit<8>, Pair<bit<16>, bool>> Nested;
typedef struct In { bit<8> x; } Alias;
typedef bit<8>[4] Bytes;
match_kind { near, far, }
const list<S> many = { { 1, 2 }, { a = 3, b = -4 } };
const bool compared = 1 < 2 == 3 > 2;
const bit<(4 + 4)> wide = (4 > 3) ? 8w1 : 8w2;
const bit<8> chosen = true ? false ? 1 : 2 : 3;
const string words = "one" ++ "two";
const S rest = { a = 1, ... };
const S all = ...;
@structured[a = 1, b = "two"] @also[1, 2 + 3] @bare @anything(for $ 1 # { [ "x" (y) x)
action top(inout bit<8> x, @optional bit<8> y) { x = y; }
control Inner(inout bit<8> x);
parser Only<T>(packet p, out T t);
package Top<A, B>(Inner first, @optional Inner second = none);
void nothing<T>(in T t) { }
control Outer(inout bit<8> x, in bool apply, in bit<8> key, in bit<8> type, in bit<8> priority) {
  E<bit<8>>() e = {
    bit<8> next(in bit<8> v) { return v + this.get<bit<8>>(1); }
    E<bit<8>>(3) helper;
  };
  Nested n = { 1, { 2, true } };
  Bytes bytes;
  bit<8> list = 1;
  table t {
    actions = { .top(x); }
    default_action = .top(x, 1);
    key = { x : near; }
  }
  apply {
    bit<8>[2][3] grid;
    grid[0][1] = (bit<8>) -x + ~x * (bit<8>) (int<8>) x;
    x = f<Pair<bit<8>, bit<8>>>({ 1, 2 })[7:0] >> 1 << 2;
    x = key + type - priority + list;
    nothing<_>(x);
    nothing(_);
    g(x = 3);
    (x) = x;
    if (x < key && type > (3)) { x = .compared ? 1 : 0; }
    if (apply) if (!apply) ; else x <<= 1;
    x >>= 1; x *= 2; x /= 2; x %= 2; x -= 1; x &= 1; x |= 1; x ^= 1; x |-|= 1;
    S s = { b = 1, a = 2 };
    s = (S) { 1, 2 };
    Pair<bit<8>, bool> p = (Pair<bit<8>, bool>) { 1, true };
    @inner { const bit<8> c = 1; }
    t.apply();
    Inner.apply(x);
    x = E<bit<8>>(3).next(x);
    switch (x) { 1: 2: { } (bit<8>) 3: { return; } default: { exit; } }
    for (;true;) { break; }
    for (x = 0; x < 4; x = x + 1, g(x)) continue;
    for (x in bytes) { }
  }
}
@pragma one two 3
@pragma other
Top(Inner(), second = Inner()) main;
`,
};
