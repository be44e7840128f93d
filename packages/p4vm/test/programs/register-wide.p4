// Registers of 48 and 4 bits: what is written is cut to the cell.
#include "include/base.p4"

header x_h {
    bit<48> mac;
    bit<8> small;
}
struct headers_t { x_h h; }
NO_METADATA

PARSE_PAIR
NO_VERIFY

INGRESS {
    register<bit<48>>(2) macs;
    register<bit<4>>(2) nibbles;
    apply {
        bit<48> last;
        bit<4> nibble;
        macs.read(last, 0);
        macs.write(0, hdr.h.mac);
        hdr.h.mac = last;
        nibbles.read(nibble, 1);
        nibbles.write(1, hdr.h.small[3:0]);
        hdr.h.small = (bit<8>) nibble;
        SM.egress_spec = 1;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
