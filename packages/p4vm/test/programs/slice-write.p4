// A write to a slice leaves the other bits as they are; so does one to a slice of a slice.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.d.x[11:4] = 0xab;
        hdr.d.y[31:31] = 1;
        hdr.d.y[0:0] = 0;
        hdr.d.z[15:0] = hdr.d.z[31:16];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
