import { CodecError, decodeFrame, type Hop, type SourceConfig, sink, source, transit } from '@int/codec';
import { updateUdpChecksum } from '@int/codec/internals';
import { type Behaviour, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import {
  IN,
  type IntmonSetup,
  type IntmonSwitch,
  intmonProgram,
  intmonSwitch,
  MANAGEMENT,
  OUT,
  ownMetadata,
  run,
} from './intmon-switch.js';
import { frameOf, hex, packetShape } from './packets.js';
import { undefinedOptions } from './undefined/options.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 20_000 : 250;

/** IntMon has its UDP port; nothing else means INT here. */
const LOCATE = { profile: 'intmon', intPorts: [], intDscp: null } as const;
const O_FLAG = 0x02;
/** A stack of as many values is taken apart. */
const MOST_WORDS = 64;

const value = fc.oneof(fc.constantFrom(0, 1, 0x7fff_fffe), fc.nat({ max: 0x7fff_fffe }));
const hop: fc.Arbitrary<Hop> = fc.record({
  nodeId: value,
  l1IngressInterface: fc.nat({ max: 0xffff }),
  l1EgressInterface: fc.nat({ max: 0xfffe }),
  hopLatency: value,
  queueOccupancy: fc.nat({ max: 0xff_ffff }),
  ingressTimestamp: fc.bigInt({ min: 0n, max: 0x7fff_fffen }),
  queueCongestion: fc.nat({ max: 0xff_ffff }),
  egressUtilization: fc.option(value, { nil: null }),
});

interface Rule {
  readonly fields: number;
  readonly maxHops: number;
}

const rule: fc.Arbitrary<Rule> = fc.record({
  fields: fc.oneof(fc.constantFrom(0, 0x80, 0xff), fc.nat({ max: 0xff })),
  maxHops: fc.oneof(fc.constantFrom(1, 2, 8, 255), fc.integer({ min: 1, max: 255 })),
});

const setup: fc.Arbitrary<IntmonSetup> = fc.record(
  {
    mtu: fc.constantFrom(0, 0, 40, 60, 80, 100, 1500),
    hasNode: fc.constantFrom(true, true, true, false),
    congestedAt: fc.constant(3),
  },
  { requiredKeys: [] },
);

const configOf = ({ mtu }: IntmonSetup): Pick<SourceConfig, 'mtu' | 'profile'> => ({
  ...LOCATE,
  ...(mtu !== undefined && mtu > 0 && { mtu }),
});

const sourceConfig = ({ fields, maxHops }: Rule, from: IntmonSetup = {}): SourceConfig => ({
  ...configOf(from),
  encapsulation: 'intmon',
  instructions: fields << 8,
  maxHops,
});

/** Switches by setup: loading one takes longer than many packets. */
const switches = new Map<string, IntmonSwitch>();

function switchFor(from: IntmonSetup): IntmonSwitch {
  const key = JSON.stringify(from);
  let made = switches.get(key);
  if (made === undefined) {
    made = intmonSwitch(from);
    switches.set(key, made);
  }
  return made;
}

const ANY = '0&&&0 0&&&0 0&&&0 0&&&0 0&&&0';

function watch({ machine }: IntmonSwitch, given: Rule | null): void {
  for (const table of ['watch_ipv4', 'watch_ipv6']) {
    run(machine, [`table_clear IntmonIngress.${table}`]);
    if (given === null) continue;
    run(machine, [
      `table_add IntmonIngress.${table} IntmonIngress.collect ${ANY} => ${given.fields} ${given.maxHops} 1`,
    ]);
  }
}

/** A packet that has come some way: through a source and some switches. */
function travelled(frame: Uint8Array, given: Rule, hops: readonly Hop[]): Uint8Array {
  const config = sourceConfig(given);
  let { packet } = source(frame, config, hops[0] ?? null);
  for (const each of hops.slice(1)) packet = transit(packet, config, each).packet;
  return packet;
}

/** Where the UDP header is, in frames of these tests. */
const udpAt = (frame: Uint8Array): number => 14 + (frame[12] === 0x08 ? ((frame[14] ?? 0) & 15) * 4 : 40);

/** The copy for the management plane: with O, and a checksum that knows. */
function copied(packet: Uint8Array): Uint8Array {
  const out = packet.slice();
  const view = new DataView(out.buffer);
  const at = udpAt(out);
  const before = view.getUint16(at + 8);
  view.setUint16(at + 8, before | (O_FLAG << 8));
  view.setUint16(at + 6, updateUdpChecksum(view.getUint16(at + 6), before, view.getUint16(at + 8)));
  return out;
}

const isInt = (frame: Uint8Array): boolean => sink(frame, LOCATE).int !== null;

const lines = (out: readonly { port: number; frame: Uint8Array }[]): string[] =>
  out.map(({ port, frame }) => `${port} ${hex(frame)}`).sort();

describe('the INT source', () => {
  test('samples as its rule says: one packet of n of each flow, IPv4 and IPv6, and 0 or 1 is all', () => {
    const { machine } = intmonSwitch();
    run(machine, [
      `table_add IntmonIngress.watch_ipv4 IntmonIngress.collect_sampled 0&&&0 0&&&0 17&&&0xff 0&&&0 80&&&0xffff => 0x80 8 3 3`,
      `table_add IntmonIngress.watch_ipv4 IntmonIngress.collect_sampled 0&&&0 0&&&0 17&&&0xff 0&&&0 81&&&0xffff => 0x80 8 1 2`,
      `table_add IntmonIngress.watch_ipv4 IntmonIngress.collect_sampled 0&&&0 0&&&0 17&&&0xff 0&&&0 82&&&0xffff => 0x80 8 0 1`,
      'table_add IntmonIngress.watch_ipv6 IntmonIngress.collect_sampled 0&&&0 0&&&0 17&&&0xff 0&&&0 0&&&0 => 0x80 8 3 1',
    ]);
    const isWatched = (frame: Uint8Array): boolean => {
      const [output] = machine.process(IN, frame);
      expect(output?.port).toBe(OUT);
      if (output!.frame.length === frame.length) expect(hex(output!.frame)).toBe(hex(frame));
      return output!.frame.length > frame.length;
    };
    const ipv4 = (sourcePort: number, destinationPort: number): Uint8Array =>
      udpFrame({ source: 1, destination: 2, sourcePort, destinationPort, checksum: true }, new Uint8Array(20));
    const ipv6 = (last: number): Uint8Array => {
      const frame = new Uint8Array(14 + 40 + 8);
      frame.set([0x86, 0xdd, 0x60], 12);
      frame.set([8, 17, 64], 19);
      frame[37] = last;
      frame[59] = 8;
      return frame;
    };
    // Two flows in turn, each with a count of its own.
    const turns = Array.from({ length: 7 }, () => [
      isWatched(ipv4(5, 80)),
      isWatched(ipv4(6, 80)),
      isWatched(ipv6(1)),
      isWatched(ipv6(2)),
    ]);
    expect(turns).toEqual([0, 1, 2, 0, 1, 2, 0].map((turn) => Array.from({ length: 4 }, () => turn === 0)));
    for (const port of [81, 82]) expect([1, 2, 3].map(() => isWatched(ipv4(5, port)))).toEqual([true, true, true]);
  });
});

describe('intmon.p4 and the roles of @int/codec', () => {
  test('a source writes the same bytes', () => {
    fc.assert(
      fc.property(packetShape(), rule, setup, fc.nat(2 ** 32), (shape, given, from, nowUs) => {
        const node = switchFor(from);
        node.clock.advance(nowUs);
        watch(node, given);
        const frame = frameOf(shape);
        const out = node.machine.process(IN, frame);
        const expected = source(frame, sourceConfig(given, from), ownMetadata(node.clock.nowUs(), from));
        expect(lines(out)).toEqual([`${OUT} ${hex(expected.packet)}`]);
      }),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('a switch on the way writes the same bytes', () => {
    fc.assert(
      fc.property(
        packetShape(),
        rule,
        setup,
        fc.array(hop, { minLength: 1, maxLength: 10 }),
        (shape, given, from, hops) => {
          const node = switchFor(from);
          watch(node, { fields: 0xff, maxHops: 9 });
          const frame = travelled(frameOf(shape), given, hops);
          if (!isInt(frame)) return;
          const out = node.machine.process(IN, frame);
          const metadata = ownMetadata(node.clock.nowUs(), from);
          const expected = transit(frame, configOf(from), metadata);
          const words = (frame[udpAt(frame) + 9] ?? 0) & 31;
          const length = new DataView(frame.buffer).getUint16(udpAt(frame) + 16);
          // What v1model has no room for, or a switch that does not take part.
          const isLeft =
            metadata === null ||
            length - 12 > 4 * MOST_WORDS ||
            (expected.pushed && length - 12 + 4 * words > 4 * MOST_WORDS);
          expect(lines(out)).toEqual([`${OUT} ${hex(isLeft ? frame : expected.packet)}`]);
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('a sink gives back the packet as it was, and the management plane gets it with all its INT', () => {
    fc.assert(
      fc.property(
        packetShape(),
        rule,
        setup,
        fc.array(hop, { minLength: 1, maxLength: 7 }),
        fc.boolean(),
        (shape, given, from, hops, isCopy) => {
          const node = switchFor({ ...from, sink: true });
          watch(node, null);
          let frame = travelled(frameOf(shape), given, hops);
          if (!isInt(frame)) return;
          if (isCopy) {
            frame = frame.slice();
            frame[udpAt(frame) + 8] = 0x08;
          }
          const out = node.machine.process(IN, frame);
          const metadata = ownMetadata(node.clock.nowUs(), from);
          const full = metadata === null ? frame : transit(frame, configOf(from), metadata).packet;
          const { packet } = sink(full, LOCATE);
          const expected = [{ port: MANAGEMENT, frame: copied(full) }];
          if (packet !== null) expected.push({ port: OUT, frame: packet });
          expect(lines(out)).toEqual(lines(expected));
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('a packet that no role may touch goes on as it is', () => {
    fc.assert(
      fc.property(
        packetShape(),
        rule,
        fc.array(hop, { minLength: 1, maxLength: 6 }),
        fc.array(fc.tuple(fc.nat({ max: 60 }), fc.nat({ max: 255 })), { minLength: 1, maxLength: 3 }),
        fc.option(fc.nat({ max: 90 })),
        (shape, given, hops, damage, cut) => {
          const node = switchFor({});
          watch(node, null);
          const whole = travelled(frameOf(shape), given, hops);
          for (const [at, byte] of damage) if (12 + at < whole.length) whole[12 + at] = byte;
          const frame = cut === null ? whole : whole.slice(0, cut);
          if (frame.length === 0) return;
          let expected = frame;
          try {
            const { packet } = transit(frame, LOCATE, ownMetadata(node.clock.nowUs()));
            expected = packet;
          } catch (error) {
            if (!CodecError.is(error)) throw error;
          }
          const out = node.machine.process(IN, frame);
          expect(lines(out)).toEqual([`${OUT} ${hex(expected)}`]);
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});

test('a UDP checksum that comes to 0 is written as 0xffff', () => {
  const node = switchFor({});
  const given = { fields: 0xff, maxHops: 8 };
  watch(node, given);
  const frame = udpFrame(
    { source: 1, destination: 2, sourcePort: 3, destinationPort: 4, checksum: true },
    new Uint8Array(20),
  );
  const through = (): Uint8Array => {
    const [out] = node.machine.process(IN, frame);
    if (out === undefined) throw new TypeError('nothing came out');
    return out.frame;
  };
  // By what the switch changes the checksum; so one that becomes 0, right or wrong, is known.
  const view = new DataView(frame.buffer);
  const change = new DataView(through().buffer).getUint16(40) - view.getUint16(40);
  view.setUint16(40, ((-change % 0xffff) + 0xffff) % 0xffff || 0xffff);
  const out = through();
  expect(new DataView(out.buffer).getUint16(40)).toBe(0xffff);
  expect(hex(out)).toBe(hex(source(frame, sourceConfig(given), ownMetadata(node.clock.nowUs())).packet));
});

describe('watch rules', () => {
  const frame = (source: number, destinationPort: number): Uint8Array =>
    udpFrame(
      { source, destination: 0x0a00_0202, sourcePort: 4000, destinationPort, checksum: true },
      new Uint8Array(20),
    );
  const fieldsOf = (out: Uint8Array | undefined): string => {
    if (out === undefined) throw new TypeError('nothing came out');
    return isInt(out) ? (out[46] ?? 0).toString(2).padStart(8, '0') : 'none';
  };

  test('of the smallest priority number decide, prefix or exact, and count what they match', () => {
    const { machine } = intmonSwitch();
    run(machine, [
      'table_add IntmonIngress.watch_ipv4 IntmonIngress.collect 10.0.1.0&&&255.255.255.0 0&&&0 17&&&255 0&&&0 0&&&0 => 0b11000000 8 20',
      'table_add IntmonIngress.watch_ipv4 IntmonIngress.collect 10.0.1.7&&&255.255.255.255 10.0.2.2&&&255.255.255.255 17&&&255 4000&&&65535 80&&&65535 => 0b11111111 8 10',
      'table_add IntmonIngress.watch_ipv4 IntmonIngress.ignore 0&&&0 0&&&0 0&&&0 0&&&0 53&&&65535 => 5',
    ]);
    const through = (source: number, port: number): string =>
      fieldsOf(machine.process(IN, frame(source, port))[0]?.frame);
    expect(through(0x0a00_0107, 80)).toBe('11111111');
    expect(through(0x0a00_0107, 81)).toBe('11000000');
    expect(through(0x0a00_0108, 80)).toBe('11000000');
    expect(through(0x0a00_0107, 53)).toBe('none');
    expect(through(0x0a00_0207, 80)).toBe('none');
    expect(machine.command('counter_read IntmonIngress.watched_ipv4 0').text).toMatch(/2 packets/);
  });
});

describe('a path of three switches', () => {
  /** Keeps what comes. */
  class Recorder implements Behaviour {
    readonly frames: Uint8Array[] = [];
    receive(frame: Uint8Array): void {
      this.frames.push(frame);
    }
  }

  test('brings the packet to its host as it was sent, and a record of all hops to the management plane', () => {
    const network = new Network({ seed: 1 });
    const switchAt = (index: number): P4Switch =>
      new P4Switch(intmonProgram(), {
        ...undefinedOptions(),
        rateBps: 1e9,
        commands: [
          `table_set_default IntmonEgress.node IntmonEgress.set_node ${index + 1}`,
          'table_add IntmonIngress.forward_ipv4 IntmonIngress.forward 10.0.2.0/24 => 2',
          `table_add IntmonEgress.port IntmonEgress.set_port 2 => ${index === 2 ? 1 : 0} 0 10`,
          ...(index === 0
            ? [`table_add IntmonIngress.watch_ipv4 IntmonIngress.collect ${ANY} => 255 8 1`]
            : ['mirroring_add 5 3', 'table_set_default IntmonEgress.management IntmonEgress.copy_to 5']),
          // Windows of 1 ms at 1 Gbit/s, in hundredths of a percent.
          'table_add IntmonEgress.utilization.rate IntmonEgress.utilization.measure 2 => 1000 5243',
        ].join('\n'),
      });
    const nodes = [0, 1, 2].map((index) => network.add(`s${index}`, switchAt(index)));
    const [first, second, third] = nodes;
    if (first === undefined || second === undefined || third === undefined) throw new RangeError('three switches');
    const [sender, host, management] = [new Recorder(), new Recorder(), new Recorder()];
    const sending = network.add('sender', sender);
    network.connect(sending, first, { aPort: 0, bPort: 1, delayNs: 1000 });
    network.connect(first, second, { aPort: 2, bPort: 1, delayNs: 1000 });
    network.connect(second, third, { aPort: 2, bPort: 1, delayNs: 1000 });
    network.connect(third, network.add('host', host), { aPort: 2, bPort: 0 });
    network.connect(third, network.add('management', management), { aPort: 3, bPort: 0 });
    const frame = udpFrame(
      { source: 0x0a00_0101, destination: 0x0a00_0202, sourcePort: 4000, destinationPort: 80, checksum: true },
      new Uint8Array(1000).fill(7),
    );
    // Eight at once, every two milliseconds: queues build up, and a window has bytes.
    for (let round = 0; round < 3; round++) {
      network.at(round * 1_000_000, () => {
        for (let i = 0; i < 8; i++) sending.send(0, frame);
      });
    }
    network.run(1e9);
    expect(host.frames).toHaveLength(24);
    for (const each of host.frames) expect(hex(each)).toBe(hex(frame));
    expect(management.frames).toHaveLength(24);
    const records = management.frames.map((each) => decodeFrame(each, LOCATE)[0]);
    for (const record of records) {
      expect(record?.status).toBe('ok');
      expect(record?.flow?.destinationPort).toBe(80);
      expect(record?.hops.map(({ nodeId }) => nodeId)).toEqual([1, 2, 3]);
      expect(record?.hops.map(({ l1EgressInterface }) => l1EgressInterface)).toEqual([2, 2, 2]);
    }
    const of = (name: 'hopLatency' | 'queueOccupancy' | 'egressUtilization'): number =>
      Math.max(...records.map((record) => record?.hops[0]?.[name] ?? 0));
    // Seven before the last one, each more than 8 us on the wire.
    expect(of('hopLatency')).toBeGreaterThan(55);
    expect(of('queueOccupancy')).toBeGreaterThan(3);
    // 8 packets of 1042 bytes in a millisecond of 125,000.
    expect(of('egressUtilization')).toBeGreaterThan(600);
    expect(of('egressUtilization')).toBeLessThan(700);
    for (const each of management.frames) expect((each[42] ?? 0) & O_FLAG).toBe(O_FLAG);
  });
});
