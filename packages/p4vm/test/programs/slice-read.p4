// Slices of a field are numbers of their own: parts of a byte, across bytes, of a slice, of an expression.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<32> x = hdr.d.x;
        hdr.d.y[31:16] = x[19:4];
        hdr.d.y[15:8] = x[31:8][15:8];
        hdr.d.y[7:0] = (x + 1)[7:0];
        hdr.d.z = (bit<32>) x[31:31] + (bit<32>) x[0:0] + (bit<32>) x[27:24];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
