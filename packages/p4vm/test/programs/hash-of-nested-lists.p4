// A list within the list of a hash counts element by element.
// simple_switch does not load it.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }

struct headers_t { pair_h h; pair_h k; pair_h l; }
NO_METADATA

PARSER { state start { packet.extract(hdr.h); packet.extract(hdr.k); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        point_t p = { hdr.h.b, hdr.h.a };
        bit<32> r;
        hash(r, HashAlgorithm.crc32, 32w0, { p.x, p.y, { hdr.k.a, 8w0x55 }, hdr.h.a }, 64w0x100000000);
        hdr.h.a = r[31:24];
        hdr.h.b = r[23:16];
        hdr.k.a = r[15:8];
        hdr.k.b = r[7:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
