import { Parser } from 'binary-parser';

/** A report as the lean parser leaves it: header words as they are, the stack as one array of words. */
export interface LeanReport {
  group: number;
  nodeId: number;
  header: number;
  bits: number;
  domain: number;
  ip0: number;
  ip1: number;
  ip2: number;
  source: number;
  destination: number;
  ports: number;
  udp1: number;
  shim: number;
  head: number;
  instructions: number;
  domainFlags: number;
  stack: number[];
}

/**
 * The least that binary-parser can be asked to do for a report of the benchmark's kind: whole words, nothing checked,
 * no bit fields, the Ethernet header skipped.
 */
export function leanParser(): { parse(frame: Buffer): LeanReport } {
  const parser = new Parser()
    .endianness('big')
    .uint32('group')
    .uint32('nodeId')
    .uint32('header')
    .uint32('bits')
    .uint32('domain')
    .seek(14)
    .uint32('ip0')
    .uint32('ip1')
    .uint32('ip2')
    .uint32('source')
    .uint32('destination')
    .uint32('ports')
    .uint32('udp1')
    .uint32('shim')
    .uint32('head')
    .uint32('instructions')
    .uint32('domainFlags')
    .array('stack', {
      type: 'uint32be',
      length(this: unknown): number {
        return (((this as LeanReport).shim >>> 16) & 255) - 3;
      },
    });
  return parser as unknown as { parse(frame: Buffer): LeanReport };
}
