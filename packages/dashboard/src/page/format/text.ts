import { type MetricUnit, valueText } from '@int/network';
import type { LeftOutReports, ReplayAnswer } from '../../client/index.js';

const digits = (value: number, count: number): string =>
  value.toLocaleString('en-US', { maximumFractionDigits: count });

/** A count or a rate: 1,234, 12.3k, 4.56M. */
export function countText(value: number | null | undefined): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  const size = Math.abs(value);
  if (size < 10_000) return digits(value, size < 10 && !Number.isInteger(value) ? 1 : 0);
  const power = size >= 999.5e6 ? 3 : size >= 999.5e3 ? 2 : 1;
  return `${Number((value / 1000 ** power).toPrecision(3))}${['', 'k', 'M', 'G'][power]}`;
}

export const exactText = (value: number): string => value.toLocaleString('en-US');

/** A measured value with its unit; of a value with a fraction, what a chart shows. */
export function measureText(value: number | null | undefined, unit: MetricUnit | null): string {
  if (value === null || value === undefined || Number.isNaN(value)) return '–';
  if (unit === null) return countText(value);
  if (unit.base === 'cells' || unit.base === 'packets') return `${countText(value)} ${unit.base}`;
  return valueText(value, unit);
}

const NANOSECONDS: MetricUnit = { text: 'ns', base: 'seconds', factor: 1e-9 };

export const latencyText = (ns: number | null | undefined): string => measureText(ns, NANOSECONDS);

export function bytesText(bytes: number): string {
  return valueText(bytes, { text: 'B', base: 'bytes', factor: 1 });
}

export const percentText = (share: number | null | undefined): string =>
  share === null || share === undefined ? '–' : `${(share * 100).toFixed(share < 0.0995 ? 1 : 0)} %`;

const two = (value: number): string => String(value).padStart(2, '0');

/** Time of day of the reader's own clock, with a tenth of a second. */
export function clockText(ms: number, decimals: 0 | 1 | 3 = 1): string {
  const date = new Date(ms);
  const base = `${two(date.getHours())}:${two(date.getMinutes())}:${two(date.getSeconds())}`;
  if (decimals === 0) return base;
  return `${base}.${String(date.getMilliseconds()).padStart(3, '0').slice(0, decimals)}`;
}

/** `2026-11-28T12:00:00.0` in the reader's own time, as inputs of the browser have it. */
export function localText(ms: number): string {
  return new Date(ms - new Date(ms).getTimezoneOffset() * 60_000).toISOString().slice(0, 21);
}

/** What tells that an answer is from the history, and of which part of its reports. */
export function historyText({ source, share }: { readonly source?: string; readonly share?: number }): string {
  if (source !== 'history') return '';
  return share === undefined || share >= 1
    ? ', from the history'
    : `, from ${percentText(share)} of the reports in the history`;
}

/** Words of the server as a sentence. */
export const sentenceOf = (words: string): string =>
  `${words.slice(0, 1).toUpperCase()}${words.slice(1)}${/[.!?]$/.test(words) ? '' : '.'}`;

/** How long something is: 0.3 s, 42 s, 5 min, 2.5 h. */
export function durationText(ms: number): string {
  const seconds = ms / 1000;
  if (seconds < 1) return `${Math.round(ms)} ms`;
  if (seconds < 60) return `${digits(seconds, seconds < 10 ? 1 : 0)} s`;
  if (seconds < 3600) return `${digits(seconds / 60, seconds < 600 && seconds % 60 !== 0 ? 1 : 0)} min`;
  return `${digits(seconds / 3600, 1)} h`;
}

const PROTOCOLS: Readonly<Record<number, string>> = {
  1: 'icmp',
  6: 'tcp',
  17: 'udp',
  47: 'gre',
  58: 'icmpv6',
  132: 'sctp',
};
export const protocolText = (protocol: number): string => PROTOCOLS[protocol] ?? String(protocol);

interface FlowEnds {
  readonly source: string;
  readonly destination: string;
  readonly sourcePort: number | null;
  readonly destinationPort: number | null;
  readonly protocol: number;
}

const endText = (address: string, port: number | null): string =>
  port === null || port === 0 ? address : address.includes(':') ? `[${address}]:${port}` : `${address}:${port}`;

/** `10.0.0.1:1234 › 10.0.0.2:80 tcp` */
export function flowText(flow: FlowEnds | null): string {
  if (flow === null) return 'flow unknown';
  const { source, destination, sourcePort, destinationPort, protocol } = flow;
  return `${endText(source, sourcePort)} › ${endText(destination, destinationPort)} ${protocolText(protocol)}`;
}

/** A filter that only one flow passes. */
export function flowFilter({ source, destination, sourcePort, destinationPort, protocol }: FlowEnds): string {
  const ports = sourcePort === null ? '' : ` sport=${sourcePort} dport=${destinationPort}`;
  return `src=${source} dst=${destination}${ports} proto=${protocolText(protocol)}`;
}

/** A value as a filter writes it: in quotes where it has to be. */
export const quoted = (text: string): string =>
  /^[^\s()<>=~!,&|"']+$/.test(text) ? text : `"${text.replaceAll('"', '')}"`;

/** The name of a degraded state, without what follows it. */
export const shortState = (state: string): string => state.split(':')[0]!;

const LEFT_OUT: Readonly<Record<keyof LeftOutReports, string>> = {
  sampled: 'too many to be read',
  early: 'before the range',
  late: 'too late, their time was played',
  undecoded: 'not decodable',
};

/** Reports that a replay does not play, by reason: `left out: 7 before the range`. */
export function leftOutText({ leftOut = {} }: Pick<ReplayAnswer, 'leftOut'>): string {
  const parts = (Object.entries(leftOut) as [keyof LeftOutReports, number][]).map(
    ([reason, count]) => `${countText(count)} ${LEFT_OUT[reason]}`,
  );
  return parts.length === 0 ? '' : `left out: ${parts.join(', ')}`;
}
