// reject ends the parser; the packet goes on to ingress without an error, what was not parsed is payload.
#include "include/base.p4"

header code_h { bit<8> code; }
struct headers_t {
    code_h status;
    pair_h h;
    pair_h more;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            1: reject;
            default: rest;
        }
    }
    state rest {
        packet.extract(hdr.more);
        hdr.more.b = 0xee;
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
