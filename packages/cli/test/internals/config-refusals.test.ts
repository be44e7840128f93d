import { describe, expect, test } from 'vitest';
import { changes } from '../../src/config/changes.js';
import { share } from '../../src/config/exchanges.js';
import { readConfig } from '../../src/config/read-config.js';
import { refusals } from '../../src/config/refusals.js';
import type { Io } from '../../src/io.js';
import { temporaryFolder } from '../run.js';

const files = temporaryFolder();
const read = async (name: string, text: string) =>
  readConfig(await files.write(name, `version: 1\n${text}`), {
    env: {},
    signal: new AbortController().signal,
  } as unknown as Io);

/** Why a change is refused, by position; empty if it is not. */
async function refused(before: string, after: string, hasOwnMetrics = false): Promise<string[]> {
  const problems = refusals(await read('a.yaml', before), await read('b.yaml', after), hasOwnMetrics);
  return (problems?.lines ?? []).map((line) => line.replace(/^.*b\.yaml:/, ''));
}

const UDP = 'sources: [{ udp: { listen: "0.0.0.0:5000" } }]\n';
const PREFILTER = 'sources: [{ afxdp: { interface: eth0, prefilter: true } }]\ndetect: { rules: a }\n';
const kafka = (more = ''): string => `{ kafka: { brokers: ["a:9092"]${more} } }`;

describe('What a reload cannot change', () => {
  test('is refused by name, at its place', async () => {
    const cases: [string, string, string][] = [
      [
        `${UDP}workers: 2\nsinks: [${kafka(', spool: { directory: s }')}]\n`,
        `${UDP}workers: 3\nsinks: [${kafka(', spool: { directory: s }')}]\n`,
        '4:48: workers begin anew with this change, and those at work have this spool open: give another folder, or start the command anew',
      ],
      [
        `${UDP}workers: 2\nsinks: [${kafka(', spool: { directory: s }')}]\n`,
        `${UDP}sinks: [${kafka(', spool: { directory: s }')}]\n`,
        '3:48: workers begin anew with this change, and those at work have this spool open: give another folder, or start the command anew',
      ],
      [
        PREFILTER,
        PREFILTER.replace('eth0', 'eth1'),
        '2:11: an afxdp source: the pre-filter in the kernel and the detector behind it begin together: start the command anew',
      ],
      [
        PREFILTER,
        `${PREFILTER}decode: { intPorts: [1] }\n`,
        '4:9: decode: the pre-filter in the kernel and the detector behind it begin together: start the command anew',
      ],
      [
        PREFILTER,
        `${PREFILTER}device: { intPorts: [1], units: { hopLatency: us } }\n`,
        '4:9: device, but for its units: the pre-filter in the kernel and the detector behind it begin together: start the command anew',
      ],
      [
        PREFILTER,
        PREFILTER.replace('rules: a', 'rules: b'),
        '3:9: detect: the pre-filter in the kernel and the detector behind it begin together: start the command anew (the rules file may change, it is read again)',
      ],
      [
        `${UDP}dart: { store: s }\n`,
        `${UDP}dart: { store: s, copies: 3 }\n`,
        '3:7: dart: the store is open, and one of another shape needs a folder of its own: give one, or start the command anew',
      ],
      [
        'sources: [{ pcap: { file: a.pcap } }]\n',
        UDP,
        '2:10: the captures so far wait for the reader of the output, and a source that goes on does not: start the command anew',
      ],
      [
        UDP,
        'sources: [{ pcap: { file: "-" } }]\n',
        '2:11: standard input is read at the start only: start the command anew',
      ],
    ];
    const found: string[][] = [];
    for (const [before, after] of cases) found.push(await refused(before, after));
    expect(found).toEqual(cases.map(([, , line]) => [line]));
    const page = `${UDP}sinks: [{ prometheus: { listen: "127.0.0.1:1" } }]\n`;
    expect(await refused(UDP, page, true)).toEqual([
      '3:9: prometheus: the command was started with --metrics, which has the page: start it without',
    ]);
  });

  test('is little: all else changes while it runs', async () => {
    const before = `${UDP}detect: { rules: a }\nflows: {}\ndart: { store: s }\nsinks: [${kafka()}]\n`;
    const after = `sources: [{ pcap: { file: a } }, { udp: { listen: "127.0.0.1:1" } }]\ndecode: { intPorts: [1] }\ndart: { store: t }\ndrain: 1s\nsinks: [{ prometheus: { listen: "127.0.0.1:1" } }, ${kafka(', prefix: x.')}]\n`;
    expect(await refused(before, after)).toEqual([]);
    expect(await refused(after, before)).toEqual([]);
    const xdp = 'sources: [{ afxdp: { interface: eth0 } }]\n';
    expect(await refused(PREFILTER, `${PREFILTER}device: { units: { hopLatency: us } }\n`)).toEqual([]);
    expect(await refused(xdp, `${xdp}device: { intPorts: [1] }\n`)).toEqual([]);
    expect(await refused(xdp, xdp.replace('eth0', 'eth0, queues: 1, from: [10.0.0.1]'))).toEqual([]);
    expect(await refused(UDP, xdp)).toEqual([]);
    expect(await refused(xdp, UDP)).toEqual([]);
    const spool = (more: string): string => `${UDP}sinks: [${kafka(`${more}, spool: { directory: s }`)}]\n`;
    expect(await refused(spool(''), spool(', name: other, prefix: x.'))).toEqual([]);
    const workers = (count: string, more = ''): string => `${UDP}${count}flows: {}\nsinks: [${kafka(more)}]\n`;
    expect(await refused(workers('workers: 2\n'), workers('workers: 3\n', ', prefix: x.'))).toEqual([]);
    expect(await refused(workers('workers: 2\n'), workers(''))).toEqual([]);
    const [{ config: a }, { config: b }] = [await read('a.yaml', before), await read('b.yaml', after)];
    expect(changes(a, b)).toEqual([
      'the capture a added',
      'UDP on 127.0.0.1:1 added',
      'UDP on 0.0.0.0:5000 removed',
      'decode changed',
      'detect changed',
      'flows changed',
      'dart changed',
      'drain changed',
      'sink prometheus added',
      'sink kafka replaced',
    ]);
    expect(changes(a, a)).toEqual([]);
  });
});

test('Sources share an address that only one of them can have', () => {
  const udp = (listen: string) => ({ udp: { listen } });
  const kafka = (group?: string) => ({ kafka: { brokers: ['a:9092'], ...(group !== undefined && { group }) } });
  expect(share(udp('127.0.0.1:1'), udp('127.0.0.1:1'))).toBe(true);
  expect(share(udp('0.0.0.0:1'), udp('127.0.0.1:1'))).toBe(true);
  expect(share(udp('127.0.0.1:1'), udp('[::]:1'))).toBe(true);
  expect(share(udp('127.0.0.1:1'), udp('10.0.0.1:1'))).toBe(false);
  expect(share(udp('127.0.0.1:1'), udp('127.0.0.1:2'))).toBe(false);
  expect(share(udp('127.0.0.1:0'), udp('127.0.0.1:0'))).toBe(false);
  const afxdp = (name: string, queues: number) => ({ afxdp: { interface: name, queues } });
  expect(share(afxdp('eth0', 0), afxdp('eth0', 1))).toBe(true);
  expect(share(afxdp('eth0', 0), afxdp('eth1', 0))).toBe(false);
  expect(share(kafka(), kafka('int-collect'))).toBe(true);
  expect(share(kafka(), kafka('other'))).toBe(false);
  expect(share(kafka(), udp('127.0.0.1:1'))).toBe(false);
});
