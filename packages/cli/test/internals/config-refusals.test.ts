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
const kafka = (more = ''): string => `{ kafka: { brokers: ["a:9092"]${more} } }`;

describe('What a reload cannot change', () => {
  test('is refused by name, at its place', async () => {
    const cases: [string, string, string][] = [
      [`${UDP}workers: 2\n`, `${UDP}workers: 3\n`, '3:10: workers: a reload cannot change it: start the command anew'],
      [`${UDP}workers: 2\n`, UDP, '1:1: workers: a reload cannot change it: start the command anew'],
      [
        `${UDP}workers: 2\nflows: {}\n`,
        `${UDP}workers: 2\nflows: { rows: 16 }\n`,
        '4:8: flows of workers: a reload cannot change it: start the command anew',
      ],
      [
        `${UDP}workers: 2\nsinks: [${kafka()}]\n`,
        `${UDP}workers: 2\nsinks: [${kafka(', prefix: x.')}]\n`,
        '4:9: sinks of workers (kafka, opensearch): a reload cannot change it: start the command anew',
      ],
      [
        `${UDP}workers: 2\nflows: {}\n`,
        `${UDP}workers: 2\nflows: {}\nsinks: [{ parquet: { directory: d } }]\n`,
        '5:8: whether workers hand their flows to Parquet files: a reload cannot change it: start the command anew',
      ],
      [
        'sources: [{ afxdp: { interface: eth0 } }]\n',
        'sources: [{ afxdp: { interface: eth1 } }]\n',
        '2:11: an afxdp source: a reload cannot change it: start the command anew',
      ],
      [
        'sources: [{ afxdp: { interface: eth0 } }]\n',
        'sources: [{ afxdp: { interface: eth0 } }]\ndecode: { intPorts: [1] }\n',
        '3:9: decode of an afxdp source: a reload cannot change it: start the command anew',
      ],
      [
        'sources: [{ afxdp: { interface: eth0 } }]\n',
        'sources: [{ afxdp: { interface: eth0 } }]\ndevice: { intPorts: [1], units: { hopLatency: us } }\n',
        '3:9: device of an afxdp source, but for its units: a reload cannot change it: start the command anew',
      ],
      [
        'sources: [{ afxdp: { interface: eth0, prefilter: true } }]\ndetect: { rules: a }\n',
        'sources: [{ afxdp: { interface: eth0, prefilter: true } }]\ndetect: { rules: b }\n',
        '3:9: detect with a pre-filter: a reload cannot change it: start the command anew',
      ],
      [
        `${UDP}dart: { store: s }\n`,
        `${UDP}dart: { store: s, copies: 3 }\n`,
        '3:7: dart in the same store: a reload cannot change it: start the command anew',
      ],
      [
        `${UDP}sinks: [${kafka(', spool: { directory: s }')}]\n`,
        `${UDP}sinks: [${kafka(', name: other, spool: { directory: s }')}]\n`,
        "3:61: the spool is open, and belongs to the sink 'kafka': give another folder, or start the command anew",
      ],
      [
        'sources: [{ pcap: { file: a.pcap } }]\n',
        UDP,
        '2:10: captures alone, without a source that goes on: a reload cannot change it: start the command anew',
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
    expect(await refused(UDP, page, true)).toEqual(['3:9: prometheus: the command was started with --metrics']);
  });

  test('is little: all else changes while it runs', async () => {
    const before = `${UDP}detect: { rules: a }\nflows: {}\ndart: { store: s }\nsinks: [${kafka()}]\n`;
    const after = `sources: [{ pcap: { file: a } }, { udp: { listen: "127.0.0.1:1" } }]\ndecode: { intPorts: [1] }\ndart: { store: t }\ndrain: 1s\nsinks: [{ prometheus: { listen: "127.0.0.1:1" } }, ${kafka(', prefix: x.')}]\n`;
    expect(await refused(before, after)).toEqual([]);
    expect(await refused(after, before)).toEqual([]);
    const xdp = 'sources: [{ afxdp: { interface: eth0 } }]\n';
    expect(await refused(xdp, `${xdp}device: { units: { hopLatency: us } }\n`)).toEqual([]);
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
  expect(share(kafka(), kafka('int-collect'))).toBe(true);
  expect(share(kafka(), kafka('other'))).toBe(false);
  expect(share(kafka(), udp('127.0.0.1:1'))).toBe(false);
});
