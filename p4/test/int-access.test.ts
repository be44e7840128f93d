import { decodeFrame, source, type TelemetryRecord } from '@int/codec';
import { beforeAll, beforeEach, describe, expect, test } from 'vitest';
import { COLLECTOR, configure, IN, type IntSwitch, intSwitch, OUT, run, SESSION } from './int-switch.js';
import { frameOf, hex, UDP_PACKET } from './packets.js';

const udp = { ...UDP_PACKET, payload: new Uint8Array(100).fill(7) };
const ANY = '0&&&0 0&&&0 0&&&0 0&&&0 0->65535 0->65535';
/** The flow of `udp`, other ports of the source alone. */
const FLOW = '0&&&0 10.0.1.1&&&255.255.255.255 10.0.2.2&&&255.255.255.255 17&&&255 0->65535 80->80';
const VERSIONS = [
  ['ipv4', udp],
  ['ipv6', { ...udp, version: 6 as const }],
] as const;
/** Ports of next hops. */
const LEFT = 3;
const RIGHT = 4;

let node: IntSwitch;
beforeAll(() => {
  node = intSwitch();
  run(node.machine, [
    `act_prof_create_member IntIngress.members IntIngress.forward ${LEFT}`,
    `act_prof_create_member IntIngress.members IntIngress.forward ${RIGHT}`,
    'act_prof_create_group IntIngress.members',
    'act_prof_add_member_to_group IntIngress.members 0 0',
    'act_prof_add_member_to_group IntIngress.members 1 0',
    'table_indirect_add_with_group IntIngress.next_hops 9 => 0',
  ]);
});
beforeEach(() => {
  configure(node, { sink: true, reports: true });
  node.clock.time = 1_000_000;
  run(node.machine, [
    ...['access', 'steer', 'watch'].flatMap((table) => [
      `table_clear IntIngress.${table}_ipv4`,
      `table_clear IntIngress.${table}_ipv6`,
    ]),
    ...['ipv4', 'ipv6'].map((ip) => `table_set_default IntIngress.forward_${ip} IntIngress.forward ${OUT}`),
    'table_set_default IntIngress.hash_seed IntIngress.set_hash_seed 0',
    `table_set_default IntIngress.drop_reports IntIngress.report_drops ${SESSION}`,
    'register_reset IntIngress.access_sample',
    'register_reset IntIngress.watch_count',
    'counter_reset IntIngress.access_drops',
  ]);
});

function send(frame: Uint8Array): { ports: number[]; data: string[]; reports: TelemetryRecord[] } {
  const out = node.machine.process(IN, frame);
  const data = out.filter(({ port }) => port !== COLLECTOR);
  return {
    ports: data.map(({ port }) => port),
    data: data.map(({ frame: each }) => hex(each)),
    reports: out
      .filter(({ port }) => port === COLLECTOR)
      .flatMap((each) => decodeFrame(each.frame, { intPorts: [5000], reportPorts: [32_766] })),
  };
}

const droppedIn = (cell: number): number => Number(node.machine.counter('IntIngress.access_drops').read(cell).packets);

