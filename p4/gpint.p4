// A switch for GPINT probes. It makes the requested measurements, confirms probes to the previous switch, and keeps a
// clone of each until the next switch confirms it.
#include <core.p4>
#include <v1model.p4>

#include "gpint/headers.p4"
#include "gpint/parser.p4"
#include "gpint/registers.p4"
#include "gpint/clones.p4"
#include "gpint/measurements.p4"
#include "gpint/ingress.p4"
#include "gpint/egress.p4"
#include "gpint/deparser.p4"

control GpintVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

@pkginfo(name = "gpint.p4", version = "1")
@brief("Source-routed GPINT probes")
V1Switch(
    GpintParser(), GpintVerifyChecksum(), GpintIngress(), GpintEgress(), GpintComputeChecksum(), GpintDeparser()) main;
