// A header with options of any length, up to the limit of its type.
#include "include/base.p4"

header code_h { bit<8> code; }
header options_h {
    bit<8> length;
    varbit<32> data;
}
struct headers_t {
    code_h status;
    pair_h h;
    options_h o;
    pair_h tail;
}
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.o, (bit<32>) hdr.h.a << 3);
        packet.extract(hdr.tail);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.status.setValid();
        if (SM.parser_error == error.NoError) hdr.status.code = 0;
        else if (SM.parser_error == error.HeaderTooShort) hdr.status.code = 4;
        else if (SM.parser_error == error.PacketTooShort) hdr.status.code = 1;
        else hdr.status.code = 0xff;
        if (hdr.tail.isValid()) hdr.tail.b = 0xee;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
