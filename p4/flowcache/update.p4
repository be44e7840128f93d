// Every INT packet updates the entry of its flow: the values at each hop and over the path. It also finds events. The
// registers hold the same rows as @int/flowcache in its exact layout, word for word.
#ifndef INT_FLOWCACHE_UPDATE_P4
#define INT_FLOWCACHE_UPDATE_P4

#include "../int/headers.p4"
#include "../int/push.p4"
#include "headers.p4"
#include "unroll.p4"
#include "steps.p4"

// Not available.
#define NONE 0xffffffff
// Most hops of a packet, this switch included. The loops are unrolled.
#define LONGEST_PATH 8

// Cells of `totals`.
#define TOTAL_OFFERED 0
#define TOTAL_HITS 1
#define TOTAL_INSERTED 2
#define TOTAL_EVICTED_ENTRIES 3
#define TOTAL_EVICTED_PACKETS 4
#define TOTAL_RETIRED_ENTRIES 5
#define TOTAL_RETIRED_PACKETS 6
#define TOTAL_HOPS_BEYOND 7
#define TOTAL_PATH_CHANGES 8
#define TOTAL_EVENTS 9
#define TOTAL_NOT_OK 10

control FlowCache(
    inout headers_t hdr,
    inout metadata_t meta,
    in standard_metadata_t standard_metadata)
{
    // Limits; all ones: never.
    bit<32> hop_latency_level;
    bit<32> hop_latency_change;
    bit<32> queue_occupancy_level;
    bit<32> queue_occupancy_change;
    bit<32> egress_utilization_level;
    bit<32> egress_utilization_change;
    bit<32> end_to_end_level;
    bit<32> end_to_end_change;
    bit<1> tells_path;

    // The current flow.
    bit<128> source;
    bit<128> destination;
    bit<1> is_ipv6;
    bit<9> key;
    bit<8> kind_ipv6;
    bit<32> tag;
    bit<64> time;

    // Its place.
    bit<32> row;
    bit<32> first_cell;
    bit<32> bucket;
    bit<32> cell;
    bit<32> first_hop;
    bit<32> hop_cell;
    bit<1> is_found;
    bit<1> has_room;
    bit<32> empty_bucket;
    bit<8> rank;
    bit<8> own_rank;
    bit<8> reason;
    bit<1> is_known;

    // Its path.
    bit<8> length;
    bit<8> kept;
    bit<8> previous_length;
    bit<7> seen;
    bit<1> is_moved;
    bit<1> has_tail;
    bit<32> tail;
    bit<32> mixed;
    bit<1> is_named;
    bit<1> has_latency;
    bit<32> path_latency;

    // The current hop.
    bit<32> at;
    bit<32> latency_at;
    bit<32> queue_at;
    bit<32> utilization_at;
    bit<32> id;
    bit<32> latency;
    bit<32> queue;
    bit<32> occupancy;
    bit<32> utilization;
    bit<32> stored;
    bit<32> previous;
    bit<32> difference;
    bit<32> limit;
    bit<8> kind;

    bit<32> word;
    bit<32> other;
    bit<32> count;
    bit<64> sum;
    bit<64> total;

    // By bucket: row * FLOWCACHE_BUCKETS + bucket. A tag is the flow's hash, 1 for a hash of 0; 0: the bucket is empty.
    @name(".FlowCache.tag")
    @id(0x16f44274)
    register<bit<32>>(FLOWCACHE_CELLS) tags;
    // 0: the last updated flow of the row, 1: the one before. Without meaning for an empty bucket.
    @name(".FlowCache.rank")
    @id(0x16074af0)
    register<bit<8>>(FLOWCACHE_CELLS) ranks;
    // Four words each. The control plane of simple_switch reads no more than 63 bits.
    @name(".FlowCache.source")
    @id(0x16014180)
    register<bit<32>>(FLOWCACHE_CELLS * 4) sources;
    @name(".FlowCache.destination")
    @id(0x16bf861e)
    register<bit<32>>(FLOWCACHE_CELLS * 4) destinations;
    @name(".FlowCache.ports")
    @id(0x160c4253)
    register<bit<32>>(FLOWCACHE_CELLS) ports;
    // Protocol in bits 7 to 0, IPv6 in bit 8, hops seen at any time in 15 to 9, hops of the last path in 23 to 16.
    @name(".FlowCache.meta")
    @id(0x166687b5)
    register<bit<32>>(FLOWCACHE_CELLS) metas;
    @name(".FlowCache.packets")
    @id(0x1661e10a)
    register<bit<32>>(FLOWCACHE_CELLS) packets;
    @name(".FlowCache.path_changes")
    @id(0x167b6baf)
    register<bit<32>>(FLOWCACHE_CELLS) path_changes;
    @name(".FlowCache.first")
    @id(0x1630c444)
    register<bit<64>>(FLOWCACHE_CELLS) firsts;
    @name(".FlowCache.last")
    @id(0x16a175f4)
    register<bit<64>>(FLOWCACHE_CELLS) lasts;
    @name(".FlowCache.path_tail")
    @id(0x16083e4c)
    register<bit<32>>(FLOWCACHE_CELLS) path_tails;
    @name(".FlowCache.hops_beyond")
    @id(0x16274faa)
    register<bit<32>>(FLOWCACHE_CELLS) hops_beyond;
    @name(".FlowCache.end_to_end_last")
    @id(0x1610a2b8)
    register<bit<32>>(FLOWCACHE_CELLS) end_to_end_last;
    @name(".FlowCache.end_to_end_count")
    @id(0x16874bbc)
    register<bit<32>>(FLOWCACHE_CELLS) end_to_end_count;
    @name(".FlowCache.end_to_end_sum")
    @id(0x16cc83ce)
    register<bit<64>>(FLOWCACHE_CELLS) end_to_end_sum;

    // By hop: (row * FLOWCACHE_BUCKETS + bucket) * FLOWCACHE_HOPS + hop, INT source first.
    @name(".FlowCache.node_id")
    @id(0x161a5c99)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) node_ids;
    @name(".FlowCache.hop_latency_last")
    @id(0x166f28e0)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) hop_latency_last;
    @name(".FlowCache.hop_latency_count")
    @id(0x167219d1)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) hop_latency_count;
    @name(".FlowCache.hop_latency_sum")
    @id(0x168483de)
    register<bit<64>>(FLOWCACHE_HOP_CELLS) hop_latency_sum;
    @name(".FlowCache.queue_occupancy_last")
    @id(0x16a13b9c)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) queue_occupancy_last;
    @name(".FlowCache.queue_occupancy_count")
    @id(0x16add7d2)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) queue_occupancy_count;
    @name(".FlowCache.queue_occupancy_sum")
    @id(0x16e4d9ed)
    register<bit<64>>(FLOWCACHE_HOP_CELLS) queue_occupancy_sum;
    @name(".FlowCache.egress_utilization_last")
    @id(0x162f146b)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) egress_utilization_last;
    @name(".FlowCache.egress_utilization_count")
    @id(0x1641d1ae)
    register<bit<32>>(FLOWCACHE_HOP_CELLS) egress_utilization_count;
    @name(".FlowCache.egress_utilization_sum")
    @id(0x1698f9fb)
    register<bit<64>>(FLOWCACHE_HOP_CELLS) egress_utilization_sum;

    // Counts of offered packets and of their fates: TOTAL_.
    @name(".FlowCache.total")
    @id(0x162fd56c)
    register<bit<64>>(16) totals;

    // Thresholds: T fires above `level`, C if a value differs from the previous one by more than `change`. All ones:
    // never.
    @name(".FlowCache.set_hop_latency")
    @id(0x01283a53)
    action set_hop_latency(bit<32> level, bit<32> change) {
        hop_latency_level = level;
        hop_latency_change = change;
    }

    @name(".FlowCache.hop_latency")
    @brief("Changes of hop latency that are events")
    @id(0x026d6253)
    table hop_latency_limits {
        actions = { set_hop_latency; }
        default_action = set_hop_latency(NONE, NONE);
    }

    @name(".FlowCache.set_queue_occupancy")
    @id(0x013864b2)
    action set_queue_occupancy(bit<32> level, bit<32> change) {
        queue_occupancy_level = level;
        queue_occupancy_change = change;
    }

    @name(".FlowCache.queue_occupancy")
    @brief("Changes of queue occupancy that are events")
    @id(0x0282ebcf)
    table queue_occupancy_limits {
        actions = { set_queue_occupancy; }
        default_action = set_queue_occupancy(NONE, NONE);
    }

    @name(".FlowCache.set_egress_utilization")
    @id(0x015d332e)
    action set_egress_utilization(bit<32> level, bit<32> change) {
        egress_utilization_level = level;
        egress_utilization_change = change;
    }

    @name(".FlowCache.egress_utilization")
    @brief("Changes of egress utilization that are events")
    @id(0x0285391e)
    table egress_utilization_limits {
        actions = { set_egress_utilization; }
        default_action = set_egress_utilization(NONE, NONE);
    }

    // Thresholds of the sum of the hop latency over the path.
    @name(".FlowCache.set_end_to_end")
    @id(0x01bde155)
    action set_end_to_end(bit<32> level, bit<32> change) {
        end_to_end_level = level;
        end_to_end_change = change;
    }

    @name(".FlowCache.end_to_end")
    @brief("Changes of the latency from end to end that are events")
    @id(0x02eb704d)
    table end_to_end_limits {
        actions = { set_end_to_end; }
        default_action = set_end_to_end(NONE, NONE);
    }

    @name(".FlowCache.set_path")
    @id(0x01fdfe71)
    action set_path(bit<1> tells) {
        tells_path = tells;
    }

    // Whether a change of the path is an event.
    @name(".FlowCache.path")
    @brief("Whether a change of the path is an event")
    @id(0x022a89c4)
    table path_limits {
        actions = { set_path; }
        default_action = set_path(0);
    }

    @name(".FlowCache.set_sessions")
    @id(0x01025427)
    action set_sessions(bit<32> entries, bit<32> events) {
        meta.flowcache.entries_session = entries;
        meta.flowcache.events_session = events;
    }

    // Mirror sessions to the hosts for entries and events; 0: none are sent.
    @name(".FlowCache.exports")
    @brief("Mirror sessions to the hosts for entries and events")
    @id(0x02eb6c64)
    table exports {
        actions = { set_sessions; }
        default_action = set_sessions(0, 0);
    }

    apply {
        // `hops` counts the hops of a stack with extracted words. The headers describe their layout.
        length = meta.hops + (bit<8>)meta.pushed;
        meta.flowcache.session = 0;
        meta.flowcache.has_entry = 0;
        meta.flowcache.events = 0;
        COUNT(TOTAL_OFFERED, 1)
        if (length > LONGEST_PATH || hdr.stack.isValid() || defined_words(hdr.md.instructions) > hdr.md.hop_ml) {
            COUNT(TOTAL_NOT_OK, 1)
        } else {
            hop_latency_limits.apply();
            queue_occupancy_limits.apply();
            egress_utilization_limits.apply();
            end_to_end_limits.apply();
            path_limits.apply();
            exports.apply();

            is_ipv6 = 0;
            kind_ipv6 = 0;
            source = 0;
            destination = 0;
            tag = 0;
            row = 0;
            if (hdr.ipv4.isValid()) {
                source = hdr.ipv4.source ++ 96w0;
                destination = hdr.ipv4.destination ++ 96w0;
                ROW_OF(hdr.ipv4.source, hdr.ipv4.destination)
            } else if (hdr.ipv6.isValid()) {
                is_ipv6 = 1;
                kind_ipv6 = FLOWCACHE_EVENT_IPV6;
                source = hdr.ipv6.source;
                destination = hdr.ipv6.destination;
                ROW_OF(hdr.ipv6.source, hdr.ipv6.destination)
            }
            key = is_ipv6 ++ meta.flow.protocol;
            if (tag == 0) {
                tag = 1;
            }
            time = (bit<64>)standard_metadata.ingress_global_timestamp * 1000;

            // The flow's present or future place.
            first_cell = row * FLOWCACHE_BUCKETS;
            is_found = 0;
            has_room = 0;
            bucket = 0;
            empty_bucket = 0;
            FLOWCACHE_EACH_BUCKET(FIND)
            is_known = is_found;
            reason = 0;
            count = 0;
            own_rank = 0xff;
            if (is_found == 1) {
                cell = first_cell + bucket;
                ranks.read(own_rank, cell);
                packets.read(count, cell);
                if (count == 0xffffffff) {
                    // Full: the flow begins anew.
                    is_known = 0;
                    reason = FLOWCACHE_RETIRED;
                }
            } else if (has_room == 1) {
                bucket = empty_bucket;
                cell = first_cell + bucket;
            } else {
                own_rank = 0;
                FLOWCACHE_EACH_BUCKET(FIND_OLDEST)
                cell = first_cell + bucket;
                packets.read(count, cell);
                reason = FLOWCACHE_EVICTED;
            }
            if (own_rank != 0) {
                FLOWCACHE_EACH_BUCKET(MOVE_BACK)
                ranks.write(cell, 0);
            }
            first_hop = cell * FLOWCACHE_HOPS;

            if (reason != 0) {
                if (reason == FLOWCACHE_EVICTED) {
                    COUNT(TOTAL_EVICTED_ENTRIES, 1)
                    COUNT(TOTAL_EVICTED_PACKETS, count)
                } else {
                    COUNT(TOTAL_RETIRED_ENTRIES, 1)
                    COUNT(TOTAL_RETIRED_PACKETS, count)
                }
                if (meta.flowcache.entries_session != 0) {
                    meta.flowcache.has_entry = 1;
                    hdr.flowcache_held_entry.setValid();
                    hdr.flowcache_held_entry.source = 0;
                    hdr.flowcache_held_entry.destination = 0;
                    HOLD_ADDRESS(0, 127, 96)
                    HOLD_ADDRESS(1, 95, 64)
                    HOLD_ADDRESS(2, 63, 32)
                    HOLD_ADDRESS(3, 31, 0)
                    ports.read(word, cell);
                    hdr.flowcache_held_entry.source_port = word[31:16];
                    hdr.flowcache_held_entry.destination_port = word[15:0];
                    metas.read(word, cell);
                    hdr.flowcache_held_entry.reason = reason;
                    hdr.flowcache_held_entry.path_length = word[23:16];
                    hdr.flowcache_held_entry.seen = word[15:9];
                    hdr.flowcache_held_entry.ipv6 = word[8:8];
                    hdr.flowcache_held_entry.protocol = word[7:0];
                    hdr.flowcache_held_entry.packets = count;
                    path_changes.read(hdr.flowcache_held_entry.path_changes, cell);
                    firsts.read(sum, cell);
                    hdr.flowcache_held_entry.first_low = sum[31:0];
                    hdr.flowcache_held_entry.first_high = sum[63:32];
                    lasts.read(sum, cell);
                    hdr.flowcache_held_entry.last_low = sum[31:0];
                    hdr.flowcache_held_entry.last_high = sum[63:32];
                    path_tails.read(hdr.flowcache_held_entry.path_tail, cell);
                    hops_beyond.read(hdr.flowcache_held_entry.hops_beyond, cell);
                    end_to_end_last.read(hdr.flowcache_held_entry.end_to_end_last, cell);
                    end_to_end_count.read(hdr.flowcache_held_entry.end_to_end_count, cell);
                    end_to_end_sum.read(sum, cell);
                    hdr.flowcache_held_entry.end_to_end_sum_low = sum[31:0];
                    hdr.flowcache_held_entry.end_to_end_sum_high = sum[63:32];
                    FLOWCACHE_EACH_HOP(HOLD_HOP)
                }
            }

            if (is_known == 1) {
                COUNT(TOTAL_HITS, 1)
            } else {
                COUNT(TOTAL_INSERTED, 1)
                tags.write(cell, tag);
                WRITE_ADDRESS(0, 127, 96)
                WRITE_ADDRESS(1, 95, 64)
                WRITE_ADDRESS(2, 63, 32)
                WRITE_ADDRESS(3, 31, 0)
                ports.write(cell, meta.flow.source_port ++ meta.flow.destination_port);
                metas.write(cell, (bit<32>)key);
                packets.write(cell, 0);
                path_changes.write(cell, 0);
                firsts.write(cell, time);
                path_tails.write(cell, 0);
                hops_beyond.write(cell, 0);
                end_to_end_last.write(cell, NONE);
                end_to_end_count.write(cell, 0);
                end_to_end_sum.write(cell, 0);
                FLOWCACHE_EACH_HOP(CLEAR_HOP)
            }

            packets.read(count, cell);
            count = count + 1;
            packets.write(cell, count);
            lasts.write(cell, time);
            metas.read(word, cell);
            previous_length = word[23:16];
            seen = word[15:9];
            kept = length;
            if (length > FLOWCACHE_HOPS) {
                kept = FLOWCACHE_HOPS;
                hops_beyond.read(count, cell);
                count = count |+| (bit<32>)(length - FLOWCACHE_HOPS);
                hops_beyond.write(cell, count);
                COUNT(TOTAL_HOPS_BEYOND, length - FLOWCACHE_HOPS)
            }
            if ((bit<8>)seen < kept) {
                seen = kept[6:0];
            }

            // The hops in path order. The source's block is the last one.
            at = (bit<32>)(meta.stack_words - (bit<8>)hdr.md.hop_ml);
            latency_at = (bit<32>)defined_words(hdr.md.instructions & 0xc000);
            queue_at = (bit<32>)defined_words(hdr.md.instructions & 0xe000);
            utilization_at = (bit<32>)defined_words(hdr.md.instructions & 0xfe00);
            is_moved = 0;
            has_tail = 0;
            tail = 0x9747b28c;
            is_named = 0;
            has_latency = 0;
            path_latency = 0;
            FLOWCACHE_EACH_HOP(UPDATE_HOP)
            FLOWCACHE_EACH_HOP_BEYOND(PASS_HOP)

            if (has_latency == 1) {
                end_to_end_last.read(previous, cell);
                end_to_end_last.write(cell, path_latency);
                end_to_end_count.read(count, cell);
                end_to_end_sum.read(sum, cell);
                sum = sum + (bit<64>)path_latency;
                end_to_end_sum.write(cell, sum);
                JUDGE(path_latency, count != 0, end_to_end_level, end_to_end_change)
                count = count + 1;
                end_to_end_count.write(cell, count);
                if (kind != 0) {
                    kind = kind | FLOWCACHE_EVENT_END_TO_END;
                    RAISE(FLOWCACHE_EVENTS_MOST - 2, 0, 0, kind, NONE, path_latency, previous, limit)
                }
            }

            // The path, if a hop of it names its switch.
            if (is_named == 1) {
                if (has_tail == 0) {
                    tail = 0;
                } else if (tail == 0) {
                    tail = 1;
                }
                path_tails.read(other, cell);
                path_tails.write(cell, tail);
                if (is_known == 1 && (previous_length != 0 || other != 0)
                    && (length != previous_length || is_moved == 1 || tail != other))
                {
                    path_changes.read(count, cell);
                    count = count + 1;
                    path_changes.write(cell, count);
                    COUNT(TOTAL_PATH_CHANGES, 1)
                    if (tells_path == 1) {
                        kind = FLOWCACHE_EVENT_PATH | FLOWCACHE_EVENT_END_TO_END;
                        RAISE(FLOWCACHE_EVENTS_MOST - 1, 0, 0, kind, NONE, (bit<32>)length, (bit<32>)previous_length, 0)
                    }
                }
                previous_length = length;
            }
            metas.write(cell, 8w0 ++ previous_length ++ seen ++ key);

            COUNT(TOTAL_EVENTS, meta.flowcache.events)
            if (meta.flowcache.events_session == 0) {
                meta.flowcache.events = 0;
            }
            if (meta.flowcache.has_entry == 1) {
                meta.flowcache.session = meta.flowcache.entries_session;
            } else if (meta.flowcache.events != 0) {
                meta.flowcache.session = meta.flowcache.events_session;
            }
        }
    }
}

#endif
