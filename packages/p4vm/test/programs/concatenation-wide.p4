// ++ to numbers wider than a word, and back by slices.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<96> all = hdr.d.x ++ hdr.d.y ++ hdr.d.z;
        all = all << 4;
        hdr.d.x = all[95:64];
        hdr.d.y = all[63:32];
        hdr.d.z = all[31:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
