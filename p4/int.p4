// A switch for In-band Network Telemetry, version 2.1. Its tables make it source, transit and sink.
#include <core.p4>
#include <v1model.p4>

#include "int/headers.p4"
#include "int/parser.p4"
#include "int/ingress.p4"
#include "int/egress.p4"
#include "int/deparser.p4"

// Checksums are updated after changes and never recomputed, so that a wrong checksum stays wrong.
control IntVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control IntComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@pkginfo(name = "int.p4", version = "1")
@brief("A switch for In-band Network Telemetry 2.1: INT source, transit and INT sink")
V1Switch(
    IntParser(), IntVerifyChecksum(), IntIngress(), IntEgress(), IntComputeChecksum(), IntDeparser()) main;
