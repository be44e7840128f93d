// verify_checksum sets checksum_error; update_checksum writes the checksum of the header as it leaves.
#include "include/base.p4"

header ip_h {
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> address;
}
struct headers_t { ip_h h; }
NO_METADATA

PARSE_PAIR
VERIFY {
    apply {
        verify_checksum(true, { hdr.h.ttl, hdr.h.protocol, hdr.h.address }, hdr.h.checksum, HashAlgorithm.csum16);
    }
}

INGRESS {
    apply {
        SM.egress_spec = 1;
        if (SM.checksum_error == 1) SM.egress_spec = 2;
        hdr.h.ttl = hdr.h.ttl - 1;
    }
}
NO_EGRESS
COMPUTE {
    apply {
        update_checksum(true, { hdr.h.ttl, hdr.h.protocol, hdr.h.address }, hdr.h.checksum, HashAlgorithm.csum16);
    }
}
EMIT_ALL
SWITCH
