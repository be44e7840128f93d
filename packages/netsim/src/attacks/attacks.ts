import type { Random } from '@int/random';
import { client, server } from './background.js';
import type { Conversations } from './conversation.js';
import type { AttackKind, Truth } from './packet.js';

/** Puts what a scenario is about into a list of packets. */
type Attack = (into: Conversations, random: Random, fromMs: number, toMs: number, jitter: number) => readonly Truth[];

const VICTIM = server(0);
const SCANNER = '198.51.100.66';
const address = (random: Random): string =>
  [20 + random.integer(170), random.integer(256), random.integer(256), 1 + random.integer(254)].join('.');

function every(fromMs: number, toMs: number, perSecond: number, random: Random, each: (timeMs: number) => void): void {
  for (let time = fromMs; time < toMs; time += random.exponential(1000 / perSecond)) each(time);
}

/** 2,000 SYN packets a second from addresses that were made up; the victim answers into the void. */
function synFlood(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  every(fromMs, toMs, 2000, random, (timeMs) => {
    const ends = {
      source: address(random),
      destination: VICTIM,
      sourcePort: 1024 + random.integer(60_000),
      destinationPort: 80,
      isHarmful: true,
    };
    into.send(ends, timeMs, 6, 2, 60);
    if (random.uniform() < 0.5) into.send(ends, timeMs + 1, 6, 18, 60, true);
  });
  return [{ kind: 'syn-flood', host: VICTIM, fromMs, toMs }];
}

/** 300 resolvers send the victim answers that it has not asked for, 3,000 a second. */
function reflection(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const reflectors = Array.from({ length: 300 }, () => address(random));
  every(fromMs, toMs, 3000, random, (timeMs) => {
    const source = reflectors[random.integer(reflectors.length)]!;
    const destinationPort = 1024 + random.integer(60_000);
    into.send({ source, destination: VICTIM, sourcePort: 53, destinationPort, isHarmful: true }, timeMs, 17, 0, 1400);
  });
  return [{ kind: 'ddos', host: VICTIM, fromMs, toMs }];
}

/** A flood of UDP that is on for a second and off for two. */
function pulsing(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const bots = Array.from({ length: 200 }, () => address(random));
  for (let start = fromMs; start < toMs; start += 3000) {
    every(start, start + 1000, 6000, random, (timeMs) => {
      const source = bots[random.integer(bots.length)]!;
      into.send(
        { source, destination: VICTIM, sourcePort: 4000 + random.integer(10), destinationPort: 443, isHarmful: true },
        timeMs,
        17,
        0,
        900,
      );
    });
  }
  return [{ kind: 'ddos', host: VICTIM, fromMs, toMs }];
}

function probe(
  into: Conversations,
  random: Random,
  source: string,
  destination: string,
  port: number,
  timeMs: number,
): void {
  const ends = {
    source,
    destination,
    sourcePort: 40_000 + random.integer(20_000),
    destinationPort: port,
    isHarmful: true,
  };
  const outcome = random.uniform();
  if (outcome < 0.03) into.tcp(ends, timeMs, 0, 0);
  else if (outcome < 0.5) into.refused(ends, timeMs);
  else into.unanswered(ends, timeMs);
}

function verticalScan(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  let port = 1;
  every(fromMs, toMs, 20, random, (timeMs) => probe(into, random, SCANNER, VICTIM, port++, timeMs));
  return [{ kind: 'scan-vertical', host: SCANNER, fromMs, toMs }];
}

function horizontalScan(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  let host = 0;
  every(fromMs, toMs, 20, random, (timeMs) => {
    probe(into, random, SCANNER, `10.1.${1 + Math.floor(host / 250)}.${1 + (host % 250)}`, 445, timeMs);
    host++;
  });
  return [{ kind: 'scan-horizontal', host: SCANNER, fromMs, toMs }];
}

/** A port every 90 seconds. */
function slowScan(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  let port = 20;
  for (let timeMs = fromMs; timeMs < toMs; timeMs += 80_000 + random.integer(20_000)) {
    probe(into, random, SCANNER, VICTIM, port++, timeMs);
  }
  return [{ kind: 'scan-slow', host: SCANNER, fromMs, toMs }];
}

