// The errors of the parser, each by what makes it.
#include "include/base.p4"

error { Own }

header item_h { bit<8> value; }
header options_h { varbit<16> data; }
struct headers_t {
    pair_h h;
    item_h[1] items;
    options_h o;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        transition select(hdr.h.a) {
            1: short;
            2: stack;
            3: long;
            4: own;
            default: accept;
        }
    }
    state short { packet.advance(24); transition accept; }
    state stack {
        packet.extract(hdr.items.next);
        packet.extract(hdr.items.next);
        transition accept;
    }
    state long { packet.extract(hdr.o, 24); transition accept; }
    state own { verify(false, error.Own); transition accept; }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        bit<8> e = 0xff;
        if (SM.parser_error == error.NoError) e = 0;
        else if (SM.parser_error == error.PacketTooShort) e = 1;
        else if (SM.parser_error == error.StackOutOfBounds) e = 2;
        else if (SM.parser_error == error.HeaderTooShort) e = 3;
        else if (SM.parser_error == error.Own) e = 4;
        hdr.h.b = e;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
