// A struct of headers is emitted in the order of its fields, stacks from the first element, only what is valid.
#include "include/base.p4"

header item_h { bit<8> value; }
struct inner_t { pair_h k; item_h[3] items; }
struct headers_t { inner_t inner; pair_h h; }
NO_METADATA

PARSER {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.inner.items.next);
        packet.extract(hdr.inner.items.next);
        packet.extract(hdr.inner.items.next);
        transition accept;
    }
}
NO_VERIFY

INGRESS {
    apply {
        SM.egress_spec = 1;
        hdr.inner.items[1].setInvalid();
        hdr.inner.k.setValid();
        hdr.inner.k = { 8w0xaa, 8w0xbb };
    }
}
NO_EGRESS
NO_COMPUTE
DEPARSER { apply { packet.emit(hdr.inner); packet.emit(hdr.h); } }
SWITCH
