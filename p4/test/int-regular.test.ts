/** Regular reports of int.p4's INT sink: one packet of so many of each flow that a rule matches, besides the events. */
import { source } from '@int/codec';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COLLECTOR, IN, type IntSwitch, intSwitch, run } from './int-switch.js';
import { frameOf, type PacketShape, UDP_PACKET } from './packets.js';

const HOP_LATENCY = 0x2000;
const RULE = 7;
const NO_RULE = 0xffffffff;
/** Main contents of the report: behind Ethernet, IPv4, UDP, the group header and the individual header. */
const MAIN = 14 + 20 + 8 + 8 + 4;

describe('regular reports', () => {
  let node: IntSwitch;
  beforeAll(() => {
    node = intSwitch({ sink: true, reports: true });
  });
  beforeEach(() => {
    run(node.machine, [
      'register_reset IntSink.regular_count',
      'table_clear IntSink.algorithm_ipv4_a',
      // Packets to port 80 whose latency is above 100 are events.
      `table_add IntSink.algorithm_ipv4_a IntSink.fast_detection 0&&&0 0&&&0 0&&&0 0->65535 80->80 0&&&0 0&&&0 => ${RULE} 4 0 0 100 0 0 0 1`,
    ]);
  });

  /** The reports' rules and status, `null` for a packet without one; latencies of packets of one flow. */
  function reports(latencies: readonly number[], more: Partial<PacketShape> = {}): ([number, number] | null)[] {
    return latencies.map((hopLatency) => {
      const { packet } = source(
        frameOf({ ...UDP_PACKET, ...more }),
        { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f }, instructions: HOP_LATENCY, encapsulation: 'new-udp' },
        { hopLatency },
      );
      const [report] = node.machine.process(IN, packet).filter(({ port }) => port === COLLECTOR);
      if (report === undefined) return null;
      const view = new DataView(report.frame.buffer, report.frame.byteOffset);
      return [view.getUint32(MAIN + 8), view.getUint16(MAIN + 6)];
    });
  }

  test('by default there are events alone, with status 0', () => {
    run(node.machine, ['table_set_default IntSink.regular IntSink.set_regular 0']);
    expect(reports([5, 500, 5, 5])).toEqual([null, [RULE, 0], null, null]);
  });

  test('one packet of so many of each flow, event or not; events besides', () => {
    run(node.machine, ['table_set_default IntSink.regular IntSink.set_regular 3']);
    const usual = [RULE, 0xc000];
    expect(reports([5, 5, 5, 5, 5])).toEqual([usual, null, null, usual, null]);
    // The sixth packet waits for the seventh: an event is no regular report, and does not change when the next one is due.
    expect(reports([500, 500, 5, 5])).toEqual([[RULE, 0], [RULE, 0x8000], null, null]);
    expect(reports([5, 5], { sourcePort: 99 })).toEqual([usual, null]);
    expect(reports([5])).toEqual([usual]);
  });

  test('packets without a rule are reported as before', () => {
    run(node.machine, ['table_set_default IntSink.regular IntSink.set_regular 3']);
    const other = { destinationPort: 81 };
    expect(reports([5, 500, 5], other)).toEqual([
      [NO_RULE, 0],
      [NO_RULE, 0],
      [NO_RULE, 0],
    ]);
    run(node.machine, ['table_set_default IntSink.algorithm_ipv4_a IntSink.report_none']);
    expect(reports([5, 500], other)).toEqual([null, null]);
    run(node.machine, ['table_set_default IntSink.algorithm_ipv4_a IntSink.report_all']);
  });
});
