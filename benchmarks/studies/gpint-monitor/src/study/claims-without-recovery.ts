/** Statements of reliable GPINT, sections V-B1 and V-B2. */
import {
  all,
  at,
  EVERY,
  eulerFactor,
  HIGH_OFF,
  HIGH_ON,
  LOW_OFF,
  LOW_ON,
  list,
  PARTITIONS,
  PERCENT,
  range,
  SECONDS,
  short,
  valuesOf,
} from './claim-words.js';
import type { Expectation } from './expectations.js';

export const WITHOUT_RECOVERY: readonly Expectation[] = [
  {
    figure: '8',
    claim: 'At 10,000 packets/s nearly none of the background traffic is lost.',
    check: (look) => {
      const losses = [...all(look, EVERY, LOW_OFF, 'backgroundLoss'), ...all(look, EVERY, LOW_ON, 'backgroundLoss')];
      return { holds: Math.max(...losses) < 0.5, measured: range(losses, PERCENT) };
    },
    why: 'the busiest switch overflows at times.',
  },
  {
    figure: '8',
    claim: 'At 14,000 packets/s switches are fully used and lose packets.',
    check: (look) => {
      const losses = all(look, EVERY, HIGH_OFF, 'backgroundLoss');
      const busiest = all(look, EVERY, HIGH_OFF, 'busiest');
      return {
        holds: Math.min(...losses) > 1 && Math.min(...busiest) > 98,
        measured: `${range(losses, PERCENT)} lost, busiest switch ${range(busiest, PERCENT)} used`,
      };
    },
    why: 'the switches keep up.',
  },
  {
    figure: '8',
    claim: 'At 10,000 packets/s switches are 85 to 92 % used.',
    check: (look) => {
      const busiest = all(look, EVERY, LOW_OFF, 'busiest');
      const mean = all(look, EVERY, LOW_OFF, 'utilisation');
      return {
        holds: Math.min(...busiest) >= 85 && Math.max(...busiest) <= 92,
        measured: `busiest switch ${range(busiest, PERCENT)}; mean of all switches ${range(mean, PERCENT)}`,
      };
    },
    why: 'the load of the busiest switch was not what its routes predict.',
  },
  {
    figure: '8',
    claim: 'Recovery costs the background traffic 1 to 2 points at most.',
    check: (look) => {
      const [off, on] = [all(look, EVERY, HIGH_OFF, 'backgroundLoss'), all(look, EVERY, HIGH_ON, 'backgroundLoss')];
      const more = on.map((value, i) => value - off[i]!);
      return { holds: Math.max(...more) <= 2, measured: `${range(more, ' points')} more at 14,000 packets/s` };
    },
    why: 'clones and feedback weigh more here.',
  },
  {
    figure: '9a',
    claim: 'At most 2 % of the probes fail under low load.',
    check: (look) => {
      const failed = all(look, EVERY, LOW_OFF, 'failedProbes');
      return { holds: Math.max(...failed) <= 2, measured: range(failed, PERCENT) };
    },
    why: 'queues overflow under low load.',
  },
  {
    figure: '9b',
    claim: 'Under high load no more than 5 % of the probes of GPINT fail, and up to 15 % of those of Euler.',
    check: (look) => {
      const gpint = all(look, PARTITIONS, HIGH_OFF, 'failedProbes');
      const euler = all(look, ['euler'], HIGH_OFF, 'failedProbes');
      return {
        holds: Math.max(...gpint) <= 5 && Math.max(...euler) > Math.max(...gpint) && Math.max(...euler) <= 17,
        measured: `GPINT ${range(gpint, PERCENT)}, Euler ${range(euler, PERCENT)}`,
      };
    },
    why: 'the trails of INT-Path pass every link, hence a switch once for every two of its links, and the saturated ones have the most; in small networks there are few probes, and several switches are saturated.',
  },
  {
    figure: '9b',
    claim: 'The shorter the paths, the fewer probes fail: GPINT-5, then GPINT-3, then GPINT-2, then Euler.',
    check: (look) => {
      const pairs = at(look, ['gpint-5', 'gpint-3', 'gpint-2', 'euler'], HIGH_OFF, look.largest, 'failedProbes');
      const values = valuesOf(pairs);
      return { holds: values.every((value, i) => i === 0 || value > values[i - 1]!), measured: list(pairs, PERCENT) };
    },
    why: 'the differences are within the confidence intervals.',
  },
  {
    figure: '10a',
    claim: 'Under low load Euler takes longest, by a factor.',
    check: (look) => eulerFactor(look, LOW_OFF, ['gpint-2', 'gpint-3', 'gpint-5', 'snmp']),
    why: 'the longest trail is not long enough.',
  },
  {
    figure: '10a',
    claim: 'Under low load every GPINT is faster than SNMP-like collection in large networks.',
    check: (look) => {
      const pairs = at(look, [...PARTITIONS, 'snmp'], LOW_OFF, look.largest, 'elapsed');
      const values = valuesOf(pairs);
      return { holds: values.every((value, i) => i === 3 || value < values[3]!), measured: list(pairs, SECONDS) };
    },
    why: 'hops cost more here than launching probes.',
  },
  {
    figure: '10b',
    claim: 'Under low load up to 10 % of the sessions of Euler fail, fewer of the others.',
    check: (look) => {
      const [euler, rest] = [
        all(look, ['euler'], LOW_OFF, 'failedSessions'),
        all(look, [...PARTITIONS, 'snmp'], LOW_OFF, 'failedSessions'),
      ];
      return {
        holds: Math.max(...euler) <= 10 && Math.max(...rest) <= 10,
        measured: `Euler ${range(euler, PERCENT)}, the others ${range(rest, PERCENT)}`,
      };
    },
    why: 'queues overflow under low load.',
  },
  {
    figure: '11a',
    claim: 'High load makes every method slower, and Euler is slowest by a factor.',
    check: (look) => {
      const [low, high] = [all(look, EVERY, LOW_OFF, 'elapsed'), all(look, EVERY, HIGH_OFF, 'elapsed')];
      const factor = eulerFactor(look, HIGH_OFF, ['gpint-2', 'gpint-3', 'gpint-5', 'snmp']);
      return { holds: high.every((value, i) => value > low[i]!) && factor.holds, measured: factor.measured };
    },
    why: 'a saturated switch that every method has to visit takes most of the time.',
  },
  {
    figure: '11b',
    claim: 'Under high load fewer than 40 % of the sessions of GPINT fail, and most of those of Euler.',
    check: (look) => {
      const gpint = all(look, PARTITIONS, HIGH_OFF, 'failedSessions');
      const euler = all(look, ['euler'], HIGH_OFF, 'failedSessions');
      return {
        holds: Math.max(...gpint) < 40 && Math.min(...euler) > Math.max(...gpint),
        measured: `GPINT ${range(gpint, PERCENT)}, Euler ${range(euler, PERCENT)}`,
      };
    },
    why: 'how much saturated switches lose depends on how far the busiest one exceeds its rate, which the paper does not state.',
  },
  {
    figure: '12a',
    claim: 'Background loss reaches 40 % at a loss of 15 % per link, and 55 % at 20 %.',
    check: (look) => {
      const of = (loss: number): number =>
        look.mean({ ...HIGH_OFF, method: 'gpint-3', switches: look.largestDegraded, loss }, 'backgroundLoss');
      const [at15, at20] = [of(0.15), of(0.2)];
      return {
        holds: Math.abs(at15 - 40) < 10 && Math.abs(at20 - 55) < 10,
        measured: `${short(at15)} % and ${short(at20)} %`,
      };
    },
    why: 'routes between the hosts of these networks are longer, and every hop loses its share.',
  },
  {
    figure: '12a',
    claim: 'Background loss hardly grows at 5 and 10 % per link.',
    check: (look) => {
      const switches = look.largestDegraded;
      const base = look.mean({ ...HIGH_OFF, method: 'gpint-3', switches }, 'backgroundLoss');
      const of = (loss: number): number =>
        look.mean({ ...HIGH_OFF, method: 'gpint-3', switches, loss }, 'backgroundLoss');
      const [at5, at10] = [of(0.05), of(0.1)];
      return {
        holds: at10 - base < 5,
        measured: `${short(base)} % without, ${short(at5)} % at 5 %, ${short(at10)} % at 10 %`,
      };
    },
    why: 'independent loss on each of several links adds up to much more than one loss; the paper gives no account of why it should not.',
  },
  {
    figure: '12b',
    claim: 'A loss of 5 % per link makes 80 % of the sessions of GPINT fail, or more.',
    check: (look) => {
      const pairs = at(look, PARTITIONS, { ...HIGH_OFF, loss: 0.05 }, look.largestDegraded, 'failedSessions');
      return { holds: Math.min(...valuesOf(pairs)) >= 75, measured: list(pairs, PERCENT) };
    },
    why: 'paths of fewer links lose fewer probes.',
  },
  {
    figure: '12c',
    claim: 'A loss of 5 % per link makes up to 20 % of the probes of GPINT fail.',
    check: (look) => {
      const pairs = at(look, PARTITIONS, { ...HIGH_OFF, loss: 0.05 }, look.largestDegraded, 'failedProbes');
      const most = Math.max(...valuesOf(pairs));
      return { holds: most >= 12 && most <= 25, measured: list(pairs, PERCENT) };
    },
    why: 'paths of this length lose that many.',
  },
  {
    figure: '12',
    claim: 'SNMP-like collection suffers from congested switches alone, not from links.',
    check: (look) => {
      const base = all(look, ['snmp'], HIGH_OFF, 'failedProbes');
      const lossy = look.losses.flatMap((loss) => all(look, ['snmp'], { ...HIGH_OFF, loss }, 'failedProbes'));
      if (lossy.length === 0) all(look, ['snmp'], { ...HIGH_OFF, loss: 1 }, 'failedProbes');
      return {
        holds: Math.max(...lossy) <= Math.max(...base) + 0.1,
        measured: `${range(base, PERCENT)} failed probes without loss on links, ${range(lossy, PERCENT)} with it`,
      };
    },
    why: 'rounds are few, and losses rare.',
  },
];
