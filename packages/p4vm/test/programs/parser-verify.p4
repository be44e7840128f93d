// verify with an error of the program: parsing ends there, ingress sees the error.
#include "include/base.p4"

error { TooBig, TooSmall }
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
        verify(hdr.h.a < 0x80, error.TooBig);
        verify(hdr.h.a > 2, error.TooSmall);
        packet.extract(hdr.more);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.status.setValid();
        hdr.status.code = 0;
        if (SM.parser_error == error.TooBig) hdr.status.code = 0xb1;
        if (SM.parser_error == error.TooSmall) hdr.status.code = 0x51;
        if (hdr.more.isValid()) hdr.more.a = 0xff;
    }
}
NO_EGRESS
NO_COMPUTE
EMIT_ALL
SWITCH
