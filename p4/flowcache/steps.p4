// The steps of an update, by bucket, by hop and by metric. They are macros over the variables and registers of
// FlowCache, because P4 has no loops here.
#ifndef INT_FLOWCACHE_STEPS_P4
#define INT_FLOWCACHE_STEPS_P4

#define COUNT(index, amount) \
    totals.read(total, index); \
    total = total + (bit<64>)(amount); \
    totals.write(index, total);

#define ROW_OF(flow_source, flow_destination) \
    hash(tag, HashAlgorithm.crc32, 32w0, \
        { flow_source, flow_destination, meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port }, \
        64w0x100000000); \
    hash(row, HashAlgorithm.crc32, 32w0, \
        { flow_source, flow_destination, meta.flow.protocol, meta.flow.source_port, meta.flow.destination_port }, \
        (bit<32>)FLOWCACHE_ROWS);

// Whether word `i` of both addresses is the same.
#define COMPARE_ADDRESS(i, high, low) \
    sources.read(word, (cell << 2) + i); \
    destinations.read(other, (cell << 2) + i); \
    if (word != source[high:low] || other != destination[high:low]) { \
        is_found = 0; \
    }

// Bucket `b`: does it hold the flow, is it the first empty one? Keys are compared exactly; the tag only avoids most
// comparisons.
#define FIND(b) \
    if (is_found == 0) { \
        cell = first_cell + b; \
        tags.read(word, cell); \
        if (word == tag) { \
            metas.read(word, cell); \
            ports.read(other, cell); \
            if (word[8:0] == key && other == meta.flow.source_port ++ meta.flow.destination_port) { \
                is_found = 1; \
                COMPARE_ADDRESS(0, 127, 96) \
                if (is_ipv6 == 1) { \
                    COMPARE_ADDRESS(1, 95, 64) \
                    COMPARE_ADDRESS(2, 63, 32) \
                    COMPARE_ADDRESS(3, 31, 0) \
                } \
                if (is_found == 1) { \
                    bucket = b; \
                } \
            } \
        } else if (word == 0 && has_room == 0) { \
            has_room = 1; \
            empty_bucket = b; \
        } \
    }

// The bucket updated least recently, in a full row.
#define FIND_OLDEST(b) \
    ranks.read(rank, first_cell + b); \
    if (rank >= own_rank) { \
        own_rank = rank; \
        bucket = b; \
    }

// Flows updated after the current one move back by one.
#define MOVE_BACK(b) \
    tags.read(word, first_cell + b); \
    if (word != 0) { \
        ranks.read(rank, first_cell + b); \
        if (rank < own_rank) { \
            rank = rank + 1; \
            ranks.write(first_cell + b, rank); \
        } \
    }

// Copies an entry into headers, for the clone that carries it to a host.
#define HOLD_METRIC(i, name) \
    name##_last.read(hdr.flowcache_held_hops[i].name##_last, hop_cell); \
    name##_count.read(hdr.flowcache_held_hops[i].name##_count, hop_cell); \
    name##_sum.read(sum, hop_cell); \
    hdr.flowcache_held_hops[i].name##_sum_low = sum[31:0]; \
    hdr.flowcache_held_hops[i].name##_sum_high = sum[63:32];

#define HOLD_HOP(i) \
    hop_cell = first_hop + i; \
    hdr.flowcache_held_hops[i].setValid(); \
    node_ids.read(hdr.flowcache_held_hops[i].node_id, hop_cell); \
    HOLD_METRIC(i, hop_latency) \
    HOLD_METRIC(i, queue_occupancy) \
    HOLD_METRIC(i, egress_utilization)

#define HOLD_ADDRESS(i, high, low) \
    sources.read(word, (cell << 2) + i); \
    hdr.flowcache_held_entry.source[high:low] = word; \
    destinations.read(word, (cell << 2) + i); \
    hdr.flowcache_held_entry.destination[high:low] = word;

#define CLEAR_METRIC(name) \
    name##_last.write(hop_cell, NONE); \
    name##_count.write(hop_cell, 0); \
    name##_sum.write(hop_cell, 0);

#define CLEAR_HOP(i) \
    hop_cell = first_hop + i; \
    node_ids.write(hop_cell, NONE); \
    CLEAR_METRIC(hop_latency) \
    CLEAR_METRIC(queue_occupancy) \
    CLEAR_METRIC(egress_utilization)

#define WRITE_ADDRESS(i, high, low) \
    sources.write((cell << 2) + i, source[high:low]); \
    destinations.write((cell << 2) + i, destination[high:low]);

// Each event has a place, so that they leave in order: hops, then the whole path's latency, then the path.
#define RAISE(place, at_hop, of_metric, of_kind, of_node, now, before, limit) \
    meta.flowcache.events = meta.flowcache.events + 1; \
    if (meta.flowcache.events_session != 0) { \
        hdr.flowcache_held_events[place].setValid(); \
        hdr.flowcache_held_events[place].protocol = meta.flow.protocol; \
        hdr.flowcache_held_events[place].hop = at_hop; \
        hdr.flowcache_held_events[place].metric = of_metric; \
        hdr.flowcache_held_events[place].kind = of_kind | kind_ipv6; \
        hdr.flowcache_held_events[place].node_id = of_node; \
        hdr.flowcache_held_events[place].value = now; \
        hdr.flowcache_held_events[place].previous = before; \
        hdr.flowcache_held_events[place].time_low = time[31:0]; \
        hdr.flowcache_held_events[place].time_high = time[63:32]; \
        hdr.flowcache_held_events[place].source_port = meta.flow.source_port; \
        hdr.flowcache_held_events[place].destination_port = meta.flow.destination_port; \
        hdr.flowcache_held_events[place].threshold = limit; \
        hdr.flowcache_held_events[place].source = source; \
        hdr.flowcache_held_events[place].destination = destination; \
    }

