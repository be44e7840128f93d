// Constants of the program: of any size in their expressions, typed where they are used.
#include "include/base.p4"

const int BIG = 717897987691852588770249; // 3 to the power of 50
const int<8> SMALL = -5;

header data_h { bit<32> x; bit<32> y; bit<32> z; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    const bit<8> LOCAL = (bit<8>) (BIG >> 60) + 1;
    apply {
        SM.egress_spec = 1;
        hdr.d.x = (bit<32>) (BIG >> 32 & 0xffffffff);
        hdr.d.y = BIG % 1000 + 32w1;
        hdr.d.z = (bit<32>) LOCAL + (SMALL < 0 ? 32w0x100 : 0) + (bit<32>) (bit<8>) SMALL;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
