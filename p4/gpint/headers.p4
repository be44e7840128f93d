#ifndef INT_GPINT_HEADERS_P4
#define INT_GPINT_HEADERS_P4

#include "../headers/network.p4"
#include "../headers/gpint.p4"

// The port whose queue leads back to the parser. Nothing is attached to it.
const port_t RECIRCULATION_PORT = 510;

// The mirror session of all clones; its port is RECIRCULATION_PORT.
const bit<32> CLONE_SESSION = 1;

// The metadata that packets keep through resubmission, recirculation and cloning.
#define KEPT_METADATA 1

// The stage of a packet in the switch. Work that v1model cannot do in one pass takes several.
const bit<8> STAGE_ARRIVAL = 0;     // from a link: probes are checked
const bit<8> STAGE_PLAIN = 1;       // forwarded by address: the switch has no identity
const bit<8> STAGE_TRANSIT = 2;     // passed on towards the monitor, not a byte changed
const bit<8> STAGE_SERVE = 3;       // the SR entry is removed, the DLV header added
const bit<8> STAGE_APPEND = 4;      // measurements are appended
const bit<8> STAGE_SEND = 5;        // done: out by meta.out_port
const bit<8> STAGE_KEEP = 6;        // a clone that waits
const bit<8> STAGE_EXPIRED = 7;     // a clone after its timeout
const bit<8> STAGE_FEEDBACK = 8;    // back to the switch before

// Requests to the store of clones.
const bit<8> CLONES_NOTHING = 0;
const bit<8> CLONES_ADD = 1;
const bit<8> CLONES_CONFIRM = 2;
const bit<8> CLONES_LOOK = 3;
const bit<8> CLONES_EXPIRE = 4;

// Most measurements that one pass can append.
#define APPENDED_AT_ONCE 8

// BMv2's instance types.
const bit<32> INSTANCE_NORMAL = 0;
const bit<32> INSTANCE_INGRESS_CLONE = 1;
const bit<32> INSTANCE_EGRESS_CLONE = 2;

error {
    BadProbe
}

struct headers_t {
    ethernet_t ethernet;
    ipv4_t ipv4;
    ipv4_options_t ipv4_options;
    udp_t udp;
    gpint_request_t request;
    gpint_count_t route_count;
    gpint_route_plain_t route_plain;
    gpint_route_extended_t route_extended;
    gpint_bytes_t routes;
    gpint_count_t visit_count;
    gpint_bytes_t visits;
    gpint_visit_plain_t visit_plain;
    gpint_visit_extended_t visit_extended;
    gpint_count_t measurement_count;
    gpint_bytes_t measurements;
    gpint_bytes_t body;
    gpint_measurement_t[APPENDED_AT_ONCE] appended;
}

struct metadata_t {
    @field_list(KEPT_METADATA) bit<8> stage;
    @field_list(KEPT_METADATA) bit<16> in_port;
    @field_list(KEPT_METADATA) bit<16> out_port;
    // Measurements still to append: kind, first index, and number.
    @field_list(KEPT_METADATA) bit<1> type;
    @field_list(KEPT_METADATA) bit<1> is_last;
    @field_list(KEPT_METADATA) bit<16> next_index;
    @field_list(KEPT_METADATA) bit<8> left;
    // A clone's request, its cell in the store, its ticket there, start time and timeout.
    @field_list(KEPT_METADATA) bit<32> clone_key;
    @field_list(KEPT_METADATA) bit<16> cell;
    @field_list(KEPT_METADATA) bit<16> ticket;
    @field_list(KEPT_METADATA) bit<48> kept_at;
    @field_list(KEPT_METADATA) bit<48> timeout;

    // Of the parser.
    bit<1> is_probe;
    bit<32> overrun;
    bit<32> bytes_left;
    bit<32> part_bytes;
    bit<16> visits_left;
    bit<32> measurements_expected;

    // Of the tables.
    bit<1> has_identity;
    bit<16> switch_id;
    ipv4_address_t address;
    ipv4_address_t monitor_address;
    bit<16> monitor_port;
    bit<1> has_recovery;
    bit<32> clone_capacity;

    bit<8> clones_operation;
    bit<1> clones_done;
    bit<1> is_confirmed;
    bit<1> has_clone;
    bit<1> is_rewritten;
}

#endif
