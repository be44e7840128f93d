/** Single changes of a decoder's settings that the marks of a sample propose. */
import type { DecodeOptions } from '@int/codec';
import { DEFAULT_INT_DSCP, DEFAULT_INT_PORTS } from '@int/codec/internals';
import type { SampleMarks } from './marks.js';

/** How packets are decoded, without what comes from the source. */
export type Settings = Omit<DecodeOptions, 'linkType'>;

/** The settings that `int doctor` looks for. */
export const TRIED_SETTINGS = [
  'profile',
  'intPorts',
  'intDscp',
  'greProtocol',
  'probeMarker',
  'reportPorts',
] as const satisfies readonly (keyof DecodeOptions)[];
export type TriedSetting = (typeof TRIED_SETTINGS)[number];

/** Settings with one change each, the most promising of a kind first. */
export function changesOf(settings: Settings, marks: SampleMarks): Settings[] {
  return [
    ...portChanges(settings, marks),
    ...dscpChanges(settings, marks),
    ...marks.gre.flatMap(([greProtocol]) => ({ ...settings, greProtocol })),
    ...marks.markers.map(([probeMarker]) => ({ ...settings, probeMarker })),
    ...reportPortChanges(settings, marks),
  ];
}

/** One more port. The ports so far stay as far as the sample has INT on them. */
function portChanges(settings: Settings, { ports }: SampleMarks): Settings[] {
  const present = settings.intPorts ?? DEFAULT_INT_PORTS;
  const used = present.filter((port) => ports.some(([each]) => each === port));
  return ports
    .filter(([port]) => !present.includes(port))
    .map(([port]) => ({ ...settings, intPorts: [...used, port] }));
}

/** Another DSCP, or a mask under which it and the other DSCPs with INT mark it. */
function dscpChanges(settings: Settings, { dscp }: SampleMarks): Settings[] {
  const values = dscp.map(([value]) => value);
  const present = settings.intDscp === undefined ? DEFAULT_INT_DSCP : settings.intDscp;
  const changes: Settings[] = values
    .filter((value) => present === null || (value & present.mask) !== (present.value & present.mask))
    .map((value) => ({ ...settings, intDscp: { value, mask: 0x3f } }));
  const [first] = values;
  if (first === undefined || values.length < 2) return changes;
  const differing = values.reduce((bits, value) => bits | (value ^ first), 0);
  const mask = ~differing & 0x3f;
  // A mask under which DSCP 0 marks INT would take in most traffic.
  if ((first & mask) !== 0) changes.push({ ...settings, intDscp: { value: first & mask, mask } });
  return changes;
}

function reportPortChanges(settings: Settings, { reportPorts, otherReportPorts }: SampleMarks): Settings[] {
  const known = settings.reportPorts ?? reportPorts.map(([port]) => port);
  return otherReportPorts
    .filter(([port]) => settings.reportPorts == null || !known.includes(port))
    .map(([port]) => ({ ...settings, reportPorts: [...new Set([...known, port])] }));
}

/** How many settings differ from others. */
export function deviationsOf(settings: Settings, base: Settings): TriedSetting[] {
  return TRIED_SETTINGS.filter((name) => textOf(settings[name]) !== textOf(base[name]));
}

const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? each.toString() : each)) ?? 'default';
