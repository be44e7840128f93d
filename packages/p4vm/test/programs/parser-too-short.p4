// A header beyond the end of the packet: PacketTooShort; the packet goes on to ingress with what was parsed before.
#include "include/base.p4"

header code_h { bit<8> code; }
struct headers_t {
    code_h status;
    pair_h first;
    pair_h second;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.first);
        packet.extract(hdr.second);
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
