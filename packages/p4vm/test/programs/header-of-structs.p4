// A header may hold structs; their fields follow one another.
#include "include/base.p4"

struct point_t { bit<8> x; bit<8> y; }

header line_h { point_t from; point_t to; bit<8> n; }
struct headers_t { line_h s; }
NO_METADATA

PARSER { state start { packet.extract(hdr.s); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        point_t p = hdr.s.to;
        hdr.s.to = hdr.s.from;
        hdr.s.from = p;
        hdr.s.to.y = hdr.s.n;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
