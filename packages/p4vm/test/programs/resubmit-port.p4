// A resubmitted packet reads ingress_port 0, in the parser too.
#include "include/base.p4"

PAIR_HEADERS
struct metadata_t {
    bit<8> parsed;
}

PARSER {
    state start {
        meta.parsed = (bit<8>) SM.ingress_port;
        packet.extract(hdr.h);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 2;
        if (SM.instance_type == 0 && hdr.h.a == 1) resubmit_preserving_field_list(0);
        hdr.h.a = meta.parsed;
        hdr.h.b = (bit<8>) SM.ingress_port;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
