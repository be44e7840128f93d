#ifndef INT_INT_DEPARSER_P4
#define INT_INT_DEPARSER_P4

#include "headers.p4"

control IntDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.packet_in);
#ifdef INT_EXTRA_EMITS
        INT_EXTRA_EMITS
#endif
        packet.emit(hdr.report_ethernet);
        packet.emit(hdr.report_ipv4);
        packet.emit(hdr.report_udp);
        packet.emit(hdr.report_group);
        packet.emit(hdr.report_individual);
        packet.emit(hdr.report_main);
        packet.emit(hdr.report_interfaces);
        packet.emit(hdr.report_hop_latency);
        packet.emit(hdr.report_queue);
        packet.emit(hdr.report_ingress_time);
        packet.emit(hdr.report_egress_time);
        packet.emit(hdr.report_level2_interfaces);
        packet.emit(hdr.report_utilization);
        packet.emit(hdr.report_drop);
        packet.emit(hdr.report_rule);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.tcp);
        packet.emit(hdr.tcp_options);
        packet.emit(hdr.udp);
        packet.emit(hdr.shim);
        packet.emit(hdr.md);
        packet.emit(hdr.mx);
        packet.emit(hdr.own_node_id);
        packet.emit(hdr.own_interfaces);
        packet.emit(hdr.own_hop_latency);
        packet.emit(hdr.own_queue);
        packet.emit(hdr.own_ingress_time);
        packet.emit(hdr.own_egress_time);
        packet.emit(hdr.own_level2_interfaces);
        packet.emit(hdr.own_utilization);
        packet.emit(hdr.own_buffer);
        packet.emit(hdr.own_ones_1);
        packet.emit(hdr.own_ones_2);
        packet.emit(hdr.own_ones_4);
        packet.emit(hdr.own_ones_8);
        packet.emit(hdr.own_ones_16);
        packet.emit(hdr.own_complement);
        packet.emit(hdr.words);
        packet.emit(hdr.stack);
        packet.emit(hdr.inner_tcp);
        packet.emit(hdr.inner_tcp_options);
        packet.emit(hdr.inner_udp);
        packet.emit(hdr.inner_ports);
    }
}

#endif
