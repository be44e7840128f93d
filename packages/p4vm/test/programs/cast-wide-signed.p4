// A signed number of 8 bits made one of 64, cut and shifted.
#include "include/base.p4"

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        int<8> small = (int<8>) hdr.d.x[7:0];
        int<64> wide = (int<64>) small;
        bit<64> bits = (bit<64>) (wide * 3 - 1);
        hdr.d.y = bits[63:32];
        hdr.d.z = bits[31:0];
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
