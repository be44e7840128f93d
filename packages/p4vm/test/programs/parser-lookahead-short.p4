// lookahead beyond the end of the packet is PacketTooShort.
#include "include/base.p4"

header code_h { bit<8> code; }
struct headers_t {
    code_h status;
    pair_h h;
}
struct metadata_t {
    bit<32> ahead;
}

PARSER {
    state start {
        packet.extract(hdr.h);
        meta.ahead = packet.lookahead<bit<32>>();
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.status.setValid();
        if (SM.parser_error == error.NoError) hdr.status.code = 0;
        else if (SM.parser_error == error.PacketTooShort) hdr.status.code = 1;
        else if (SM.parser_error == error.StackOutOfBounds) hdr.status.code = 3;
        else if (SM.parser_error == error.HeaderTooShort) hdr.status.code = 4;
        else hdr.status.code = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
