/** Figures of running P4 programs. */
import { markdownTable, paragraph } from '@int/harness';
import { machineOf, one, pick, range, results, whole } from './reading.js';

interface Running {
  readonly simpleSwitch: string;
  readonly packets: number;
  readonly rounds: number;
  readonly results: readonly {
    readonly name: string;
    /** Packets a second: ours in memory, ours from capture to capture, simple_switch. */
    readonly alone: number;
    readonly files: number;
    readonly reference: number;
    readonly ratio: number;
    readonly ratios: readonly number[];
  }[];
}

const NAMES = {
  router: 'router',
  transit: 'int.p4, transit',
  sink: 'int.p4, sink',
  'sink+perHop': 'int.p4, sink, `perHop`',
  'sink+reports': 'int.p4, sink, every packet reported',
  forwarding: 'int.p4, packets without INT',
} as const;

const read = () => results<Running>('p4vm');
const of = (name: keyof typeof NAMES): Running['results'][number] =>
  pick(read().results, name, (each) => each.name === name);

function table(): string {
  const all = read();
  const names = Object.keys(NAMES) as (keyof typeof NAMES)[];
  return [
    paragraph(
      `Packets a second on one core of a ${machineOf(all)}, ${whole(all.packets)} packets, ${all.rounds} rounds (\`--packets ${all.packets} --rounds ${all.rounds}\`),`,
      `simple_switch ${all.simpleSwitch} built with -O3 and without logging:`,
    ),
    markdownTable(
      ['program', 'the switch', 'pcap to pcap', 'simple_switch', 'ratio'],
      names.map((name) => {
        const { alone, files, reference, ratio } = of(name);
        return [NAMES[name], whole(alone), whole(files), whole(reference), one(ratio)];
      }),
    ),
    paragraph(
      `The router is the fairest comparison: ${one(of('router').ratio)} is the median of ${[...of('router').ratios]
        .sort((a, b) => a - b)
        .map(one)
        .join(', ')}.`,
      'With int.p4 the ratio is larger because of its headers. For each packet, simple_switch processes all headers that a program',
      'declares, valid or not. int.p4 has 288 of them (two stacks of 104 words among them), the router 2. `the switch` is ours in',
      'memory; the time of simple_switch without reading and writing captures is not measured here, so that figure is in no ratio.',
    ),
  ].join('\n\n');
}

/** How many times as many packets a router forwards as in simple_switch. */
export const routerRatio = (): number => of('router').ratio;

/** For FIGURES.md. */
function words(): string {
  const { simpleSwitch } = read();
  const both = (name: keyof typeof NAMES): string => `${whole(of(name).files)} against ${whole(of(name).reference)}`;
  const others = read()
    .results.filter(({ name }) => name !== 'router')
    .map(({ ratio }) => ratio);
  const rounded = (value: number): string => value.toFixed(0);
  return paragraph(
    `Running P4 programs, packets a second on one core, from capture to capture as simple_switch (${simpleSwitch}, -O3, no logging) does`,
    `in the same run ([benchmarks](README.md), "P4 programs"): a router of one table ${both('router')}, ${rounded(routerRatio())} times`,
    `as many (${range(of('router').ratios, rounded)} by round). With int.p4 the ratio is larger, ${range(others, rounded)}: as transit ${both('transit')},`,
    `as sink ${both('sink')}. simple_switch goes through all headers that a program declares for each packet, valid or not, and int.p4 has`,
    `288 of them, the router 2. From memory into nothing, without captures, the router takes ${whole(of('router').alone)}.`,
  );
}

export const p4vm = { p4vm: table, 'p4vm-words': words };
