import { type Hop, type SourceConfig, sink, source, transit } from '@int/codec';
import fc from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { configure, IN, type IntSetup, type IntSwitch, intSwitch, OUT, ownMetadata, run } from './int-switch.js';
import { frameOf, hex, packetShape } from './packets.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_121);
const RUNS = process.env.INT_LONG === '1' ? 50_000 : 500;

/** How the program finds INT, too. */
const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;
const NPT = { dscp: 0, port: 1, 'new-udp': 2 } as const;
const ANY = '0&&&0 0&&&0 0&&&0 0&&&0 0->65535 0->65535 0&&&0 0&&&0';
const ENTROPY_PORT = 0xc123;

const word = fc.oneof(fc.constantFrom(0, 1, 0xffff_fffe), fc.integer({ min: 0, max: 0xffff_fffe }));
const hop: fc.Arbitrary<Hop> = fc.record({
  nodeId: word,
  l1IngressInterface: fc.integer({ min: 0, max: 0xffff }),
  l1EgressInterface: fc.integer({ min: 0, max: 0xfffe }),
  hopLatency: word,
  queueId: fc.integer({ min: 0, max: 7 }),
  queueOccupancy: fc.integer({ min: 0, max: 0xff_ffff }),
  ingressTimestamp: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  egressTimestamp: fc.bigInt({ min: 0n, max: 2n ** 63n }),
  l2IngressInterface: word,
  l2EgressInterface: word,
  egressUtilization: word,
});

interface Rule {
  readonly encapsulation: keyof typeof NPT;
  readonly mode: 'md' | 'mx';
  readonly instructions: number;
  readonly maxHops: number;
  readonly discard: boolean;
}

const rule: fc.Arbitrary<Rule> = fc.record({
  encapsulation: fc.constantFrom('dscp' as const, 'port' as const, 'new-udp' as const),
  mode: fc.constantFrom('md' as const, 'md' as const, 'md' as const, 'mx' as const),
  instructions: fc.oneof(fc.constantFrom(0, 0x8000, 0xf000, 0xff81, 0xffff), fc.integer({ min: 0, max: 0xffff })),
  maxHops: fc.oneof(fc.constantFrom(1, 2, 8, 255), fc.integer({ min: 1, max: 255 })),
  discard: fc.boolean(),
});

const setup: fc.Arbitrary<IntSetup> = fc.record(
  {
    mtu: fc.constantFrom(0, 0, 60, 80, 100, 120, 1500),
    complements: fc.boolean(),
    level2: fc.tuple(word, word),
  },
  { requiredKeys: [] },
);

const configOf = ({ mtu, complements }: IntSetup): Pick<SourceConfig, 'mtu' | 'checksum' | 'intPorts' | 'intDscp'> => ({
  ...LOCATE,
  ...(mtu !== undefined && mtu > 0 && { mtu }),
  checksum: complements === true ? 'complement' : 'update',
});

const sourceConfig = (given: Rule, from: IntSetup = {}): SourceConfig => ({
  ...configOf(from),
  ...given,
  entropyPort: ENTROPY_PORT,
});

let node: IntSwitch;
beforeAll(() => {
  node = intSwitch();
});

function watch({ machine }: IntSwitch, given: Rule): void {
  const { encapsulation, mode, instructions, maxHops, discard } = given;
  const action =
    mode === 'md'
      ? `start_md ${ANY} => ${NPT[encapsulation]} ${instructions} ${maxHops} ${Number(discard)} ${ENTROPY_PORT} 1`
      : `start_mx ${ANY} => ${NPT[encapsulation]} ${instructions} ${Number(discard)} ${ENTROPY_PORT} 0 1`;
  for (const table of ['watch_ipv4', 'watch_ipv6']) {
    run(machine, [`table_clear IntIngress.${table}`, `table_add IntIngress.${table} IntIngress.${action}`]);
  }
}

/** A packet that has come some way: through a source and some switches. */
function travelled(frame: Uint8Array, given: Rule, hops: readonly Hop[]): Uint8Array {
  const config = sourceConfig(given);
  let { packet } = source(frame, config, hops[0] ?? null);
  for (const each of hops.slice(1)) packet = transit(packet, config, each).packet;
  return packet;
}

describe('int.p4 and the roles of @int/codec', () => {
  test('a source writes the same bytes', () => {
    fc.assert(
      fc.property(packetShape(), rule, setup, fc.nat(1e6), (shape, given, from, nowUs) => {
        configure(node, from);
        node.clock.time += nowUs;
        watch(node, given);
        const frame = frameOf(shape);
        const out = node.machine.process(IN, frame);
        run(node.machine, ['table_clear IntIngress.watch_ipv4', 'table_clear IntIngress.watch_ipv6']);
        const expected = source(frame, sourceConfig(given, from), ownMetadata(node.clock.time, from));
        expect(out.map(({ port }) => port)).toEqual([OUT]);
        expect(hex(out[0]?.frame)).toBe(hex(expected.packet));
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
          configure(node, from);
          const frame = travelled(frameOf(shape), given, hops);
          const out = node.machine.process(IN, frame);
          const expected = transit(frame, configOf(from), ownMetadata(node.clock.time, from));
          expect(out.map(({ port }) => port)).toEqual([OUT]);
          expect(hex(out[0]?.frame)).toBe(hex(expected.packet));
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });

  test('a sink gives back the packet as it was', () => {
    fc.assert(
      fc.property(
        packetShape(),
        rule,
        setup,
        fc.array(hop, { minLength: 1, maxLength: 10 }),
        (shape, given, from, hops) => {
          configure(node, { ...from, sink: true });
          const frame = travelled(frameOf(shape), given, hops);
          const out = node.machine.process(IN, frame);
          const { packet } = sink(frame, LOCATE);
          expect(out.map((each) => `${each.port} ${hex(each.frame)}`)).toEqual(
            packet === null ? [] : [`${OUT} ${hex(packet)}`],
          );
        },
      ),
      { seed: SEED, numRuns: RUNS },
    );
  });
});
