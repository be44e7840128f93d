// A cast to fewer bits cuts at the top; to more bits it fills with 0, or with the sign.
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
        hdr.d.y = (bit<32>) (bit<8>) x;
        hdr.d.z = (bit<32>) (int<32>) (int<8>) (bit<8>) x;
        hdr.d.x = (bit<32>) (bit<64>) (int<64>) (int<32>) x;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
