// Slices of 128 bits, read and written across the borders of words.
#include "include/base.p4"

header data_h { bit<128> x; bit<16> part; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.d.part = (bit<16>) hdr.d.x[70:59];
        hdr.d.x[69:30] = hdr.d.x[127:88];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
