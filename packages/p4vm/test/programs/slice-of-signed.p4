// A slice of a signed number is unsigned, its top bit included.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        int<32> s = (int<32>) hdr.d.x;
        hdr.d.y = (bit<32>) s[31:24];
        hdr.d.z = (bit<32>) (s >> 4)[31:0] + (bit<32>) (-s)[3:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