describe.each(VERSIONS)('access (%s)', (ip, shape) => {
  const frame = frameOf(shape);

  test('drops what is denied, counts it by cell, and reports one of so many with the reason of the entry', () => {
    run(node.machine, [`table_add IntIngress.access_${ip} IntIngress.deny ${ANY} => 77 3 5 9`]);
    const sent = Array.from({ length: 7 }, () => send(frame));
    expect(sent.flatMap(({ ports }) => ports)).toEqual([]);
    expect(sent.map(({ reports }) => reports.length)).toEqual([1, 0, 0, 1, 0, 0, 1]);
    expect(sent[0]!.reports[0]!.report).toMatchObject({ dropped: true });
    expect(
      JSON.stringify(sent[0]!.reports[0], (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).toContain('"dropReason":77');
    expect([droppedIn(5), droppedIn(4)]).toEqual([7, 0]);
  });

  test('reports nothing with 0, also of a watched flow, and needs no session', () => {
    run(node.machine, [
      `table_add IntIngress.access_${ip} IntIngress.deny ${ANY} => 77 0 5 9`,
      `table_add IntIngress.watch_${ip} IntIngress.postcard ${ANY} 0&&&0 0&&&0 => 0x8000 0 1`,
    ]);
    expect(send(frame)).toEqual({ ports: [], data: [], reports: [] });
    run(node.machine, [
      'table_set_default IntIngress.drop_reports NoAction',
      `table_clear IntIngress.access_${ip}`,
      `table_add IntIngress.access_${ip} IntIngress.deny ${ANY} => 77 1 5 9`,
    ]);
    expect(send(frame)).toEqual({ ports: [], data: [], reports: [] });
    expect(droppedIn(5)).toBe(2);
  });

  test('lets an entry of a smaller priority permit', () => {
    run(node.machine, [
      `table_add IntIngress.access_${ip} IntIngress.deny ${ANY} => 77 1 5 9`,
      `table_add IntIngress.access_${ip} IntIngress.permit ${ANY.replace('0->65535 0->65535', '0->65535 80->80')} => 8`,
    ]);
    expect(send(frame).data).toEqual([hex(frame)]);
    expect(send(frameOf({ ...shape, destinationPort: 81 })).ports).toEqual([]);
  });

  test('drops what a limit has as red, and counts it', () => {
    run(node.machine, [`table_add IntIngress.access_${ip} IntIngress.limit_${ip} ${ANY} => 2 6 9`]);
    // Without rates everything is green.
    expect(send(frame).ports).toEqual([OUT]);
    const { handle } = [...node.machine.table(`IntIngress.access_${ip}`).entries()][0]!;
    // Two packets at once, then one each millisecond: bytes a microsecond.
    const rate = frame.length / 1000;
    run(node.machine, [
      `meter_set_rates IntIngress.access_${ip}_rate ${handle} ${rate}:${2 * frame.length} ${rate}:${2 * frame.length}`,
    ]);
    const sent = Array.from({ length: 5 }, () => send(frame));
    expect(sent.map(({ ports }) => ports.length)).toEqual([1, 1, 0, 0, 0]);
    expect(sent.map(({ reports }) => reports.length)).toEqual([0, 0, 1, 0, 1]);
    expect(
      JSON.stringify(sent[2]!.reports[0], (_, value) => (typeof value === 'bigint' ? `${value}` : value)),
    ).toContain('"dropReason":4');
    expect(droppedIn(6)).toBe(3);
    node.clock.time += 1000;
    expect([send(frame).ports, send(frame).ports]).toEqual([[OUT], []]);
  });
});

describe.each(VERSIONS)('the way (%s)', (ip, shape) => {
  const flows = Array.from({ length: 200 }, (_, k) => ({ ...shape, sourcePort: 1000 + k }));
  const portsOf = (): number[] => flows.map((each) => send(frameOf(each)).ports[0]!);

  test('of steered flows is another than that of their destination', () => {
    run(node.machine, [
      `table_add IntIngress.steer_${ip} IntIngress.forward ${ANY.replace('0->65535 0->65535', '7->9 0->65535')} => ${LEFT} 5`,
    ]);
    expect(send(frameOf({ ...shape, sourcePort: 8 })).ports).toEqual([LEFT]);
    expect(send(frameOf({ ...shape, sourcePort: 10 })).ports).toEqual([OUT]);
    run(node.machine, [`table_add IntIngress.steer_${ip} IntIngress.follow ${ANY} => 4`]);
    expect(send(frameOf({ ...shape, sourcePort: 8 })).ports).toEqual([OUT]);
  });

  test('of a group is one of its next hops, the same for all packets of a flow, and both for many flows', () => {
    run(node.machine, [`table_set_default IntIngress.forward_${ip} IntIngress.spread 9`]);
    const first = portsOf();
    expect(portsOf()).toEqual(first);
    const left = first.filter((port) => port === LEFT).length;
    expect(first.filter((port) => port === RIGHT)).toHaveLength(200 - left);
    // Five standard deviations of a fair coin.
    expect(Math.abs(left - 100)).toBeLessThan(36);
  });

  test('of a group differs between seeds by flow, not by an exchange of the next hops', () => {
    run(node.machine, [`table_set_default IntIngress.forward_${ip} IntIngress.spread 9`]);
    const first = portsOf();
    for (const seed of [1, 2, 0xdead_beef]) {
      run(node.machine, [`table_set_default IntIngress.hash_seed IntIngress.set_hash_seed ${seed}`]);
      const other = portsOf();
      const same = other.filter((port, index) => port === first[index]).length;
      expect(Math.abs(same - 100)).toBeLessThan(36);
    }
  });

  test('of a flow is the same with INT and without', () => {
    run(node.machine, [`table_set_default IntIngress.forward_${ip} IntIngress.spread 9`]);
    for (const each of flows.slice(0, 40)) {
      const frame = frameOf(each);
      const ports = (['port', 'dscp', 'new-udp'] as const).map((encapsulation) => {
        const marks = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } };
        const asked = { mode: 'md', instructions: 0x8000, maxHops: 8, entropyPort: 50_000 } as const;
        const marked = source(frame, { ...marks, ...asked, encapsulation }, { nodeId: 1 }).packet;
        return send(marked).ports[0];
      });
      const plain = send(frame).ports[0];
      expect(ports).toEqual([plain, plain, plain]);
    }
  });

  test('of a group that there is not leads nowhere', () => {
    run(node.machine, [`table_set_default IntIngress.forward_${ip} IntIngress.spread 11`]);
    expect(send(frameOf(shape)).ports).toEqual([]);
  });
});

test('a source gives INT to one packet of so many of a flow', () => {
  configure(node, {});
  run(node.machine, [
    `table_add IntIngress.watch_ipv4 IntIngress.start_md_sampled ${FLOW} 0&&&0 0&&&0 => 1 0x8000 8 0 0 3 1`,
  ]);
  const frames = [frameOf(udp), frameOf({ ...udp, sourcePort: 99 })];
  const sent = frames.map((frame) => Array.from({ length: 7 }, () => send(frame).data[0] !== hex(frame)));
  for (const marked of sent) expect(marked).toEqual([true, false, false, true, false, false, true]);
});
