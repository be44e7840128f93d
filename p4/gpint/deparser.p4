#ifndef INT_GPINT_DEPARSER_P4
#define INT_GPINT_DEPARSER_P4

#include "headers.p4"

control GpintComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(
            meta.is_rewritten == 1,
            {
                hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.dscp, hdr.ipv4.ecn, hdr.ipv4.total_length,
                hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol,
                hdr.ipv4.source, hdr.ipv4.destination
            },
            hdr.ipv4.checksum,
            HashAlgorithm.csum16);
    }
}

// The SR entry at the top is the switch's own: never emitted.
control GpintDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.udp);
        packet.emit(hdr.request);
        packet.emit(hdr.route_count);
        packet.emit(hdr.routes);
        packet.emit(hdr.visit_count);
        packet.emit(hdr.visits);
        packet.emit(hdr.visit_plain);
        packet.emit(hdr.visit_extended);
        packet.emit(hdr.measurement_count);
        packet.emit(hdr.measurements);
        packet.emit(hdr.body);
        packet.emit(hdr.appended);
    }
}

#endif
