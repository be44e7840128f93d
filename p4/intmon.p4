// A switch for INT over UDP with the IntMon header. Its tables make it source, transit and sink.
#include <core.p4>
#include <v1model.p4>

#include "intmon/headers.p4"
#include "intmon/parser.p4"
#include "intmon/ingress.p4"
#include "intmon/egress.p4"
#include "intmon/deparser.p4"

// Checksums are updated after changes and never recomputed, so that a wrong checksum stays wrong.
control IntmonVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control IntmonComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@pkginfo(name = "intmon.p4", version = "1")
@brief("INT over UDP with the IntMon header")
V1Switch(
    IntmonParser(), IntmonVerifyChecksum(), IntmonIngress(), IntmonEgress(), IntmonComputeChecksum(),
    IntmonDeparser()) main;
