// A checksum changed for one word alone, by the arithmetic of ones' complement.
#include "include/base.p4"

header data_h { bit<16> sum; bit<16> word; bit<16> other; }
struct headers_t { data_h d; }
NO_METADATA

PARSER { state start { packet.extract(hdr.d); transition accept; } }
NO_VERIFY

INGRESS {
    action fold(in bit<32> x, out bit<16> sum) {
        bit<32> y = (x & 0xffff) + (x >> 16);
        y = (y & 0xffff) + (y >> 16);
        sum = y[15:0];
    }
    apply {
        SM.egress_spec = 1;
        bit<16> next = hdr.d.word + 0x1111;
        bit<16> sum;
        fold((bit<32>) ~hdr.d.sum + (bit<32>) ~hdr.d.word + (bit<32>) next, sum);
        hdr.d.sum = ~sum;
        hdr.d.word = next;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