// T: the value is above the level. C: it differs from the previous value, if any, by more than the change.
#define JUDGE(now, had_before, level, change) \
    kind = 0; \
    limit = change; \
    difference = now |-| previous; \
    if (previous > now) { \
        difference = previous - now; \
    } \
    if (had_before && difference > change) { \
        kind = FLOWCACHE_EVENT_CHANGE; \
    } \
    if (now > level) { \
        kind = kind | FLOWCACHE_EVENT_THRESHOLD; \
        limit = level; \
    }

#define UPDATE_METRIC(i, m, name, is_there, now) \
    if (is_there) { \
        name##_last.read(previous, hop_cell); \
        name##_last.write(hop_cell, now); \
        name##_count.read(count, hop_cell); \
        count = count + 1; \
        name##_count.write(hop_cell, count); \
        name##_sum.read(sum, hop_cell); \
        sum = sum + (bit<64>)now; \
        name##_sum.write(hop_cell, sum); \
        JUDGE(now, is_known == 1 && previous != NONE, name##_level, name##_change) \
        if (kind != 0) { \
            RAISE(FLOWCACHE_METRICS * i + m, i, m, kind, stored, now, previous, limit) \
        } \
    }

// The words of hop `i` in path order: on the stack, or this switch's own.
#define LOAD_IDENTITY(i) \
    id = NONE; \
    latency = NONE; \
    if (meta.hops > i) { \
        if (hdr.md.instructions[15:15] == 1) { \
            id = hdr.words[at].value; \
        } \
        if (hdr.md.instructions[13:13] == 1) { \
            latency = hdr.words[at + latency_at].value; \
        } \
    } else { \
        if (hdr.own_node_id.isValid()) { \
            id = hdr.own_node_id.id; \
        } \
        if (hdr.own_hop_latency.isValid()) { \
            latency = hdr.own_hop_latency.latency; \
        } \
    } \
    if (id != NONE) { \
        is_named = 1; \
    } \
    if (latency != NONE) { \
        has_latency = 1; \
        path_latency = path_latency |+| latency; \
    }

#define LOAD_REST(i) \
    queue = NONE; \
    utilization = NONE; \
    if (meta.hops > i) { \
        if (hdr.md.instructions[12:12] == 1) { \
            queue = hdr.words[at + queue_at].value; \
        } \
        if (hdr.md.instructions[8:8] == 1) { \
            utilization = hdr.words[at + utilization_at].value; \
        } \
    } else { \
        if (hdr.own_queue.isValid()) { \
            queue = hdr.own_queue.id ++ hdr.own_queue.occupancy; \
        } \
        if (hdr.own_utilization.isValid()) { \
            utilization = hdr.own_utilization.utilization; \
        } \
    }

// A hop that an entry follows. A hop without a node id counts as the switch known there.
#define UPDATE_HOP(i) \
    if (length > i) { \
        LOAD_IDENTITY(i) \
        LOAD_REST(i) \
        at = at - (bit<32>)hdr.md.hop_ml; \
        hop_cell = first_hop + i; \
        node_ids.read(stored, hop_cell); \
        if (id != NONE && id != stored) { \
            if (stored != NONE) { \
                hop_latency_last.write(hop_cell, NONE); \
                queue_occupancy_last.write(hop_cell, NONE); \
                egress_utilization_last.write(hop_cell, NONE); \
                if (previous_length > i) { \
                    is_moved = 1; \
                } \
            } \
            stored = id; \
            node_ids.write(hop_cell, stored); \
        } \
        occupancy = queue & 0xffffff; \
        UPDATE_METRIC(i, 0, hop_latency, latency != NONE, latency) \
        UPDATE_METRIC(i, 1, queue_occupancy, queue != NONE, occupancy) \
        UPDATE_METRIC(i, 2, egress_utilization, utilization != NONE, utilization) \
    }

// Mixes an id into the hash of the rest of the path, as MurmurHash3 does.
#define MIX(of_id) \
    mixed = of_id * 0xcc9e2d51; \
    mixed = mixed[16:0] ++ mixed[31:17]; \
    mixed = tail ^ (mixed * 0x1b873593); \
    mixed = mixed[18:0] ++ mixed[31:19]; \
    tail = mixed * 5 + 0xe6546b64; \
    has_tail = 1;

// A hop after those that an entry follows.
#define PASS_HOP(i) \
    if (length > i) { \
        LOAD_IDENTITY(i) \
        at = at - (bit<32>)hdr.md.hop_ml; \
        if (id != NONE) { \
            MIX(id) \
        } \
    }

#endif
