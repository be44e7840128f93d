/** Wireshark's second opinion on the outer headers: names, places and values, from its PDML. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { dressed, frame } from '@int/arbitraries';
import { type DissectedField, dissect } from '@int/codec';
import { PcapWriter } from '@int/pcap';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { requires } from '../../../.ci/test/requires.js';

const SEED = Number(process.env.INT_SEED ?? 20_261_128);
const FRAMES = 150;

/** Wireshark's names of our fields, by header. Those of bits share the byte range of their whole. */
const NAMES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  ethernet: { 'eth.dst': 'destination', 'eth.src': 'source', 'eth.type': 'etherType' },
  vlan: { 'vlan.etype': 'etherType' },
  ipv4: {
    'ip.len': 'totalLength',
    'ip.id': 'identification',
    'ip.ttl': 'timeToLive',
    'ip.proto': 'protocol',
    'ip.checksum': 'headerChecksum',
    'ip.src': 'source',
    'ip.dst': 'destination',
  },
  ipv6: {
    'ipv6.plen': 'payloadLength',
    'ipv6.nxt': 'nextHeader',
    'ipv6.hlim': 'hopLimit',
    'ipv6.src': 'source',
    'ipv6.dst': 'destination',
  },
  udp: { 'udp.srcport': 'sourcePort', 'udp.dstport': 'destinationPort', 'udp.length': 'length' },
  tcp: { 'tcp.srcport': 'sourcePort', 'tcp.dstport': 'destinationPort', 'tcp.urgent_pointer': 'urgentPointer' },
};
const PROTOCOLS: Readonly<Record<string, string>> = {
  eth: 'ethernet',
  vlan: 'vlan',
  ip: 'ipv4',
  ipv6: 'ipv6',
  udp: 'udp',
  tcp: 'tcp',
};

let folder = '';
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'int-dissect-'));
});
afterAll(() => {
  rmSync(folder, { recursive: true });
});

interface Seen {
  readonly name: string;
  readonly offset: number;
  readonly length: number;
  readonly hex: string;
}

/** The fields of one packet of the PDML, without those of headers in other headers' payload. */
function seenIn(packet: string): Seen[] {
  const seen: Seen[] = [];
  for (const [, protocol, body] of packet.matchAll(/<proto name="(\w+)"[^>]*>([\s\S]*?)(?=\n {2}<\/proto>)/g)) {
    const header = PROTOCOLS[protocol!];
    if (header === undefined) continue;
    for (const [, tag] of body!.matchAll(/<field ([^>]*)>/g)) {
      const attributes = new Map([...tag!.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, value]) => [key!, value!]));
      const name = NAMES[header]![attributes.get('name') ?? ''];
      if (name === undefined || attributes.get('hide') === 'yes') continue;
      seen.push({
        name: `${header}.${name}`,
        offset: Number(attributes.get('pos')),
        length: Number(attributes.get('size')),
        hex: attributes.get('value') ?? '',
      });
    }
  }
  return seen;
}

function placesOf(fields: readonly DissectedField[], frameBytes: Uint8Array): Map<string, string> {
  const places = new Map<string, string>();
  for (const { name, children } of fields) {
    for (const child of children ?? []) {
      const { offset, length } = child;
      const hex = Buffer.from(frameBytes.subarray(offset, offset + length)).toString('hex');
      places.set(`${name}.${child.name}@${offset}+${length}`, hex);
    }
  }
  return places;
}

test('Wireshark finds the outer headers with the same fields at the same places', () => {
  requires('tshark', 'npm run setup:system');
  const frames = fc
    .sample(dressed(frame()), { numRuns: FRAMES, seed: SEED })
    .filter(({ options }) => (options.linkType ?? 'ethernet') === 'ethernet');
  const path = join(folder, 'frames.pcap');
  const writer = new PcapWriter();
  writeFileSync(
    path,
    Buffer.concat([
      writer.header(),
      ...frames.map(({ bytes }) =>
        writer.record({ data: bytes, timeNs: 1_700_000_000_000_000_000n, linkType: writer.linkType }),
      ),
    ]),
  );
  const pdml = execFileSync('tshark', ['-n', '-r', path, '-T', 'pdml'], {
    encoding: 'utf8',
    maxBuffer: 1 << 28,
    stdio: ['ignore', 'pipe', 'ignore'],
    timeout: 50_000,
  });
  const packets = pdml.split('<packet>').slice(1);
  expect(packets.length).toBe(frames.length);
  let compared = 0;
  for (const [k, packet] of packets.entries()) {
    const { bytes, options } = frames[k]!;
    const { fields } = dissect(bytes, options);
    const places = placesOf(fields, bytes);
    // What lies behind the first transport header is ours to know, and Wireshark's guess.
    const last = fields.find(({ name }) => name === 'udp' || name === 'tcp') ?? fields.at(-1)!;
    for (const { name, offset, length, hex } of seenIn(packet)) {
      if (offset >= last.offset + last.length) continue;
      expect(places.get(`${name}@${offset}+${length}`), `${name}@${offset}+${length} of frame ${k}`).toBe(hex);
      compared++;
    }
  }
  expect(compared).toBeGreaterThan(frames.length * 10);
});
