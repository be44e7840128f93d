// A write to a slice of a signed number sets its sign.
// p4c does not compile it for simple_switch.
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
        s[31:24] = 0x80;
        hdr.d.y = 0;
        if (s < 0) hdr.d.y = (bit<32>) (s >> 4);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
