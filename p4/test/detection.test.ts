import { readdirSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { type Hop, parseAddress, source, transit } from '@int/codec';
import { describe, expect, test } from 'vitest';
import { COLLECTOR, IN, intSwitch, run } from './int-switch.js';

interface Case {
  readonly name: string;
  readonly before?: Readonly<Record<string, Readonly<Record<string, number>>>>;
  readonly commands: readonly string[];
  readonly flows: readonly {
    readonly source: string;
    readonly destination: string;
    readonly protocol: number;
    readonly sourcePort: number;
    readonly destinationPort: number;
  }[];
  readonly reports: readonly {
    readonly timeUs: number;
    readonly flow: number;
    readonly ethernet?: { readonly source: string; readonly destination: string };
    readonly hops: readonly Readonly<Record<string, number | null>>[];
  }[];
  readonly rules: readonly { readonly name: string }[];
  /** `rule` is absent for what the default lets through. */
  readonly events: readonly { readonly report: number; readonly rule?: string }[];
  readonly after: Readonly<Record<string, Readonly<Record<string, number>>>>;
}

const FOLDER = fileURLToPath(new URL('../vectors/', import.meta.url));
const files = readdirSync(FOLDER).filter((name) => name.endsWith('.json'));

const INSTRUCTIONS: Readonly<Record<string, number>> = {
  nodeId: 0x8000,
  l1IngressInterface: 0x4000,
  l1EgressInterface: 0x4000,
  hopLatency: 0x2000,
  queueId: 0x1000,
  queueOccupancy: 0x1000,
  l2IngressInterface: 0x0200,
  l2EgressInterface: 0x0200,
  egressUtilization: 0x0100,
  bufferId: 0x0080,
  bufferOccupancy: 0x0080,
};

/** Registers that rules are in, not the detectors' state. */
const RULES = /^IntSink\.(bank|logic_)/;
/** The detectors' registers. */
const STATE = [
  'sample_count',
  'sample_time',
  'per_hop_previous',
  'per_flow_previous',
  'average_accumulator',
  'average_reported',
  'complex_count',
  'complex_seen',
  'complex_previous',
].map((name) => `IntSink.${name}`);

const LOCATE = { intPorts: [5000], intDscp: { value: 0x17, mask: 0x3f } } as const;

function mac(text: string): number[] {
  return text.split(':').map((part) => Number.parseInt(part, 16));
}

/** The packet of a report: its flow, and its hops on the stack. The last hop has used up the hop count: the sink adds none. */
function packetOf({ flows }: Case, { flow: number, ethernet, hops }: Case['reports'][number]): Uint8Array {
  const flow = flows[number]!;
  const ipv6 = flow.source.includes(':');
  const l4 = ipv6 ? 54 : 34;
  const header = flow.protocol === 6 ? 20 : 8;
  const frame = new Uint8Array(l4 + header + 6);
  const view = new DataView(frame.buffer);
  frame.set(mac(ethernet?.destination ?? '02:00:00:00:00:02'));
  frame.set(mac(ethernet?.source ?? '02:00:00:00:00:01'), 6);
  view.setUint16(12, ipv6 ? 0x86dd : 0x0800);
  if (ipv6) {
    frame.set([0x60, 0, 0, 0, 0, header + 6, flow.protocol, 64], 14);
  } else {
    frame.set([0x45, 0, 0, 20 + header + 6, 0, 0, 0, 0, 64, flow.protocol], 14);
  }
  const words = [...parseAddress(flow.source).words, ...parseAddress(flow.destination).words];
  for (const [i, word] of words.entries()) view.setUint32((ipv6 ? 22 : 26) + 4 * i, word);
  view.setUint16(l4, flow.sourcePort);
  view.setUint16(l4 + 2, flow.destinationPort);
  if (flow.protocol === 6) frame[l4 + 12] = 0x50;
  else view.setUint16(l4 + 4, header + 6);

  const instructions = Object.keys(hops[0] ?? {}).reduce((bits, name) => bits | (INSTRUCTIONS[name] ?? 0), 0);
  let { packet } = source(
    frame,
    { ...LOCATE, instructions, maxHops: Math.max(1, hops.length), encapsulation: 'new-udp' },
    (hops[0] as Hop | undefined) ?? null,
  );
  for (const each of hops.slice(1)) packet = transit(packet, LOCATE, each as Hop).packet;
  return packet;
}

/** Number of the rule in a report: behind Ethernet, IPv4, UDP, the group header, the individual header and main contents. */
function ruleOf(report: Uint8Array): number {
  return new DataView(report.buffer, report.byteOffset).getUint32(14 + 20 + 8 + 8 + 4 + 8);
}

/** Indices of the cells that are not 0. There are millions of cells: those of 64 bits are looked at as pairs of words. */
function inUse(cells: ArrayLike<number | bigint>): number[] {
  const wide = cells instanceof BigUint64Array;
  const words = wide ? new Uint32Array(cells.buffer, cells.byteOffset, cells.length * 2) : (cells as ArrayLike<number>);
  const found: number[] = [];
  for (let at = 0; at < words.length; at++) {
    if (words[at] === 0) continue;
    const index = wide ? at >>> 1 : at;
    if (found.at(-1) !== index) found.push(index);
  }
  return found;
}

describe('the detectors of int.p4 and those of @int/detect', () => {
  const { machine, clock } = intSwitch({ sink: true, reports: true });

  function check(vector: Case): void {
    for (const name of STATE) machine.register(name).reset();
    for (const [name, cells] of Object.entries(vector.before ?? {})) {
      for (const [index, value] of Object.entries(cells))
        machine.register(name).write(Number(index), cellOf(name, value));
    }
    run(machine, vector.commands);

    const reported: { report: number; rule: string | undefined }[] = [];
    for (const [index, report] of vector.reports.entries()) {
      clock.time = report.timeUs;
      for (const out of machine.process(IN, packetOf(vector, report))) {
        if (out.port === COLLECTOR) reported.push({ report: index, rule: vector.rules[ruleOf(out.frame)]?.name });
      }
    }

    const events = new Map(vector.events.map(({ report, rule }) => [report, { report, rule }]));
    expect(reported).toEqual([...events.values()]);
    const after: Record<string, Record<string, number>> = {};
    for (const name of STATE) {
      const { cells } = machine.register(name);
      const used = inUse(cells).map((index) => [index, Number(cells[index])] as const);
      if (used.length > 0) after[name] = Object.fromEntries(used);
    }
    expect(after).toEqual(Object.fromEntries(Object.entries(vector.after).filter(([name]) => !RULES.test(name))));
  }

  const cellOf = (name: string, value: number): number | bigint =>
    typeof machine.register(name).cells[0] === 'bigint' ? BigInt(value) : value;

  for (const file of files) {
    const { cases } = JSON.parse(readFileSync(FOLDER + file, 'utf8')) as { readonly cases: readonly Case[] };
    test(file, () => {
      for (const vector of cases) {
        try {
          check(vector);
        } catch (error) {
          throw new Error(`case "${vector.name}": ${(error as Error).message}`, { cause: error });
        }
      }
    });
  }
});
