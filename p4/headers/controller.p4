// Headers of packets to and from a controller, in front of the packet on the port of the control plane.
#ifndef INT_HEADERS_CONTROLLER_P4
#define INT_HEADERS_CONTROLLER_P4

// The port of the control plane: `int p4 serve --cpu-port`, `simple_switch_grpc --cpu-port`.
#ifndef CPU_PORT
#define CPU_PORT 510
#endif

// Reasons of packets to the controller that no entry gives: a report or a copy, whose mirror session leads to the port.
#define REASON_REPORT 127

@controller_header("packet_in")
header packet_in_t {
    // The port by which the packet came in.
    bit<9> ingress_port;
    // That of the entry which sent it, or REASON_REPORT.
    bit<7> reason;
}

@controller_header("packet_out")
header packet_out_t {
    bit<9> egress_port;
    // The tables choose the port: `egress_port` has no meaning.
    bit<1> by_tables;
    @padding
    bit<6> padding;
}

// What a packet_out header says, as metadata: the header itself goes at once, so that clones and tables see packets without it.
#define PACKET_OUT(h) (h.by_tables ++ 1w1 ++ 5w0 ++ h.egress_port)
const bit<16> PACKET_OUT_NONE = 0;
// A packet of the controller that leaves by the port it names.
#define IS_PACKET_OUT_DIRECT(value) (value & 0xc000 == 0x4000)

#endif
