#ifndef INT_INTMON_DEPARSER_P4
#define INT_INTMON_DEPARSER_P4

#include "headers.p4"

control IntmonDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.udp);
        packet.emit(hdr.intmon);
        packet.emit(hdr.own);
        packet.emit(hdr.words);
    }
}

#endif
