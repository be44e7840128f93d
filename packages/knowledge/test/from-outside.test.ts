import { type ConnectionObservation, type Incident, KnowledgePlane, type PacketObservation } from '@int/knowledge';
import { Random } from '@int/random';
import { describe, expect, it } from 'vitest';

/** Traffic as others capture it, made without the generators of this project: what is an attack in it, and what only looks like one. */

const START = 1_700_000_000_000;
const SCANNER = '198.51.100.66';
const SERVER = '10.0.9.10';
const TCP = 6;
const UDP = 17;
const [FIN, SYN, RST, PUSH, ACK, URGENT] = [1, 2, 4, 8, 16, 32];
type Packets = PacketObservation[];

const packet = (
  seconds: number,
  source: string,
  destination: string,
  ports: number[],
  rest: object,
): PacketObservation => ({
  ...{ timeMs: START + 1000 * seconds, source, destination, protocol: TCP, lengthBytes: 60 },
  ...{ sourcePort: ports[0]!, destinationPort: ports[1]! },
  ...rest,
});
const tcp = (seconds: number, from: string, to: string, ports: number[], tcpFlags: number): PacketObservation =>
  packet(seconds, from, to, ports, { tcpFlags });
const udp = (seconds: number, from: string, to: string, ports: number[], lengthBytes = 76): PacketObservation =>
  packet(seconds, from, to, ports, { protocol: UDP, lengthBytes });

/** A whole connection of TCP. */
function connection(seconds: number, client: string, server: string, ports: [number, number]): Packets {
  const back = [ports[1], ports[0]];
  return [
    tcp(seconds, client, server, ports, SYN),
    tcp(seconds + 0.02, server, client, back, SYN | ACK),
    tcp(seconds + 0.021, client, server, ports, ACK),
    tcp(seconds + 0.022, client, server, ports, ACK | PUSH),
    tcp(seconds + 0.04, server, client, back, ACK | PUSH),
    tcp(seconds + 0.05, client, server, ports, ACK | FIN),
    tcp(seconds + 0.07, server, client, back, ACK | FIN),
  ];
}

const outside = (random: Random): string =>
  `${20 + random.integer(150)}.${random.integer(256)}.${random.integer(256)}.7`;
const port = (random: Random): number => 32_768 + random.integer(28_000);

/** Clients of the inside at sites of the outside, and clients of the outside at a server, 20 connections a second. */
function office(seconds: number, seed = 'office'): Packets {
  const random = new Random(seed);
  const sites = Array.from({ length: 40 }, () => outside(random));
  return Array.from({ length: 20 * seconds }, (_, k) => {
    const at = k / 20;
    const client = `10.0.1.${2 + random.integer(40)}`;
    const site = sites[random.integer(40)]!;
    if (k % 2 === 0) return connection(at, outside(random), SERVER, [port(random), 443]);
    return random.uniform() < 0.05
      ? [tcp(at, client, site, [port(random), 443], SYN)]
      : connection(at, client, site, [port(random), 443]);
  }).flat();
}

function incidents(packets: Packets, options: ConstructorParameters<typeof KnowledgePlane>[0] = {}): Incident[] {
  const told: Incident[] = [];
  const plane = new KnowledgePlane({ learnMs: 30_000, ...options }, { incident: (incident) => told.push(incident) });
  for (const each of packets.sort((a, b) => a.timeMs - b.timeMs)) plane.packet(each);
  plane.finish();
  return told.filter(({ state }) => state === 'open');
}

const names = (packets: Packets, options = {}): string[] =>
  incidents(packets, options).map(({ kind, entity }) => `${kind} ${entity}`);

/** Ports in an order of its own, each refused unless `answer` says otherwise. */
function scan(flags: number, gap: number, answer: 'refused' | 'silent'): Packets {
  return Array.from({ length: 400 }, (_, k) => {
    const ports = [50_123, 1 + ((k * 167) % 1009)];
    const at = 60 + k * gap;
    const probe = tcp(at, SCANNER, '10.0.9.20', ports, flags);
    if (answer === 'silent') return [probe, tcp(at + 1, SCANNER, '10.0.9.20', [50_124, ports[1]!], flags)];
    return [probe, tcp(at + 0.01, '10.0.9.20', SCANNER, [ports[1]!, ports[0]!], RST | ACK)];
  }).flat();
}

describe('attacks of others', () => {
  it.each([
    ['SYN', SYN, 0.002, 'refused'],
    ['SYN to a host that drops them', SYN, 0.002, 'silent'],
    ['FIN', FIN, 0.002, 'refused'],
    ['no flags', 0, 0.05, 'refused'],
    ['FIN, PSH and URG', FIN | PUSH | URGENT, 0.05, 'silent'],
  ] as const)('a scan with %s is one incident, within three seconds, and no flood', (_, flags, gap, answer) => {
    const found = incidents([...office(90), ...scan(flags, gap, answer)]);
    expect(found.map(({ kind, entity }) => `${kind} ${entity}`)).toEqual([`scan-vertical host:${SCANNER}`]);
    expect(found[0]!.from + found[0]!.windowMs - START).toBeLessThanOrEqual(63_000);
  });

  it('a scan before a flood from the same host does not hide the flood', () => {
    const flood = Array.from({ length: 3000 }, (_, k) => tcp(70 + k / 300, SCANNER, SERVER, [1024 + k, 443], SYN));
    expect(names([...office(90), ...scan(SYN, 0.01, 'refused'), ...flood])).toEqual([
      `scan-vertical host:${SCANNER}`,
      `syn-flood host:${SERVER}`,
    ]);
  });

  const reflection = (rate: number, victim: string): Packets => {
    const random = new Random('reflectors');
    const reflectors = Array.from({ length: 200 }, () => outside(random));
    return Array.from({ length: 20 * rate }, (_, k) =>
      udp(60 + k / rate, reflectors[random.integer(200)]!, victim, [53, port(random)], 1200),
    );
  };
  it('a reflection to a host that was silent until then is found', () => {
    expect(names([...office(90), ...reflection(1000, '10.0.7.7')])).toEqual(['ddos host:10.0.7.7']);
  });
  it('below the rate that is stated nothing is, and no reflector is a scanner', () => {
    expect(names([...office(90), ...reflection(100, SERVER)])).toEqual([]);
  });

  it.each([
    [10, 0.3],
    [300, 0.3],
    [3600, 0],
  ])('a beacon every %i s with a jitter of %f is found', (period, jitter) => {
    const random = new Random('beacon');
    const calls = Array.from({ length: 64 }, (_, k) =>
      connection(5 + period * (k + jitter * random.uniform()), '10.0.1.5', '185.10.10.10', [port(random), 443]),
    );
    expect(names([...office(60), ...calls.flat()])).toEqual(['beacon host:10.0.1.5']);
  });
});

