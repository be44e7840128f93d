/** Figures of the software switch between two interfaces. */
import { markdownTable, paragraph } from '@int/harness';
import { machineOf, pick, results, whole } from './reading.js';

interface Switching {
  readonly bursts: number;
  readonly seconds: number;
  readonly results: readonly {
    readonly name: string;
    readonly about: string;
    readonly frameBytes: number;
    readonly ownNs: number;
    readonly kernelNs: number;
    readonly perCore: number;
    readonly rates: readonly {
      readonly rate: number;
      readonly isPaced?: boolean;
      readonly perCoreSecond?: number;
      readonly offered: number;
      readonly sent: number;
      readonly forwarded: number;
      readonly unaccounted: number | null;
      readonly dropped: Readonly<Record<string, number>>;
    }[];
  }[];
}

const read = () => results<Switching>('switch');

function table(): string {
  const all = read();
  const rows = all.results.map(({ name, about, frameBytes, perCore, ownNs, kernelNs }) => [
    name,
    about,
    whole(frameBytes),
    whole(ownNs),
    whole(kernelNs),
    whole(perCore),
  ]);
  const losses = all.results.flatMap(({ name, rates }) =>
    rates.map(({ offered, sent, forwarded, unaccounted, dropped }) => [
      name,
      whole(offered),
      whole(sent),
      whole(sent - forwarded),
      Object.entries(dropped)
        .map(([reason, count]) => `${reason} ${whole(count)}`)
        .join(', ') || 'none',
      unaccounted === null ? 'does not say' : whole(unaccounted),
    ]),
  );
  return [
    paragraph(
      `Nanoseconds of processor time per forwarded packet on a ${machineOf(all)}, medians of ${all.bursts} bursts of up to 16,000 packets;`,
      'from their sum the packets that one core would forward in a second:',
    ),
    markdownTable(['contender', '', 'bytes', 'its process', 'kernel', 'packets/s and core'], rows),
    paragraph(
      `What was lost in ${all.seconds} s, by the rate that the sender reached. The load of the machine was ${all.machine?.loadBefore} before and`,
      `${all.machine?.loadAfter} after: a process that gets no processor for some time loses what its rings cannot hold meanwhile.`,
    ),
    markdownTable(['contender', 'offered/s', 'sent', 'lost', 'counted', 'not counted'], losses),
  ].join('\n\n');
}

const perCore = (name: string): string => whole(pick(read().results, name, (each) => each.name === name).perCore);

function words(): string {
  const all = read();
  return paragraph(
    `Between two virtual cables, with the kernel's part on the same core, \`int p4 serve\` on AF_XDP forwards ${perCore('router')} packets a second and core`,
    `with a router of one table and ${perCore('transit')} with int.p4 as transit; the kernel's bridge forwards ${perCore('bridge')} (by processor time per packet,`,
    `on a ${machineOf(all)}; [benchmarks](README.md), "A switch between two interfaces").`,
  );
}

export const softwareSwitch: Readonly<Record<string, () => string>> = { switch: table, 'switch-words': words };