/** 60 sources share the ports of one host: three each, so that none fails often. */
function distributedScan(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const bots = Array.from({ length: 60 }, () => address(random));
  let k = 0;
  for (let timeMs = fromMs; timeMs < toMs && k < 3 * bots.length; timeMs += 500 + random.integer(500), k++) {
    probe(into, random, bots[k % bots.length]!, VICTIM, 1 + k, timeMs);
  }
  return [{ kind: 'scan-distributed', host: VICTIM, fromMs, toMs }];
}

/** A small message every 30 seconds, with jitter. */
function beacon(into: Conversations, random: Random, fromMs: number, toMs: number, jitter: number): readonly Truth[] {
  const source = client(5);
  for (let timeMs = fromMs; timeMs < toMs; timeMs += 30_000 * (1 + jitter * (2 * random.uniform() - 1))) {
    into.tcp(
      {
        source,
        destination: '192.0.2.77',
        sourcePort: 32_768 + random.integer(28_000),
        destinationPort: 443,
        isHarmful: true,
      },
      timeMs,
      310,
      420,
    );
  }
  return [{ kind: 'beacon', host: source, fromMs, toMs }];
}

/** Search from inside, a chain of logins, and a leak: one host after the other. */
function threePhases(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const [first, second] = [client(7), server(3)];
  const third = server(4);
  const step = (toMs - fromMs) / 4;
  let host = 0;
  every(fromMs, fromMs + step / 4, 10, random, (timeMs) => {
    probe(into, random, first, `10.1.2.${1 + (host++ % 250)}`, 22, timeMs);
  });
  const login = (source: string, destination: string, timeMs: number): void => {
    into.tcp(
      { source, destination, sourcePort: 50_000 + random.integer(1000), destinationPort: 3389, isHarmful: true },
      timeMs,
      4000,
      20_000,
    );
  };
  login(first, second, fromMs + step);
  login(second, third, fromMs + step + 120_000);
  const leakFrom = fromMs + 2 * step;
  for (let k = 0; k < 6; k++) {
    into.tcp(
      { source: third, destination: '192.0.2.99', sourcePort: 51_000 + k, destinationPort: 443, isHarmful: true },
      leakFrom + k * 5000,
      8_000_000,
      1000,
      0.5,
    );
  }
  return [
    { kind: 'scan-horizontal', host: first, fromMs, toMs: fromMs + step / 4 },
    { kind: 'unusual-edge', host: second, fromMs: fromMs + step + 120_000, toMs: fromMs + step + 130_000 },
    { kind: 'exfiltration', host: third, fromMs: leakFrom, toMs: leakFrom + 35_000 },
  ];
}

/** 400 new clients come to one server within seconds, and are served: no attack. */
function flashCrowd(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const crowd = Array.from({ length: 400 }, () => address(random));
  every(fromMs, toMs, 120, random, (timeMs) => {
    const source = crowd[random.integer(crowd.length)]!;
    into.tcp(
      { source, destination: VICTIM, sourcePort: 1024 + random.integer(60_000), destinationPort: 443 },
      timeMs,
      400,
      8000,
    );
  });
  return [];
}

/** A server sends its disk to another one at night: no attack. */
function backup(into: Conversations, random: Random, fromMs: number, toMs: number): readonly Truth[] {
  const ends = {
    source: server(5),
    destination: '10.1.0.200',
    sourcePort: 45_000 + random.integer(1000),
    destinationPort: 873,
  };
  into.tcp(ends, fromMs, (1448 * (toMs - fromMs)) / 1, 1000, 1);
  return [];
}

/** What each kind of scenario puts into the traffic of the office. */
export const ATTACKS: Readonly<Record<AttackKind, Attack>> = {
  'syn-flood': synFlood,
  reflection,
  pulsing,
  'scan-vertical': verticalScan,
  'scan-horizontal': horizontalScan,
  'scan-slow': slowScan,
  'scan-distributed': distributedScan,
  beacon,
  'three-phases': threePhases,
  'flash-crowd': flashCrowd,
  backup,
  calm: () => [],
};
