import type { Random } from '@int/random';
import type { Conversations } from './conversation.js';

const CLIENTS = 60;
const SERVERS = 8;
const OUTSIDE = 40;
/** Share of connections whose server is down, or refuses. */
const FAILING = 0.01;

export const client = (k: number): string => `10.0.${1 + Math.floor(k / 20)}.${10 + (k % 20)}`;
export const server = (k: number): string => `10.1.0.${10 + k}`;
const outside = (k: number): string => `203.0.113.${10 + k}`;
const RESOLVER = '10.1.0.2';
const SERVICES = [443, 80, 5432, 22, 993];

/** How much a network does at a time of day: 0.4 at four in the morning, 1.6 at four in the afternoon. */
function dayAndNight(timeMs: number): number {
  const hours = (timeMs / 3_600_000) % 24;
  return 1 + 0.6 * Math.sin(((hours - 10) / 24) * 2 * Math.PI);
}

/**
 * A minute of an office: clients ask a resolver, and inside and outside servers. Some connections fail.
 * @param perSecond connections a second, at the mean of the day
 */
export function background(
  into: Conversations,
  random: Random,
  fromMs: number,
  toMs: number,
  perSecond: number,
  isSeasonal: boolean,
): void {
  let time = fromMs;
  for (;;) {
    const rate = perSecond * (isSeasonal ? dayAndNight(time) : 1);
    time += random.exponential(1000 / rate);
    if (time >= toMs) return;
    const source = client(random.integer(CLIENTS));
    const sourcePort = 32_768 + random.integer(28_000);
    const kind = random.uniform();
    if (kind < 0.3) {
      into.question({ source, destination: RESOLVER, sourcePort, destinationPort: 53 }, time, 40, 120);
      continue;
    }
    const isInside = random.uniform() < 0.6;
    const destination = isInside ? server(random.integer(SERVERS)) : outside(random.integer(OUTSIDE));
    const destinationPort = isInside ? SERVICES[random.integer(SERVICES.length)]! : 443;
    const ends = { source, destination, sourcePort, destinationPort };
    if (random.uniform() < FAILING) {
      if (random.uniform() < 0.5) into.refused(ends, time);
      else into.unanswered(ends, time);
    } else {
      into.tcp(ends, time, 200 + random.integer(1200), 500 + Math.floor(9000 * random.uniform() ** 3));
    }
  }
}
