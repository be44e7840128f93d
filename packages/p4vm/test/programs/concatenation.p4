// ++ joins bits, the left operand on top; of signed numbers the result is signed.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<4> high = hdr.d.x[31:28];
        bit<12> middle = hdr.d.x[23:12];
        hdr.d.y = high ++ middle ++ hdr.d.x[15:0];
        int<16> s = (int<8>) hdr.d.z[7:0] ++ (int<8>) hdr.d.z[15:8];
        hdr.d.z = (bit<32>) (int<32>) s;
        hdr.d.x = 8w0x11 ++ (8w1 ++ 16w2);
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