describe('what looks like an attack and is not', () => {
  it('a peer-to-peer program, most of whose peers are gone', () => {
    const random = new Random('peers');
    const peers = Array.from({ length: 1500 }, (_, k) => {
      const to: [number, number] = [port(random), 1024 + random.integer(60_000)];
      const peer = outside(random);
      return random.uniform() < 0.6 ? [tcp(k / 5, '10.0.1.7', peer, to, SYN)] : connection(k / 5, '10.0.1.7', peer, to);
    });
    expect(names([...office(90), ...peers.flat()])).toEqual([]);
  });

  it('a gateway whose many clients fail now and then, up to the end', () => {
    const random = new Random('gateway');
    const clients = Array.from({ length: 9000 }, (_, k) => {
      const site = `20.${k % 200}.${k % 4}.9`;
      const to: [number, number] = [port(random), 443];
      return k % 15 === 0 ? [tcp(k / 150, '10.0.0.254', site, to, SYN)] : connection(k / 150, '10.0.0.254', site, to);
    });
    expect(names([...office(90), ...clients.flat()])).toEqual([]);
  });

  it('groups, broadcasts and clocks', () => {
    const groups: [string, number][] = [
      ['224.0.0.251', 5353],
      ['239.255.255.250', 1900],
      ['239.255.255.250', 3702],
      ['224.0.0.252', 5355],
      ['224.0.1.129', 319],
      ['224.0.1.129', 320],
      ['239.1.1.1', 5004],
      ['255.255.255.255', 17_500],
      ['10.0.1.255', 137],
      ['10.0.1.255', 138],
      ['10.0.1.255', 17_500],
    ];
    const calls = groups.map(([group, to], k) => udp(30 + k, '10.0.1.5', group, [to, to]));
    const random = new Random('clock');
    const clock = Array.from({ length: 40 }, (_, k) => {
      const from = port(random);
      return [
        udp(64 * k, '10.0.1.6', '162.159.200.1', [from, 123]),
        udp(64 * k + 0.02, '162.159.200.1', '10.0.1.6', [123, from]),
      ];
    });
    expect(names([...office(60), ...calls, ...clock.flat()])).toEqual([]);
  });

  it('a resolver that asks many servers often', () => {
    const random = new Random('resolver');
    const servers = Array.from({ length: 50 }, () => outside(random));
    let at = 0;
    const asks = Array.from({ length: 5000 }, () => {
      at += random.exponential(1 / 30);
      const server = servers[Math.floor(50 * random.uniform() ** 3)]!;
      const from = port(random);
      return [
        udp(at, '10.0.9.53', server, [from, 53], 60 + random.integer(30)),
        udp(at + 0.03, server, '10.0.9.53', [53, from], 200),
      ];
    });
    expect(names([...office(60), ...asks.flat()])).toEqual([]);
  });

  it.each(['10.', '!10.'])('one direction alone, of packets to %s', (prefix) => {
    const isKept = ({ destination }: PacketObservation): boolean =>
      destination.startsWith('10.') === (prefix === '10.');
    const busy = Array.from({ length: 6000 }, (_, k) =>
      connection(k / 100, `203.0.${k % 200}.9`, SERVER, [2000 + k, 443]),
    );
    const seen = [...office(60), ...busy.flat()].filter(isKept);
    expect(names(seen)).toEqual([]);
    // What comes in alone still shows who scans.
    if (prefix === '10.') {
      expect(names([...seen, ...scan(SYN, 0.01, 'silent')])).toEqual([`scan-vertical host:${SCANNER}`]);
    }
  });

  it('a sample, in which most answers are missing', () => {
    const random = new Random('sample');
    const seen = office(300).filter(() => random.uniform() < 0.1);
    expect(names(seen, { sampling: 10 })).toEqual([]);
  });
});

it('packets of long connections in a flow log do not all come in its first second', () => {
  const told: string[] = [];
  const plane = new KnowledgePlane({ learnMs: 30_000 }, { incident: ({ kind }) => told.push(kind) });
  const flow = (seconds: number, source: string, packetsOut: number): ConnectionObservation => ({
    ...{ timeMs: START + 1000 * seconds, source, destination: SERVER, sourcePort: 5000, destinationPort: 514 },
    ...{
      protocol: UDP,
      answered: null,
      established: false,
      packetsOut,
      packetsIn: 0,
      bytesOut: 0,
      durationMs: 3_600_000,
    },
  });
  for (let second = 0; second < 60; second++) plane.connection(flow(second, '10.0.1.5', 3600));
  for (let k = 0; k < 30; k++) plane.connection(flow(60 + k / 30, `10.0.2.${k}`, 7200));
  plane.finish();
  expect(told).toEqual([]);
});
