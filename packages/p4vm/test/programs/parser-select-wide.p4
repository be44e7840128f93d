// select on 48 and on 128 bits, by value and by mask.
#include "include/base.p4"

header data_h { bit<48> x; bit<128> y; }
struct headers_t { data_h d; }
struct metadata_t { bit<9> port; }

PARSER {
    state start {
        packet.extract(hdr.d);
        transition select(hdr.d.x, hdr.d.y) {
            (0x0180c200000e, _): one;
            (_, 0x20010db8 << 96 &&& 0xffffffff << 96): two;
            default: three;
        }
    }
    state one { meta.port = 1; transition accept; }
    state two { meta.port = 2; transition accept; }
    state three { meta.port = 3; transition accept; }
}
NO_VERIFY

INGRESS {
    apply { SM.egress_spec = meta.port; }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
