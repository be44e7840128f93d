// Numbers in every base, with widths and signs, and underscores in them.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.d.x = 0x1_0000 + 0b1010_1010 + 0o17 + 1_000 + 0d9;
        hdr.d.y = 32w0xFF_00 | 32w0b11;
        hdr.d.z = (bit<32>) (int<32>) (-8s1) + (bit<32>) 4w15;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
