import { fileURLToPath } from 'node:url';
import { overheadOf, planWatching } from '@int/control';
import { overheadBps, telemetryBytes, throughputLoss } from '@int/control/internals';
import { Host, Network, udpFrame } from '@int/netsim';
import { P4Switch } from '@int/netsim/p4';
import { loadProgram } from '@int/p4vm/node';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';
import { runs } from '../../../.ci/test/length.js';

const intmon = loadProgram(fileURLToPath(new URL('../../../p4/intmon.p4', import.meta.url)));
/** Bits 0, 2 and 3: switch id, hop latency, queue occupancy. */
const FIELDS = 0xb0;

describe('the overhead of watching', () => {
  it('is that of the paper: three switches, three fields, every second packet of 126 bytes watched', () => {
    const bytes = telemetryBytes({ kind: 'intmon', fields: 3 });
    expect(overheadBps(1000, 3, bytes)).toBe(1000 * (12 + 4 * 3 * 3) * 8);
    expect(throughputLoss(126, 2, 48)).toBeCloseTo(1 - 252 / 300, 12);
  });

  it('is what three switches with intmon.p4 add to packets, byte by byte', () => {
    const network = new Network({ seed: 1 });
    const [from, to] = [new Host({ address: 0x0a000001 }), new Host({ address: 0x0a000002 })];
    const nodes = [1, 2, 3].map((id) => {
      const watch = `table_add IntmonIngress.watch_ipv4 IntmonIngress.collect 0&&&0 0&&&0 17&&&0xff 0&&&0 7&&&0xffff => ${FIELDS} 8 1`;
      // The last switch does not strip here, so that the link behind it shows all three.
      const commands = [
        `table_set_default IntmonEgress.node IntmonEgress.set_node ${id}`,
        'table_add IntmonIngress.forward_ipv4 IntmonIngress.forward 10.0.0.0/8 => 2',
        'table_add IntmonEgress.port IntmonEgress.set_port 2 => 0 0 0',
        ...(id === 1 ? [watch] : []),
      ];
      return network.add(`s${id}`, new P4Switch(intmon, { commands: commands.join('\n') }));
    });
    network.connect(network.add('from', from), nodes[0]!, { aPort: 0, bPort: 1 });
    const links = [0, 1, 2].map((i) =>
      i < 2
        ? network.connect(nodes[i]!, nodes[i + 1]!, { aPort: 2, bPort: 1 })
        : network.connect(nodes[2]!, network.add('to', to), { aPort: 2, bPort: 0 }),
    );
    const sums = [0, 0, 0];
    for (const [i, link] of links.entries()) {
      network.tap(link, 'ab', (frame) => {
        sums[i] = sums[i]! + frame.length;
      });
    }
    const pairs = 50;
    for (let i = 0; i < 2 * pairs; i++) {
      // Two equal flows; one of them is watched.
      const frame = udpFrame(
        { source: 0x0a000001, destination: 0x0a000002, sourcePort: 5, destinationPort: i % 2 === 0 ? 7 : 8 },
        new Uint8Array(84),
      );
      expect(frame.length).toBe(126);
      network.at(i * 1000, () => from.sendFrame(frame));
    }
    network.run(1e9);
    const added = sums.map((sum) => 8 * (sum - 2 * pairs * 126));
    const header = { kind: 'intmon', fields: 3 } as const;
    const names = ['s1-s2', 's2-s3', 's3-to'];
    const { links: predicted } = overheadOf([
      { name: 'watched', packetsPerSecond: pairs, oneIn: 1, header, links: names },
    ]);
    expect(added).toEqual(names.map((name) => predicted.get(name)));
    expect(1 - (2 * pairs * 126) / sums[2]!).toBeCloseTo(0.16, 12);
  });

  it('counts words of INT 2.1 by its instructions', () => {
    expect(telemetryBytes({ kind: 'int-md', instructions: 0xf000 })).toEqual({ headerBytes: 16, hopBytes: 16 });
    expect(telemetryBytes({ kind: 'int-md', instructions: 0xff00, newUdp: true })).toEqual({
      headerBytes: 24,
      hopBytes: 44,
    });
    for (const wrong of [
      { kind: 'intmon', fields: 9 },
      { kind: 'int-md', instructions: 0x10000 },
    ] as const) {
      expect(() => telemetryBytes(wrong)).toThrow(RangeError);
    }
    const flow = {
      name: 'f',
      packetsPerSecond: 1,
      oneIn: 1,
      header: { kind: 'intmon', fields: 1 },
      links: ['a'],
    } as const;
    expect(() => overheadOf([{ ...flow, oneIn: 0.5 }])).toThrow(RangeError);
    expect(() => overheadOf([{ ...flow, packetsPerSecond: Number.NaN }])).toThrow(RangeError);
  });
});

describe('the plan of watching', () => {
  const LINKS = ['a', 'b', 'c'];

  function question(random: Random, flows: number): Parameters<typeof planWatching>[0] {
    return {
      flows: Array.from({ length: flows }, (_, i) => ({
        name: `f${i}`,
        packetsPerSecond: 1 + random.integer(1000),
        weight: 1 + random.integer(3),
        links: LINKS.filter(() => random.integer(3) > 0),
      })),
      budgetBps: new Map(LINKS.map((link) => [link, random.integer(flows * 40_000)])),
      fieldSets: [1, 3, 6].map((fields, i) => ({ header: { kind: 'intmon', fields }, value: i + 1 })),
      oneIn: [1, 10, 100],
    };
  }

  const valued = (
    asked: ReturnType<typeof question>,
    choice: readonly (readonly [number, number] | null)[],
  ): number => {
    const watched = choice.flatMap((each, i) => {
      const { name, packetsPerSecond, links } = asked.flows[i]!;
      return each === null
        ? []
        : [{ name, packetsPerSecond, links, oneIn: asked.oneIn[each[1]]!, header: asked.fieldSets[each[0]]!.header }];
    });
    const cost = overheadOf(watched).links;
    if ([...asked.budgetBps].some(([link, budget]) => (cost.get(link) ?? 0) > budget)) return Number.NEGATIVE_INFINITY;
    return choice.reduce((sum, each, i) => {
      const { weight, packetsPerSecond } = asked.flows[i]!;
      return each === null
        ? sum
        : sum + weight * asked.fieldSets[each[0]]!.value * Math.log2(1 + packetsPerSecond / asked.oneIn[each[1]]!);
    }, 0);
  };

  it('is the best there is: that of all combinations', () => {
    const all = [null, ...[0, 1, 2].flatMap((set) => [0, 1, 2].map((oneIn) => [set, oneIn] as const))];
    for (let seed = 0; seed < runs(160); seed++) {
      const asked = question(new Random(seed), 3);
      let best = 0;
      for (const a of all) for (const b of all) for (const c of all) best = Math.max(best, valued(asked, [a, b, c]));
      const { value, isBest } = planWatching(asked);
      expect({ seed, isBest, value }).toEqual({ seed, isBest: true, value: expect.closeTo(best, 9) });
    }
  });

  it('keeps every budget, for many flows too, and is no worse than nothing', () => {
    const asked = question(new Random(1), 60);
    const { choices, value, isBest } = planWatching({ ...asked, branches: 1000 });
    const indices = choices.map(({ fieldSet, oneIn }) =>
      fieldSet === null ? null : ([asked.fieldSets.indexOf(fieldSet), asked.oneIn.indexOf(oneIn)] as const),
    );
    expect(isBest).toBe(false);
    expect(value).toBeGreaterThan(0);
    expect(valued(asked, indices)).toBeCloseTo(value, 6);
  });
});
