import { decodeFrame, sink, source, type TelemetryRecord, transit } from '@int/codec';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COLLECTOR, configure, IN, type IntSwitch, intSwitch, NODE_ID, OUT, run, SESSION } from './int-switch.js';
import { frameOf, hex, UDP_PACKET } from './packets.js';

const ANY = '0&&&0 0&&&0 0&&&0 0&&&0 0->65535 0->65535 0&&&0 0&&&0';
const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;
const NOW = 1_234_567;

const udp = { ...UDP_PACKET, payload: new Uint8Array(11).fill(7) };
const flow = { source: '10.0.1.1', destination: '10.0.2.2', protocol: 17, sourcePort: 1234, destinationPort: 80 };

describe('telemetry reports of int.p4', () => {
  let node: IntSwitch;
  beforeAll(() => {
    node = intSwitch();
  });
  beforeEach(() => {
    configure(node, { sink: true, reports: true });
    node.clock.time = NOW;
    run(node.machine, [
      'table_clear IntIngress.watch_ipv4',
      'table_clear IntIngress.watch_ipv6',
      'register_reset IntReport.sequence',
      'register_reset IntEgress.sample_count',
      `table_set_default IntIngress.forward_ipv4 IntIngress.forward ${OUT}`,
      'table_set_default IntSink.algorithm_ipv4_a IntSink.report_all',
      'table_set_default IntSink.algorithm_ipv6_a IntSink.report_all',
    ]);
  });

  const watch = (action: string): void => run(node.machine, [`table_add IntIngress.watch_ipv4 IntIngress.${action}`]);

  /** Sends a frame: what leaves as data, and the reports. */
  function send(frame: Uint8Array): { data: string[]; reports: TelemetryRecord[] } {
    const out = node.machine.process(IN, frame);
    return {
      data: out.filter(({ port }) => port === OUT).map((each) => hex(each.frame)),
      reports: out
        .filter(({ port }) => port === COLLECTOR)
        .flatMap((each) => decodeFrame(each.frame, { ...LOCATE, reportPorts: [32_766] })),
    };
  }

  test.each([
    ['a payload', udp],
    ['no payload', { ...udp, payload: new Uint8Array(0) }],
    ['IPv6', { ...udp, version: 6 as const }],
    ['TCP with options', { ...udp, protocol: 6, tcpOptions: 3 }],
    ['TCP without payload', { ...udp, protocol: 6, payload: new Uint8Array(0) }],
    ['one byte of payload', { ...udp, payload: Uint8Array.of(1) }],
    ['more payload than is sent', { ...udp, payload: new Uint8Array(1200) }],
  ])('INT-MD: all hops, the last of which is the sink (%s)', (_, shape) => {
    const frame = frameOf(shape);
    const encapsulation = shape.protocol === 6 ? 'dscp' : 'port';
    const hop = { nodeId: 1, hopLatency: 7, queueId: 0, queueOccupancy: 3 };
    const { packet } = source(frame, { ...LOCATE, instructions: 0xb000, encapsulation }, hop);
    const { data, reports } = send(packet);
    expect(data).toEqual([hex(frame)]);
    expect(reports).toHaveLength(1);
    const [{ status, report, hops, flow: seen }] = reports as [TelemetryRecord];
    expect(status).toBe('ok');
    expect(report).toMatchObject({ nodeId: NODE_ID, hwId: 3, sequence: 0, trackedFlow: true, dropped: false });
    expect(seen).toMatchObject({ sourcePort: 1234, destinationPort: 80 });
    expect(hops).toMatchObject([hop, { nodeId: NODE_ID, hopLatency: 0, queueId: 0, queueOccupancy: 0 }]);
  });

  test('INT-XD: the switch reports, the packet stays as it is', () => {
    watch(`postcard ${ANY} => 0x7d00 0 1`);
    const frame = frameOf(udp);
    const { data, reports } = send(frame);
    expect(data).toEqual([hex(frame)]);
    expect(reports).toMatchObject([
      {
        status: 'ok',
        flow,
        path: [NODE_ID],
        report: {
          type: 'int-xd',
          metadata: {
            l1IngressInterface: IN,
            l1EgressInterface: OUT,
            hopLatency: 0,
            queueId: 0,
            queueOccupancy: 0,
            ingressTimestamp: BigInt(NOW),
            egressTimestamp: BigInt(NOW),
          },
        },
      },
    ]);
    // What there is no value for is left out.
    expect(reports[0]?.report?.metadata?.egressUtilization ?? null).toBeNull();
  });

  test('INT-MX: source, transit and sink report, only the sink gives the packet back', () => {
    configure(node, { sink: false, reports: true });
    watch(`start_mx ${ANY} => 1 0x7000 0 0 0 1`);
    const frame = frameOf(udp);
    const first = send(frame);
    const begun = source(frame, { ...LOCATE, mode: 'mx', instructions: 0x7000 }).packet;
    expect(first.data).toEqual([hex(begun)]);
    run(node.machine, ['table_clear IntIngress.watch_ipv4']);
    const second = send(begun);
    expect(second.data).toEqual([hex(begun)]);
    configure(node, { sink: true, reports: true });
    const third = send(begun);
    expect(third.data).toEqual([hex(frame)]);
    const all = [first, second, third].flatMap(({ reports }) => reports);
    expect(all).toHaveLength(3);
    for (const [sequence, each] of all.entries()) {
      const metadata = { l1IngressInterface: IN, l1EgressInterface: OUT, hopLatency: 0, queueId: 0, queueOccupancy: 0 };
      expect(each).toMatchObject({
        status: 'ok',
        flow,
        report: { type: 'int-mx', nodeId: NODE_ID, sequence, metadata },
      });
    }
  });

  test('a watched packet that is dropped is reported with its reason, others are not', () => {
    run(node.machine, [
      `table_set_default IntIngress.drop_reports IntIngress.report_drops ${SESSION}`,
      'table_set_default IntIngress.forward_ipv4 IntIngress.drop 44',
    ]);
    expect(send(frameOf(udp))).toEqual({ data: [], reports: [] });
    watch(`postcard ${ANY} => 0x7000 0 1`);
    const { data, reports } = send(frameOf(udp));
    expect(data).toEqual([]);
    expect(reports).toMatchObject([{ status: 'ok', flow, report: { type: 'drop', dropped: true, dropReason: 44 } }]);
    run(node.machine, ['table_set_default IntIngress.drop_reports NoAction']);
  });

  test('where a packet has no room, the stack so far goes to the collector, if the port is told so', () => {
    configure(node, { reports: true, mtu: 100 });
    run(node.machine, ['table_set_default IntEgress.too_long IntEgress.report_mtu']);
    for (const shape of [udp, { ...udp, protocol: 6 }, { ...udp, version: 6 as const }]) {
      const config = { ...LOCATE, instructions: 0xf000, encapsulation: 'dscp' as const };
      const hop = {
        nodeId: 1,
        l1IngressInterface: 3,
        l1EgressInterface: 4,
        hopLatency: 7,
        queueId: 0,
        queueOccupancy: 3,
      };
      const hops = [hop, { ...hop, nodeId: 2 }, { ...hop, nodeId: 3 }];
      let { packet } = source(frameOf(shape), config, hops[0]);
      for (const each of hops.slice(1)) packet = transit(packet, LOCATE, each).packet;
      const { data, reports } = send(packet);
      // The path ends with the switch that reports.
      expect(reports).toMatchObject([{ status: 'ok', path: [1, 2, 3, NODE_ID], hops, report: { intermediate: true } }]);
      // On goes the packet as if it had begun here, but for what it has come through: the count, and no M bit.
      const [left] = data.map((each) => decodeFrame(Uint8Array.from(Buffer.from(each, 'hex')), LOCATE)[0]!);
      expect(left).toMatchObject({ status: 'ok', path: [NODE_ID], int: { remainingHopCount: 4, mtuExceeded: false } });
      // The sums hold: a sink gives back what the source took.
      expect(hex(sink(Uint8Array.from(Buffer.from(data[0]!, 'hex')), LOCATE).restored)).toBe(hex(frameOf(shape)));
    }
    run(node.machine, ['table_set_default IntEgress.too_long IntEgress.mark_mtu']);
  });

  test('a packet that begins and ends here leaves as it came, and is reported', () => {
    watch(`start_md ${ANY} => 1 0xf000 8 0 0 1`);
    for (const payload of [udp.payload, new Uint8Array(0)]) {
      const frame = frameOf({ ...udp, payload });
      const { data, reports } = send(frame);
      expect(data).toEqual([hex(frame)]);
      expect(reports).toMatchObject([{ status: 'ok', path: [NODE_ID], hops: [{ nodeId: NODE_ID }], flow }]);
    }
  });

  test('postcards are sampled by flow', () => {
    watch(`postcard ${ANY} => 0x7000 3 1`);
    const sent = Array.from({ length: 7 }, () => send(frameOf(udp)).reports.length);
    expect(sent).toEqual([1, 0, 0, 1, 0, 0, 1]);
    expect(send(frameOf({ ...udp, sourcePort: 4321 })).reports).toHaveLength(1);
  });

  test('the D bit ends a packet at the sink, after its report', () => {
    const { packet } = source(frameOf(udp), { ...LOCATE, instructions: 0x8000, discard: true }, { nodeId: 1 });
    const { data, reports } = send(packet);
    expect(data).toEqual([]);
    expect(reports).toMatchObject([{ status: 'ok', path: [1, NODE_ID] }]);
  });
});
